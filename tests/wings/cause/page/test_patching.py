"""Patching between two texts: its numbers, its links, and what it says to odd texts and answers."""

import numpy as np
import pytest

from headlight.model.library.loading import load_model
from headlight.model.transformer.trace import Site
from headlight.wings.cause import patching as insight
from headlight.wings.cause.patching import AnswerPair, patch_heads, patch_tokens, two_runs
from tests.matrix import first_of
from tests.odd_texts import ODD_TEXTS
from tests.pages.apps import (
    address,
    drawn,
    go_to,
    metrics,
    new_app,
    open_page,
    open_with,
    said,
)
from tests.pages.pictures import canvas_pictures

SENTENCE, CHANGED = "My sister sold my cat.", "My sister sold my dog."
PLACE = {"cause_tab": "patching", "sentence": SENTENCE}
PICTURES = ["patch-heads", "patch-tokens"]


def pictures(app):
    """The map of the heads, and the bars of one head's tokens with their numbers."""
    result = canvas_pictures(app)
    (heads,) = [header for header, _ in result if "effects" in header]
    ((bars, data),) = [item for item in result if "sum" in item[0]]
    return heads, bars, np.frombuffer(data, "<f4")


@pytest.fixture(scope="module")
def compared(shipped):
    """A function from a place, a part and the direction to the runs that the page shows."""
    written = shipped.translate(SENTENCE)
    clean, changed = (shipped.trace(text, written) for text in (SENTENCE, CHANGED))
    ids = [token.id for token in written.target_tokens]

    def get(place=None, other=None, backwards=False):
        best = changed.logits[0].argmax(dim=-1).tolist()
        if place is None:
            place = next(row for row, token in enumerate(ids) if best[row] != token)
        answers = AnswerPair(place, ids[place], best[place] if other is None else other)
        pair = (clean, changed) if backwards else (changed, clean)
        return two_runs(shipped, *pair, answers, ("heads", "weights", "value"))

    return get


def check(app, runs, part, site=None, head=None):
    assert not app.exception
    heads, bars, tokens = pictures(app)
    shares = dict(patch_heads(runs, part))
    for kind in heads["effects"]:
        for layer, row in enumerate(kind["effects"]):
            np.testing.assert_allclose(row, 100 * shares[Site(kind["name"], layer)], atol=1e-2)
    if site is None:
        site = max(shares, key=lambda site: shares[site].max())
        head = int(shares[site].argmax())
    assert heads["selected"] == [*site, head]
    np.testing.assert_allclose(tokens, 100 * patch_tokens(runs, part, site, head), atol=1e-2)
    assert bars["sum"] == pytest.approx(100 * shares[site][head].item(), abs=1e-2)
    shown = metrics(app)
    assert shown["Outputs of all heads at once"] == "100.0 % of the gap"
    assert [value for label, value in shown.items() if "own" in label] == ["0.000 nats"]


def test_by_default_a_word_is_exchanged_and_the_first_token_apart_compared(compared):
    app = open_page("cause", **PLACE)
    check(app, compared(), "heads")
    assert app.text_input(key="patch_text").placeholder == CHANGED
    assert metrics(app)["After the clean text"].startswith("+")
    assert metrics(app)["After the changed text"].startswith("−")


@pytest.mark.parametrize("part", first_of(["weights", "value"]))
@pytest.mark.parametrize("way", first_of(["back", "away"]))
def test_a_link_holds_the_part_the_direction_and_the_head(compared, part, way):
    choices = {"patch_part": part, "patch_way": way, "patch_text": CHANGED}
    choices |= {"kind": "encoder", "layer": "4", "head": "3"}
    app = open_page("cause", **PLACE, **choices)
    check(app, compared(backwards=way == "away"), part, Site("encoder", 3), 2)
    assert choices.items() - {("patch_way", "back")} <= address(app).items()
    parts = {"weights": "Weights", "value": "Values"}[part]
    assert f"{parts} of all heads at once" in metrics(app)


def test_a_link_holds_the_written_word_and_the_answers(compared, shipped):
    (other,) = shipped.begin("perdu")
    choices = {"patch_word": "4", "patch_changed": "perdu"}
    app = open_page("cause", **PLACE, **choices)
    check(app, compared(3, other.id), "heads")
    assert choices.items() <= address(app).items()


def test_a_known_target_is_what_the_decoder_reads(shipped):
    target = "Ma sœur a vendu mon chat."
    app = open_page("cause", **PLACE, target=target)
    clean, changed = (shipped.trace(text, target) for text in (SENTENCE, CHANGED))
    ids = [token.id for token in clean.target_tokens[1:]]
    best = changed.logits[0].argmax(dim=-1).tolist()
    row = next(row for row, token in enumerate(ids) if best[row] != token)
    answers = AnswerPair(row, ids[row], best[row])
    check(app, two_runs(shipped, changed, clean, answers, ("heads",)), "heads")


