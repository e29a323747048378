"""One weight taken apart, in models of every sort."""

from dataclasses import replace

import pytest
import torch

from headlight.model.edits import Edits
from headlight.model.insight.anatomy import Weight, take_apart
from headlight.model.insight.explain import explain
from headlight.model.transformer.trace import Site
from headlight.model.translator import choose_objective
from headlight.pages.parts.inside import calls
from headlight.pages.parts.inside.calls import each_word, explained, taken_apart
from headlight.pages.shared.runs import run as module
from headlight.pages.shared.runs.readers import translator
from headlight.pages.shared.runs.run import ModelRun, hiding
from tests.pages.sessions import end

pytestmark = pytest.mark.usefixtures("one_session")
RUN = ModelRun("I love my cat.", model="en-fr-learned")
WEIGHT = Weight(RUN, Site("cross", 1), 2, 1, 3)


@pytest.fixture
def bert_run(loaded, bert_folder):
    return ModelRun("the cat was playing.", model=loaded(bert_folder))


def test_a_weight_is_that_of_its_run():
    part = taken_apart(WEIGHT)
    assert part.weights[3] == RUN.trace().attention[WEIGHT.site].weights[0, 2, 1, 3]
    assert taken_apart(replace(WEIGHT)) is part
    assert WEIGHT.key_tokens == [token.text for token in RUN.trace().source_tokens]


def test_edits_are_those_of_the_run():
    run = replace(RUN, edits=Edits(gates={("cross", 1, 2): 0.5}))
    part = taken_apart(replace(WEIGHT, run=run))
    assert part.gate == 0.5
    direct = take_apart(replace(WEIGHT, run=run))
    torch.testing.assert_close(part.head, direct.head)


def test_five_views_of_a_query_are_computed_once_for_all_its_keys(monkeypatch):
    result = explained(WEIGHT)
    assert explained(replace(WEIGHT, key=0)) is result
    direct = explain(WEIGHT, choose_objective(RUN.trace(), WEIGHT.site, WEIGHT.query))
    torch.testing.assert_close(result.removals, direct.removals)
    keys = len(WEIGHT.row)
    monkeypatch.setattr(calls, "MOST_CLOSED", keys)
    assert explained(replace(WEIGHT, head=1)).removals is not None
    monkeypatch.setattr(calls, "MOST_CLOSED", keys - 1)
    assert explained(replace(WEIGHT, head=3)).removals is None


def test_in_a_bert_effects_are_on_the_masked_words(bert_run):
    weight = Weight(hiding(bert_run, {2}), Site("encoder", 1), 0, 1, 2)
    result = explained(weight)
    assert result.objective.texts == ("cat",)
    assert result.removals.shape == result.weights.shape
    plain = explained(replace(weight, run=bert_run))
    assert plain.objective is None
    trace = weight.run.trace()
    assert taken_apart(weight).weights[2] == trace.attention[weight.site].weights[0, 0, 1, 2]


@pytest.mark.parametrize("own", [True, False])
def test_every_view_can_be_had_of_both_models_in_own_layers(own, bert_run):
    run = RUN if own else bert_run
    site = Site("encoder", 0)
    _, _, difference = calls.head_projections(run, site)
    assert difference < 1e-4
    assert set(calls.stream_by_norm_order(run)) == {"pre", "post"}
    assert len(calls.inner_states(run, site)) == len(run.trace().source_tokens)


@pytest.mark.parametrize(
    ("name", "site"),
    [
        ("en-fr-learned", WEIGHT.site),
        ("BERT", Site("encoder", 1)),
        ("T5", Site("cross", 0)),
        ("GPT-2", Site("decoder", 1)),
    ],
)
def test_a_weight_of_a_big_model_is_that_of_a_small_one(
    name, site, loaded, transformers_folders, bert_folder, monkeypatch
):
    folders = {**transformers_folders, "BERT": bert_folder}
    model = loaded(folders[name]) if name in folders else name
    run = hiding(ModelRun("I love my cat.", model=model), {1})
    weight = Weight(run, site, head=1, query=2, key=1)
    part, views = taken_apart(weight), explained(weight)
    end("one")  # so that nothing is kept
    monkeypatch.setattr(module, "IN_FULL", 0)
    assert not run.trace().attention
    again, seen = taken_apart(weight), explained(weight)
    for field in ("products", "scores", "weights", "weighted_values", "head", "contributions"):
        torch.testing.assert_close(getattr(again, field), getattr(part, field))
    assert views.objective == seen.objective is not None
    for field in ("weights", "value_norms", "gradient_times_attention", "removals"):
        torch.testing.assert_close(getattr(seen, field), getattr(views, field))
    # The other layers are mixed by weights that were recorded in bytes.
    torch.testing.assert_close(seen.rollout, views.rollout, atol=0.02, rtol=0)


def test_words_are_compared_in_the_model_that_is_named():
    result = each_word("en-fr-learned", ("cat", "dog"))
    assert result.words == ("cat", "dog")
    assert (result.outputs != each_word("en-fr", ("cat", "dog")).outputs).any()
    assert calls.words_in_sentence("en-fr", "I love my cat.").words[-2] == "cat"
    assert translator("en-fr") is not translator("en-fr-learned")
