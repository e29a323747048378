"""One weight taken apart, in a translator and in a BERT."""

from dataclasses import replace

import pytest
import torch

from model import Site, load_bert
from model.edits import Edits
from model.insight.anatomy import take_apart
from model.insight.explain import choose_objective, explain
from model.insight.weight import Weight
from pages.shared.runs import inside
from pages.shared.runs.inside import explained, lens_table, taken_apart, words_alone
from pages.shared.runs.library import BertRun
from pages.shared.runs.shelf import Loaded
from pages.shared.runs.translator import TranslatorRun, translator

pytestmark = pytest.mark.usefixtures("one_session")
RUN = TranslatorRun("I love my cat.", model="en-fr-learned")
WEIGHT = Weight(RUN, Site("cross", 1), 2, 1, 3)


@pytest.fixture(scope="module")
def bert(make_bert_folder):
    return Loaded("tiny", load_bert(make_bert_folder()))


def test_a_weight_is_that_of_its_run():
    part = taken_apart(WEIGHT)
    assert part.weights[3] == RUN.trace.attention[WEIGHT.site].weights[0, 2, 1, 3]
    assert taken_apart(replace(WEIGHT)) is part
    assert WEIGHT.key_tokens == [token.text for token in RUN.trace.source_tokens]


def test_edits_are_those_of_the_run():
    run = replace(RUN, edits=Edits(gates={("cross", 1, 2): 0.5}))
    part = taken_apart(replace(WEIGHT, run=run))
    assert part.gate == 0.5
    direct = take_apart(replace(WEIGHT, run=run))
    torch.testing.assert_close(part.head, direct.head)


def test_five_views_of_a_query_are_computed_once_for_all_its_keys():
    found = explained(WEIGHT, close=True)
    assert explained(replace(WEIGHT, key=0), close=True) is found
    direct = explain(WEIGHT, choose_objective(RUN.trace, WEIGHT.site, WEIGHT.query))
    torch.testing.assert_close(found.removals, direct.removals)
    assert explained(WEIGHT, close=False).removals is None


def test_another_models_views_are_never_shown():
    other = replace(WEIGHT, run=replace(RUN, model="en-fr"))
    assert (explained(WEIGHT, close=False).weights != explained(other, close=False).weights).any()


def test_in_a_bert_effects_are_on_the_masked_words(bert):
    run = BertRun(bert.number, "the cat was playing.", "", masked=(2,))
    weight = Weight(run, Site("encoder", 1), 0, 1, 2)
    found = explained(weight, close=True)
    assert [token.text for token in found.objective.tokens] == ["cat"]
    assert found.removals.shape == found.weights.shape
    plain = explained(replace(weight, run=replace(run, masked=())), close=True)
    assert plain.objective is None
    assert taken_apart(weight).weights[2] == run.trace.attention[weight.site].weights[0, 0, 1, 2]


@pytest.mark.parametrize("own", [True, False])
def test_every_view_can_be_had_of_both_models(own, bert):
    run = RUN if own else BertRun(bert.number, "the cat was playing.", "")
    site = Site("encoder", 0)
    _, _, difference = inside.head_projections(run, site)
    assert difference < 1e-4
    assert set(inside.stream_by_norm_order(run)) == {"pre", "post"}
    assert len(inside.inner_states(run, site)) == len(run.trace.source_tokens)


def test_what_the_decoder_would_write_after_each_layer():
    table = lens_table(RUN)
    assert len(table.labels) == len(table.ids)
    assert table.ids.shape[1] == len(RUN.trace.target_tokens)


def test_words_are_compared_in_the_model_that_is_named():
    found = words_alone("en-fr-learned", ("cat", "dog"))
    assert found.words == ("cat", "dog")
    assert (found.outputs != words_alone("en-fr", ("cat", "dog")).outputs).any()
    assert inside.words_in_sentence("en-fr", "I love my cat.").words[-2] == "cat"
    assert translator("en-fr") is not translator("en-fr-learned")