def test_a_typed_text_takes_the_place_of_the_one_that_is_offered(compared):
    app = open_page("cause", **PLACE, patch_text="Your brother had your horse.")
    app.text_input(key="patch_text").set_value(CHANGED).run()
    check(app, compared(), "heads")
    app.text_input(key="patch_text").set_value(" ").run()
    check(app, compared(), "heads")


@pytest.mark.parametrize("place", ["0", "two"])
def test_a_written_word_that_there_is_not_is_told_and_left_out(place):
    app = open_page("cause", **PLACE, patch_word=place)
    assert any("damaged" in info.value for info in app.info)
    assert drawn(app).count("patch-heads") == 1


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (SENTENCE, "the same tokens: change a word"),
        ("My sister sold my cat and my dog.", "each token has its counterpart"),
        ("word " * 700, "more tokens than this model reads"),
    ],
)
def test_texts_that_cannot_be_compared_are_refused_in_a_sentence(changed, why):
    app = open_page("cause", **PLACE, patch_text=changed)
    assert not app.exception
    assert why in said(app)
    assert not {*drawn(app)} & {*PICTURES}


def test_a_sentence_of_one_word_asks_for_a_changed_text():
    app = open_page("cause", cause_tab="patching", sentence="Hello")
    assert "Type a changed text" in said(app)
    app.text_input(key="patch_text").set_value("Cat").run()
    assert not app.exception


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("extraordinairement", "tokens here"),
        ("<b>日本語</b>", "is 17 tokens here"),
        ("the same", "is the answer to the clean text"),
    ],
)
def test_an_answer_that_is_no_token_gives_way_to_the_models_own(word, why, compared, shipped):
    runs = compared()
    written = shipped.translate(SENTENCE).target_tokens[runs.answers.row]
    asked = written.text if word == "the same" else word
    app = open_page("cause", **PLACE, patch_changed=asked)
    check(app, runs, "heads")
    assert why in said(app)
    assert "in place of the answer" in said(app)


def test_the_models_own_answer_is_listed_once():
    app = open_page("cause", cause_tab="patching", sentence=SENTENCE, patch_text=CHANGED)
    for key in ("patch_clean", "patch_changed"):
        own, *others = app.selectbox(key=key).options
        assert own.removeprefix("the model’s own: ") not in others
        assert len(others) > 8


def test_with_changes_the_written_token_is_not_called_the_models_own(shipped):
    written = shipped.translate(SENTENCE)
    scene = {"cause_tab": "patching", "sentence": SENTENCE, "edits": "gate.cross.1.4.0"}
    app = open_page("cause", **scene, patch_text=CHANGED, patch_word="2")
    clean, changed = (app.selectbox(key=f"patch_{key}").options[0] for key in ("clean", "changed"))
    assert clean == f"as trained: {written.target_tokens[1].text}"
    assert changed.startswith("the model’s own: ")


def test_answers_that_are_as_far_apart_after_either_text_are_said_so(monkeypatch):
    monkeypatch.setattr(insight, "LEAST", 1e6)
    app = open_page("cause", cause_tab="patching", sentence="Her sister sold my cat.")
    assert not app.exception
    assert "equally far apart after both texts" in said(app)
    assert not {*drawn(app)} & {*PICTURES}


@pytest.mark.parametrize("key", ["patch_text", "patch_clean", "patch_changed"])
@pytest.mark.parametrize("name", first_of(ODD_TEXTS))
def test_odd_texts_and_answers_break_nothing(name, key):
    app = new_app(**PLACE)
    app.session_state[key] = ODD_TEXTS[name]
    assert not go_to(app, "cause").exception


@pytest.mark.parametrize("name", first_of(["GPT-2", "Llama", "T5", "Marian"]))
def test_models_of_the_library_are_patched(name, transformers_folders, monkeypatch):
    monkeypatch.setattr(insight, "LEAST", 1e-5)  # what has learned nothing tells texts hardly apart
    app = open_with(
        transformers_folders[name], "cause", cause_tab="patching", sentence="I love my cat.",
        patch_text="I love love cat.",
    )  # fmt: skip
    heads, bars, tokens = pictures(app)
    shape = load_model(transformers_folders[name]).shape
    assert [kind["name"] for kind in heads["effects"]] == list(shape.kinds)
    assert len(tokens) == len(bars["names"])
    assert metrics(app)["Outputs of all heads at once"].startswith(("100.", "99.9"))


def test_others_say_why_not(transformers_folders):
    app = open_with(
        transformers_folders["DistilBERT"], "cause", cause_tab="patching", sentence="I love it."
    )
    assert "no head that writes" in said(app)
    assert not {*drawn(app)} & {*PICTURES}
