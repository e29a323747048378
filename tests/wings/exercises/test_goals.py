"""Goals: what is measured equals what the model computes, and what makes no sense is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest

import headlight.pages.parts.pages  # noqa: F401 - lists the pages
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import Edits
from headlight.model.edits.positions import PositionEdit
from headlight.model.insight.roles import role_scores
from headlight.model.transformer.trace import Site
from headlight.pages.parts.attention.view import READS
from headlight.pages.shared.runs import run as runs
from headlight.pages.shared.runs.run import ModelRun, decoded
from headlight.pages.shared.state.models import LIBRARY, Training, workshop
from headlight.pages.shared.state.page import PAGES
from headlight.wings.exercises.goals import (
    COMPARED,
    MEASURES,
    Goal,
    check,
    measured,
    said,
)
from headlight.wings.exercises.scene import scene_from
from headlight.wings.training.jobs import TrainingJob, training_queue
from headlight.wings.training.small_models import default_options
from tests.pages.apps import keep, open_with
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


def test_the_run_is_the_one_that_the_page_shows(shipped):
    """Each page has choices of its own that change what the model reads, or how it writes."""
    words, closed = {"sentence": SENTENCE}, {"edits": "gate.cross.1.4.0"}
    with session("a pupil"):
        run = {
            page: scene_from(PAGES[page], words | of).run
            for page, of in {
                "attention": closed,
                "masks": {"target": "Le chat.", "pad_to": "13"},
                "positions": {"positions_encoder": "shifted", "positions_shift": "3"} | closed,
                "heads": closed | {"as_trained": "on"},
                "inside": {"inside_of": SENTENCE, "inside_target": "Le chat."},
                "cause": {"target": "Le chat."},
                "decoding": {"strategy": "beam", "beam_size": "2", "top_k": "7"},
                "models": {"by_beam": "on"},
            }.items()
        }
        assert run["attention"].target == "Le chien mangea la viande."  # as the changed model says
        assert (run["masks"].target, run["masks"].pad_to) == ("Le chat.", 13)
        assert run["positions"].moved == (PositionEdit(shift=3), PositionEdit())
        assert run["positions"].edits == Edits()  # the page shows the model as trained
        assert run["heads"].edits != Edits()  # this page always shows the changes
        assert run["inside"].target == run["cause"].target == "Le chat."
        assert run["decoding"].strategy == Strategy("beam", beam_size=2)
        assert run["models"].strategy.strategy == "beam"


@pytest.mark.parametrize("name", [None, "GPT-2", "DistilBERT", "Marian"])
def test_a_model_gets_only_what_it_can_read(name, transformers_folders):
    """A choice that was left from another model, or forged in an answer, changes no run."""
    key = LIBRARY + keep(transformers_folders[name]) if name else "en-fr"
    left = {"second": "The cat.", "target": "Le chat.", "pad_to": "16", READS.key: "Le chat."}
    come = {"inside_of": SENTENCE, "inside_target": "Le chat.", "inside_pad_to": "30"}
    words = {"sentence": SENTENCE, "model": key}
    with session("a pupil"):
        plain = ModelRun(SENTENCE, model=key)
        missing, pairs = plain.reader.missing, "cross" in plain.reader.shape.kinds
        second = "" if "read a pair" in missing else "The cat."
        plain = replace(plain, second=second)
        beside = replace(plain, target="Le chat.") if pairs else plain
        run = {
            page: scene_from(PAGES[page], words | left | come).run
            for page in ("attention", "masks", "heads", "inside", "cause")
        }
        assert run["heads"] == plain
        assert run["cause"] == beside
        assert run["attention"] == (beside if name else plain)
        pads = {} if "pad" in missing or not plain.trace().longest < 16 else {"pad_to": 16}
        assert run["masks"] == replace(beside, **pads)
        assert run["inside"] == replace(beside, **({"pad_to": 30} if pads else {}))


def test_a_weight_that_was_clicked_with_another_model_does_not_end_inside_a_head(
    transformers_folders,
):
    """`open_with` fails if the page raises an error."""
    come = {"inside_of": SENTENCE, "inside_target": "Le chat.", "inside_pad_to": "39"}
    app = open_with(transformers_folders["GPT-2"], "inside", sentence=SENTENCE, **come)
    assert app.metric


def test_a_weight_of_a_decoding_is_that_of_its_step(taken):
    """A changed model is shown while it reads the text that it writes itself."""
    scene = {"sentence": SENTENCE, "kind": "cross", "layer": "2", "head": "3"}
    scene |= {"edits": "gate.cross.1.4.0"}
    with session("a pupil"):
        run = scene_from(PAGES["decoding"], scene).run
        steps = decoded(run).steps_to(decoded(run).path)
    (step,) = [step for step in steps if step.read[-1].text == "."]
    assert decoded(run).writing.text == "Le chien mangea la viande."
    weight = float(step.weights[Site("cross", 1)][2, 8])
    here = taken("weight", scene, "decoding", query=".", key="hungry")
    assert here == pytest.approx(weight, abs=1e-5)


def test_a_weight_of_a_large_run_is_no_byte(taken, monkeypatch):
    """A large run keeps the weights of most layers as bytes, from 0 to 255."""
    exact = taken("weight", query="it", key="hungry")
    monkeypatch.setattr(runs, "IN_FULL", 1)
    large = SCENE | {"sentence": SENTENCE + " "}
    assert taken("weight", large, query="it", key="hungry") == pytest.approx(exact, abs=1e-5)


def test_a_role_is_tested_as_on_the_page_heads(taken, shipped):
    for seed in (0, 7):
        score = role_scores(shipped, seed).scores["previous"]["encoder"][3, 2].item()
        scene = SCENE | {"role_seed": str(seed)}
        assert taken("role", scene, "heads", role="previous") == pytest.approx(score, abs=1e-5)
    with pytest.raises(ValueError, match="two texts"):
        taken("role", SCENE | {"kind": "cross", "layer": "2"}, role="previous")


def test_a_choice_is_measured_as_a_link_writes_it_and_by_its_default(taken):
    assert taken("choice", {}, "decoding", choice="strategy") == "greedy"
    assert taken("choice", {}, "inside", choice="query") == ""
    with pytest.raises(ValueError, match="Attention has no choice “strategy”"):
        taken("choice", {}, choice="strategy")


@pytest.mark.parametrize("page", ["compare", "training", "model"])
def test_a_page_that_does_not_show_the_run_does_not_measure_it(taken, page):
    with pytest.raises(ValueError, match=f"The page {PAGES[page].title} shows no run"):
        taken("text", SCENE, page)


def test_heads_are_counted_in_the_run_that_writes(taken):
    """Else a change that ruins the text would pass on a page that runs the model without it."""
    edits = {"edits": "gate.cross.1.4-5.0~close.encoder.4.3.7.9"}
    for page, heads in {"heads": 2, "attention": 2, "positions": 0, "models": 0}.items():
        assert taken("heads off", edits, page) == heads
        assert taken("closed cells", edits, page) == heads / 2


def test_an_order_of_the_positions_is_measured_by_what_it_makes_the_model_write(taken):
    """The page opens without the encoder's positions."""
    scene = {"sentence": SENTENCE}
    assert taken("text", scene, "positions") == "Le chien avait faim parce que c'était la viande."
    scene = {"sentence": "The dog sees the cat.", "positions_encoder": "trained"}
    assert taken("text", scene, "positions") == "Le chien voit le chat."
    shuffled = scene | {"positions_encoder": "shuffled"}
    assert taken("text", shuffled, "positions") == "Le chat voit le chien."
    other = taken("text", shuffled | {"positions_seed": "1"}, "positions")
    assert other not in ("Le chat voit le chien.", "Le chien voit le chat.")
    assert taken("text", shuffled | {"positions_tab": "words"}, "positions") == taken("text", scene)


