"""The steps of a weight, in a translator and in a BERT."""

import numpy as np
import pytest

from model import Site, load_bert
from model.edits import Edits
from model.insight.weight import Weight
from pages.parts.inside.page import INSIDE
from pages.shared.inside.steps import steps_of, value_rows
from pages.shared.runs.inside import taken_apart
from pages.shared.runs.library import BertRun
from pages.shared.runs.shelf import Loaded
from pages.shared.runs.translator import TranslatorRun
from tests.pages.sessions import end, session

RUN = TranslatorRun("I love my cat.", model="en-fr-learned")
WEIGHT = Weight(RUN, Site("cross", 1), 2, 1, 3)


@pytest.fixture(autouse=True)
def visitor():
    with session("steps"):
        yield
    end("steps")


def test_the_pictures_that_a_slide_can_show_are_drawn():
    drawn = [key for step in steps_of(WEIGHT) for key in step.pictures]
    assert len(set(drawn)) == len(drawn)
    assert {*INSIDE.pictures} - {*drawn} == {"five-views"}


def test_the_weighted_values_shown_sum_to_what_the_head_takes():
    faded = Edits(gates={("cross", 1, 2): 0.5})
    run = TranslatorRun(
        "The red car is faster than the blue car.", edits=faded, model="en-fr-learned"
    )
    weight = Weight(run, Site("cross", 1), 2, 1, 3)
    *parts, whole = value_rows(taken_apart(weight), weight.key, weight.key_tokens)
    assert parts[-1].label == "faded to 0.50"
    assert parts[-2].label.endswith("other keys")
    np.testing.assert_allclose(sum(part.values for part in parts), whole.values, atol=1e-5)


def test_a_bert_norms_its_input_and_the_sum(make_bert_folder):
    bert = Loaded("tiny", load_bert(make_bert_folder()))
    run = BertRun(bert.number, "the cat was playing.", "it sat!")
    steps = steps_of(Weight(run, Site("encoder", 2), 1, 3, 4))
    first, last = steps[0], steps[-1]
    assert "sentence it belongs to" in first.words
    assert "layer 3" in first.words
    assert "(e + s + p)" in first.formula
    assert last.formula == r"x' = \mathrm{norm}(x + \text{block}(x))"
    assert [step.title for step in steps] == [step.title for step in steps_of(WEIGHT)]
