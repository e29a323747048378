"""The line that warns of a translation, and the shades of what was written."""

from math import exp

import pytest

from headlight.model.insight import doubt
from headlight.model.insight.doubt import LEAST_SURE, Doubt
from headlight.pages.shared.show.doubt import BEYOND, MANY, why
from tests.pages.apps import button, open_page, open_with
from tests.pages.pictures import canvas_pictures

LAMP = "I bought a lamp. It does not work."
GIBBERISH = "Ich liebe meine Katze."


def warnings(app):
    return [text.value for text in app.text if text.value.startswith(BEYOND)]


def written(app):
    """The chips of what the decoder wrote, by the labels of their strips."""
    return {
        header["label"]: header["chips"]
        for header, _ in canvas_pictures(app)
        if "chips" in header and any(chip["probability"] is not None for chip in header["chips"])
    }


@pytest.mark.parametrize("page", ["attention", "heads", "masks", "decoding"])
def test_nonsense_is_warned_of_with_a_way_to_the_limits(page):
    app = open_page(page, sentence=GIBBERISH)
    assert not app.exception
    assert warnings(app) == [BEYOND + "this looks German, and it reads only English."]
    assert "The model's limits" in [link.proto.label for link in app.main.get("page_link")]


@pytest.mark.parametrize("page", ["attention", "decoding"])
def test_an_everyday_sentence_is_not_warned_of(page):
    app = open_page(page, sentence="I love my cat.")
    assert not warnings(app)


def test_words_that_are_lost_are_named(monkeypatch):
    monkeypatch.setattr(doubt, "UNREAD", 2.0)  # as if nothing looked at anything
    app = open_page(sentence="I love my cat.")
    (warning,) = warnings(app)
    assert "“love … cat” may be lost" in warning


def test_changes_of_the_visitor_are_no_sign():
    app = open_page(sentence="I love my cat.", edits="look-ahead.off~gate.cross.1.1.0")
    assert not warnings(app)


def test_another_model_is_not_warned_of(transformers_folders):
    app = open_with(transformers_folders["Marian"], sentence=GIBBERISH)
    assert not warnings(app)
    assert written(app)


def test_what_was_written_has_the_probabilities_of_the_very_run(shipped):
    sentence = "My sister sold seven boats."
    app = open_page(sentence=sentence)
    decoding = shipped.write(sentence)
    ((_, chips),) = written(app).items()
    assert [chip["probability"] for chip in chips] == pytest.approx(
        [exp(step.log_probability) for step in decoding], abs=1e-5
    )


def test_a_long_word_is_cut_and_a_mean_is_a_probability():
    assert "x" * 40 + "…”" in why(Doubt("pieces", "x" * 300, 9))
    assert "a probability of 0.30 on average" in why(Doubt("unsure", number=-1.2))
    assert why(Doubt("capitals")).startswith("Beyond what this small model knows: ")
    assert why(Doubt("repeated")).startswith("Your text came back untranslated")
    assert f"more than {exp(LEAST_SURE):.2f}" in why(Doubt("unsure", number=-1.2))


def likelier(app):
    return [text.value for text in app.text if text.value.startswith("A beam of 4")]


def test_a_clearly_likelier_text_is_offered_and_a_click_shows_the_beam(shipped):
    app = open_page(sentence=LAMP)
    usual, beam = shipped.translate(LAMP), shipped.translate(LAMP, strategy="beam", beam_size=4)
    (words,) = likelier(app)
    times = exp(beam.score - usual.score)
    assert f"{times:,.0f} times as likely" in words
    assert 1 < times < MANY
    assert f"“{beam.text}”" in words
    app.session_state["beam_size"] = 2
    button(app, "Watch the beam write it").click().run()
    assert not app.exception
    assert app.session_state["page"].key == "decoding"
    assert (app.session_state["strategy"], app.session_state["beam_size"]) == ("beam", 4)


@pytest.mark.parametrize(("busy", "kept"), [(True, False), (True, True), (False, False)])
def test_no_beam_is_computed_while_others_wait_for_the_model(busy, kept, monkeypatch):
    monkeypatch.setattr("headlight.pages.shared.show.doubt.is_busy", lambda: busy)
    monkeypatch.setattr("headlight.pages.shared.show.doubt.is_written", lambda run: kept)
    assert bool(likelier(open_page(sentence=LAMP))) == (kept or not busy)


def test_a_click_takes_the_beams_text_on_every_page_until_it_is_given_back(shipped):
    app = open_page(sentence=LAMP)
    usual, beam = shipped.translate(LAMP), shipped.translate(LAMP, strategy="beam", beam_size=4)

    def read():
        assert not app.exception
        ((_, chips),) = written(app).items()
        return [chip["text"] for chip in chips]

    before = read()
    button(app, "Take it").click().run()
    assert read() == [token.text for token in beam.target_tokens] != before
    assert not likelier(app)
    assert "Written by a beam of 4." in [text.value for text in app.text]
    assert f"French: {beam.text}" in [text.value for text in app.text]
    button(app, "Back to greedy").click().run()
    assert read() == [token.text for token in usual.target_tokens] == before
    app = open_page("heads", sentence=LAMP, by_beam="on")
    assert not app.exception
    assert read() == [token.text for token in beam.target_tokens]
    app.text_input(key="sentence").set_value("I love my cat.").run()
    assert not app.session_state["by_beam"]


@pytest.mark.parametrize(
    "scene", [{"sentence": "I love my cat."}, {"sentence": LAMP, "edits": "look-ahead.off"}]
)
def test_no_text_is_offered_that_is_no_likelier_or_of_a_changed_model(scene):
    assert not likelier(open_page(**scene))
