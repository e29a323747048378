"""Goals: what is measured equals what the model computes, and what makes no sense is refused."""

from dataclasses import replace

import pytest

import headlight.pages.parts.pages  # noqa: F401 - lists the pages
from headlight.pages.shared.state.page import PAGES
from headlight.wings.exercises.goals import COMPARED, MEASURES, Goal, check, measured, scene_from
from tests.pages.sessions import session

SENTENCE = "The dog ate the meat because it was hungry."
SCENE = {"sentence": SENTENCE, "kind": "encoder", "layer": "4", "head": "3"}
WEIGHT = Goal("weight", "over", 0.5, {"query": "it", "key": "hungry"})


@pytest.fixture
def taken():
    """Return a function that takes a measure in a scene of a page."""
    with session("a pupil"):
        yield lambda measure, parameters=SCENE, page="attention", **of: MEASURES[measure].take(
            scene_from(PAGES[page], parameters), of
        )


def test_measures_are_the_models_own_numbers(taken, shipped):
    trace, translation = shipped.trace(SENTENCE), shipped.translate(SENTENCE)
    weight = trace.weights("encoder")[3][2, 6, 8].item()
    assert taken("weight", query="it", key="hungry") == pytest.approx(weight, abs=1e-6)
    other = taken("weight", query="it", key="dog", kind="encoder", layer="2", head="2")
    assert other == pytest.approx(trace.weights("encoder")[1][1, 6, 1].item(), abs=1e-6)
    assert taken("text") == translation.text
    assert taken("log-probability") == pytest.approx(translation.score, abs=1e-4)
    assert taken("tokens") == len(trace.source_tokens) - 1  # without the end token
    assert taken("pieces") == 1
    edits = {"edits": "gate.cross.1.4-5.0~close.encoder.4.3.7.9"}
    assert taken("heads off", SCENE | edits) == 2
    assert taken("closed cells", SCENE | edits) == 1
    assert taken("weight", SCENE | edits, query="it", key="hungry") == 0
    assert taken("heads off", SCENE | edits | {"as_trained": "on"}) == 0
    assert taken("choice", {"strategy": "beam"}, "decoding", choice="strategy") == "beam"


def test_a_text_is_written_by_the_strategy_of_the_page(taken):
    scene = {"sentence": "I have a sister and a brother."}
    beam = scene | {"strategy": "beam", "beam_size": "4"}
    greedy, best = taken("text", scene, "decoding"), taken("text", beam, "decoding")
    assert (greedy, best) == ("J'ai un frère et un frère.", "J'ai une sœur et un frère.")
    numbers = [taken("log-probability", each, "decoding") for each in (scene, beam)]
    assert numbers[0] < numbers[1]


@pytest.mark.parametrize(
    ("changes", "of", "said"),
    [
        ({"head": "mean"}, {}, "Choose a single head"),
        ({"sentence": "We sing."}, {}, "no token “it”"),
        ({}, {"kind": "encoder", "layer": "9", "head": "1"}, "no such head"),
        ({}, {"kind": "nothing", "layer": "1", "head": "1"}, "no such head"),
        ({"model": "gone"}, {}, "no model"),
    ],
)
def test_what_cannot_be_measured_is_said_and_not_reached(changes, of, said):
    goal = replace(WEIGHT, of={**WEIGHT.of, **of})
    with session("a pupil"):
        result = measured(goal, scene_from(PAGES["attention"], SCENE | changes))
    if "model" in changes:  # a link to a model that is gone shows the default one
        assert result.reached
    else:
        assert not result.reached
        assert said in result.words


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        (Goal("luck", "over", 1.0), "luck cannot be measured"),
        (Goal("tokens", "has", 1.0), "tokens is compared by under"),
        (Goal("tokens", "over", "1"), "compared with a number"),
        (Goal("text", "is", 1.0), "compared with a text"),
        (Goal("weight", "over", 1.0, {"query": "it"}), "weight needs key"),
        (Goal("tokens", "over", 1.0, {"query": "it"}), "takes no query"),
        (replace(WEIGHT, of={**WEIGHT.of, "kind": "encoder"}), "takes all of kind, layer, head"),
        (
            replace(WEIGHT, of={**WEIGHT.of, "kind": "encoder", "layer": "x", "head": "1"}),
            "numbers from 1",
        ),
        (Goal("role", "over", 0.1, {"role": "king"}), "no role king"),
    ],
)
def test_a_goal_that_makes_no_sense_is_refused_in_a_sentence(goal, said):
    with pytest.raises(ValueError, match=said):
        check(goal)


def test_numbers_and_texts_are_compared_as_the_words_say():
    under, over = COMPARED["number"]["under"], COMPARED["number"]["at least"]
    assert (under(1, 2), under(2, 2), over(2, 2), over(1, 2)) == (True, False, True, False)
    has, lacks = COMPARED["text"]["has"], COMPARED["text"]["lacks"]
    assert (has("a dog", "dog"), lacks("a dog", "dog")) == (True, False)