def test_a_training_is_measured_by_its_newest_score(taken):
    with pytest.raises(ValueError, match="No training of the task “reverse” has a score"):
        taken("training", task="reverse")
    job = TrainingJob(training_queue(), default_options("reverse"))
    workshop().training = Training("1. Reverse", job)
    with pytest.raises(ValueError, match="has a score"):
        taken("training", task="reverse")
    job.matches += [(50, 0.25), (100, 0.75)]
    assert taken("training", task="reverse") == 0.75
    with pytest.raises(ValueError, match="“copy”"):
        taken("training", task="copy")


@pytest.mark.parametrize(
    ("changes", "of", "said"),
    [
        ({"head": "mean"}, {}, "Choose a single head"),
        ({"sentence": "We sing."}, {}, "no token “it”"),
        (
            {},
            {"kind": "encoder", "layer": "9", "head": "1"},
            "English to French does not have this head: Encoder, layer 9, head 1",
        ),
        ({"kind": "cross", "layer": "5"}, {}, "does not have this head"),
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
        (
            replace(WEIGHT, of={**WEIGHT.of, "kind": "king", "layer": "1", "head": "1"}),
            "not a kind of attention: king",
        ),
        (Goal("tokens", "over", math.inf), "a finite number"),
        (Goal("tokens", "over", math.nan), "a finite number"),
        (Goal("text", "lacks", ""), "Say which text"),
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
    assert COMPARED["text"]["is"]("a dog", " a dog ")
    assert (said(2.0), said(-np.inf)) == ("2", "−∞")
