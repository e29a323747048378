import numpy as np
import pytest

from model import load
from model.edits import Edits
from model.insight.ablation import head_removals
from pages.shared.runs.head_effects import removal_effects

pytestmark = pytest.mark.usefixtures("one_session")
RUN = "en-fr-learned", "I love my cat."


def test_every_head_is_removed_once_and_each_layer_is_told():
    told = []
    effects = removal_effects(*RUN, Edits(), lambda found, share: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1
    assert all(np.isfinite(values).all() for values in effects.values())
    assert len(told) == sum(len(values) for values in effects.values())


def test_the_effects_are_those_of_the_model_with_the_edits():
    model, edits = load(RUN[0]), Edits(gates={("encoder", 0, 1): 0.0})
    trace = model.trace(RUN[1], model.translate(RUN[1]))
    ids = [model.ids(tokens) for tokens in (trace.source_tokens, trace.target_tokens)]
    expected = dict(head_removals(model.model, *ids, edits.at_sites(model.model.config, 20)))
    effects = removal_effects(*RUN, edits, lambda *progress: None)
    for site, change in expected.items():
        np.testing.assert_allclose(effects[site.kind][site.layer], change, atol=1e-5)


def test_another_models_effects_and_other_edits_are_never_shown():
    removal_effects(*RUN, Edits(), lambda *progress: None)
    assert removal_effects.kept(*RUN, Edits()) is not None
    assert removal_effects.kept("en-fr", RUN[1], Edits()) is None
    assert removal_effects.kept(*RUN, Edits(gates={("cross", 0, 0): 0.0})) is None
