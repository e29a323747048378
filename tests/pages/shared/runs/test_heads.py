from dataclasses import replace

import numpy as np
import pytest

from headlight.model.edits import Edits
from headlight.model.insight.ablation import head_removals
from headlight.model.library.loading import load_model
from headlight.model.translator import load
from headlight.pages.shared.runs import run
from headlight.pages.shared.runs.heads import removal_effects
from headlight.pages.shared.runs.run import ModelRun

pytestmark = pytest.mark.usefixtures("one_session")


SHORT = ModelRun("I love my cat.", model="en-fr-learned")


def quiet(*progress):
    """Take a report, and say nothing."""


def test_every_head_is_removed_once_and_each_layer_is_told():
    told = []
    effects = removal_effects(SHORT, None, lambda found, share: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1
    assert all(np.isfinite(values).all() for values in effects.values())
    assert len(told) == sum(len(values) for values in effects.values())
    assert {kind: found.shape for kind, found in effects.items()} == SHORT.reader.shape.kinds


def test_the_effects_are_those_of_the_model_with_the_edits():
    model, edits = load(SHORT.model), Edits(gates={("encoder", 0, 1): 0.0})
    trace = model.trace(SHORT.sentence, model.translate(SHORT.sentence))
    expected = dict(head_removals(model, trace, edits.at_sites(model.shape, 20)))
    effects = removal_effects(replace(SHORT, edits=edits), None, quiet)
    assert set(expected) == set(model.shape.sites)
    for site, change in expected.items():
        np.testing.assert_allclose(effects[site.kind][site.layer], change, atol=1e-5)
    assert effects["encoder"][0, 1] == pytest.approx(0, abs=1e-5), "it is off already"


@pytest.mark.parametrize("name", ["T5", "GPT-2", "classes"])
@pytest.mark.parametrize("in_full", [run.IN_FULL, 0])
def test_heads_of_every_model_are_removed(name, in_full, loaded, transformers_folders, monkeypatch):
    monkeypatch.setattr(run, "IN_FULL", in_full)
    asked = ModelRun(SHORT.sentence, model=loaded(transformers_folders[name]))
    model = load_model(transformers_folders[name])
    effects = removal_effects(asked, None, quiet)
    for site, change in head_removals(model, model.trace(SHORT.sentence)):
        np.testing.assert_allclose(effects[site.kind][site.layer], change, atol=1e-5)


def test_without_anything_to_measure_on_there_are_no_effects(loaded, transformers_folders):
    asked = ModelRun(SHORT.sentence, model=loaded(transformers_folders["headless"]))
    with pytest.raises(ValueError, match="cannot be measured"):
        removal_effects(asked, None, quiet)


def test_effects_on_each_token_alone_sum_to_those_on_all():
    whole = removal_effects(SHORT, None, quiet)
    alone = [
        removal_effects(SHORT, position, quiet) for position in range(len(SHORT.objective().ids))
    ]
    assert len(alone) > 2
    for kind, values in whole.items():
        np.testing.assert_allclose(sum(item[kind] for item in alone), values, atol=1e-4)
