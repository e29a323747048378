"""Guess first: what is sent to a browser before a guess, and when a question is asked anew."""

import json

import numpy as np
import pytest

from headlight.model.transformer.trace import Site
from headlight.pages.shared.state.page import PAGES
from headlight.wings.cause.page.page import TABS
from headlight.wings.guess import wing
from headlight.wings.talks import scenes, stage
from headlight.wings.talks.slides import Slide, write_talk
from headlight.wings.talks.talk_file import read_talk
from tests.matrix import first_of
from tests.pages.apps import (
    address,
    button,
    drawn,
    edited,
    go_back,
    go_to,
    new_app,
    on_stage,
    open_page,
    with_heads_measured,
)
from tests.pages.pictures import canvas_pictures, heatmaps, mounted, save_menus

SENTENCE = "My sister sold seven boats."
HEAD = {"sentence": SENTENCE, "kind": "encoder", "layer": "5", "head": "6"}
ATTENTION = {"guess": "on", "guess_row": "3", **HEAD}
HEADS = {"guess": "on", "sentence": SENTENCE, "roles": "on"}
CAUSE = {"guess": "on", "sentence": SENTENCE, "guess_row": "2"}
# With numbers of the model, and those that name a head to begin with.
TELLING = {"heatmap", "lines", "text", "grid", "map", "effects", "role-scores", "knockout"}
TELLING |= {"wrote-heads", "wrote-keys", "patch-heads", "patch-tokens"}
TELLING |= {"player", "certainty", "alignment", "forced", "tree"}
TELLING |= {"estimate-heads", "estimate-map", "estimate-cells"}
TELLING |= {"why-pairs", "why-map", "why-query", "why-key"}


def questions(app):
    """The keys of what asks or answers, in order."""
    return [key for key in drawn(app) if key.startswith("question-")]


def asked(app):
    """The headers of what asks or answers, in order."""
    return [header for header, _ in canvas_pictures(app) if "asks" in header]


def guess(app, place, number=0):
    """Click an option of a question."""
    app.session_state[questions(app)[number]] = {"guess": place}
    app.run()
    assert not app.exception
    return app


def test_the_page_heads_asks_about_a_query_that_sees_several_keys():
    app = open_page("heads", guess="on", sentence=SENTENCE, kind="decoder", layer="1", head="1")
    (header,) = (each for each in asked(app) if each["asks"].startswith("Decoder, masked"))
    assert len(header["options"]) > 2


def measured_heads():
    return with_heads_measured(open_page("heads", **HEADS))


@pytest.mark.parametrize(
    ("page", "parameters", "key"),
    first_of(
        [
            ("attention", ATTENTION, "heatmap"),
            ("attention", {**ATTENTION, "picture": "lines"}, "lines"),
            ("attention", {**ATTENTION, "picture": "text"}, "text"),
            ("attention", {**ATTENTION, "head": "mean", "layer": "max"}, "heatmap"),
            ("heads", HEADS, "map"),
            ("cause", CAUSE, "knockout"),
            ("cause", {**CAUSE, "cause_tab": "wrote"}, "wrote-heads"),
            ("cause", {**CAUSE, "cause_tab": "patching"}, "patch-heads"),
            ("decoding", CAUSE, "player"),
            ("cause", {**CAUSE, "cause_tab": "estimate"}, "estimate-map"),
            ("inside", {**ATTENTION, "inside_tab": "why"}, "why-pairs"),
        ]
    ),
)
def test_a_guess_brings_the_picture_and_words_and_before_it_nothing_tells(page, parameters, key):
    app = open_page(page, **parameters)
    assert not app.exception
    assert not TELLING & set(drawn(app))
    (question, *_) = (each for each in questions(app) if each.startswith(f"question-{key}-"))
    header = asked(app)[questions(app).index(question)]
    assert header["said"] == ""
    assert len(header["options"]) > 1
    guess(app, 1, questions(app).index(question))
    assert key in drawn(app)
    answered = [each for each in asked(app) if each["said"]]
    assert [each["said"].startswith("You guessed ") for each in answered] == [True]
    assert answered[0]["options"] == []


def test_no_number_of_the_head_is_sent_before_the_guess(shipped):
    weights = shipped.trace(SENTENCE).attention[Site("encoder", 4)].weights[0, 5].numpy()
    app = open_page("attention", **ATTENTION)
    assert not heatmaps(app)
    sent = b"".join(data for _, data, _ in mounted(app))
    assert weights[2].astype("<f4").tobytes() not in sent
    largest = f"{weights[2].max():.3f}"
    assert largest.encode() not in sent
    words = [element.value for element in (*app.text, *app.caption, *app.markdown)]
    assert not any(largest in word for word in words)
    assert not any("heatmap" in header["name"] for header, _ in save_menus(app))
    guess(app, 0)
    np.testing.assert_allclose(heatmaps(app)[0][0], weights, atol=1e-5)
    tokens = heatmaps(app)[0][1]["columns"]
    (verdict,) = asked(app)
    assert f"looks most at “{tokens[weights[2].argmax()]}”, weight {largest}." in verdict["said"]


def test_the_effects_are_measured_unseen_and_asked_for_as_an_empty_board():
    app = measured_heads()
    assert not TELLING & set(drawn(app))
    effects = next(each for each in asked(app) if each["asks"].startswith("Which head matters"))
    assert [(board["layers"], board["heads"]) for board in effects["boards"]] == [
        (5, 8), (3, 8), (3, 8),
    ]  # fmt: skip
    assert len(effects["options"]) == 88
    guess(app, 20, asked(app).index(effects))
    assert "effects" in drawn(app)
    assert not {"map", "role-scores"} & set(drawn(app))
    (header,) = (header for header, _ in canvas_pictures(app) if "effects" in header)
    least = min(min(map(min, kind["effects"])) for kind in header["effects"])
    said = next(each["said"] for each in asked(app) if each["said"])
    assert said.endswith(f"−{abs(least):.3f} nats.")


def test_the_knockout_map_comes_with_what_follows_from_it():
    app = open_page("cause", **CAUSE)
    assert {"looked-at"} == {"looked-at", "knockout"} & set(drawn(app))
    assert not app.metric
    guess(app, -1)
    assert app.metric
    changes, header = heatmaps(app)[0]
    word = header["columns"][changes[1].argmin()]
    assert header["framed"] == [1, changes[1].argmin()]
    assert f"loses most without “{word}”" in asked(app)[0]["said"]
    assert "guessed" not in asked(app)[0]["said"]


@pytest.mark.parametrize(
    "change",
    [
        lambda app: app.text_input(key="sentence").set_value("We sing."),
        lambda app: app.selectbox(key="head").set_value(1),
        lambda app: app.selectbox(key="guess_row").set_value(0),
    ],
    ids=["sentence", "head", "row"],
)
def test_another_question_is_open_and_the_first_one_is_forgotten(change):
    app = guess(open_page("attention", **ATTENTION), 0)
    answered = questions(app)
    change(app).run()
    assert questions(app) != answered
    assert "heatmap" not in drawn(app)
    assert answered[0] not in app.session_state


def test_a_guess_is_forgotten_with_its_page_and_by_asking_again():
    app = guess(open_page("attention", **ATTENTION), 0)
    assert "heatmap" in drawn(app)
    go_to(app, "masks")
    go_to(app, "attention")
    assert "heatmap" not in drawn(app)
    guess(app, 0)
    guess(app, None)
    assert "heatmap" not in drawn(app)


def test_what_is_no_guess_answers_nothing():
    app = open_page("attention", **ATTENTION)
    for sent in (True, "0", 99, -2, 1.5, [0], {}):
        app = guess(app, sent)
        assert "heatmap" not in drawn(app)


def test_the_switch_is_off_at_first_and_in_the_link_when_it_is_on():
    app = open_page("attention", **HEAD)
    assert "heatmap" in drawn(app)
    assert not questions(app)
    assert "guess" not in address(app)
    app.toggle(key="guess").set_value(True).run()
    assert "heatmap" not in drawn(app)
    assert address(app)["guess"] == "on"
    guess(app, 0)
    assert set(address(app)) == {*HEAD, "v", "guess", "guess_row"}
    app.toggle(key="guess").set_value(False).run()
    assert {"heatmap", "grid"} <= set(drawn(app))
    assert not questions(app)


@pytest.mark.parametrize(("tab", "asks"), [("steps", False), ("why", True)])
def test_a_page_says_that_it_asks_below_or_that_it_asks_nothing(tab, asks):
    app = open_page("inside", sentence="We sing.", guess="on", inside_tab=tab)
    assert bool(questions(app)) == asks
    assert {"“Why it looks there”", "“Residual stream”"} <= {
        f"“{name}”" for name in app.segmented_control(key="inside_tab").options
    }
    said = wing.NOTHING_ASKED.format(pictures=PAGES["inside"].asks)
    captions = [caption.value for caption in app.caption]
    assert (said in captions) != asks
    assert (wing.ASKED_BELOW in captions) == asks


def test_the_first_row_that_is_asked_about_is_the_one_that_the_page_speaks_of():
    app = open_page("attention", **HEAD, query="1")
    (said,) = [text.value for text in app.text if " of its attention to " in text.value]
    app.toggle(key="guess").set_value(True).run()
    asked = app.selectbox(key="guess_row")
    number, token = asked.options[asked.value].split(": ")
    assert int(number) > 1
    assert f": “{token}” gives " in said


def test_a_new_sentence_is_asked_about_as_if_it_were_the_first():
    sentence = "Maria sold the bicycle because it was too old."
    fresh = open_page("attention", **{**HEAD, "guess": "on", "sentence": sentence})
    app = open_page("attention", **HEAD, guess="on", guess_row="2")
    app.text_input(key="sentence").set_value(sentence).run()
    assert not app.exception
    assert asked(app) == asked(fresh)


def test_cause_asks_first_about_the_token_that_loses_most():
    app = open_page("cause", sentence=SENTENCE, guess="on")
    row = app.selectbox(key="guess_row").value
    changes = heatmaps(guess(app, 0))[0][0]
    assert np.unravel_index(changes.argmin(), changes.shape)[0] == row


def with_slides(*slides, number=1):
    app = new_app(talk=str(number))
    app.session_state["talk"] = slides
    app.run()
    assert not app.exception
    return app


SLIDES = (
    Slide("attention", ATTENTION, "Asked", pictures=("heatmap",)),
    Slide("attention", HEAD, "Told", pictures=("heatmap",)),
    Slide("heads", {"guess": "on", "sentence": SENTENCE}, pictures=("effects",)),
    Slide("cause", CAUSE, pictures=("knockout", "looked-at")),
)


# What a head does in detail is asked of with all heads.
DETAILS = tuple(
    Slide("cause", {**CAUSE, "cause_tab": tab}, pictures=(key,))
    for tab, key in (
        ("wrote", "wrote-keys"),
        ("patching", "patch-tokens"),
        ("estimate", "estimate-heads"),
        ("estimate", "estimate-cells"),
    )
)
SLIDES += DETAILS


@pytest.mark.parametrize("number", first_of([1, *range(3, len(SLIDES) + 1)]))
def test_a_slide_asks_in_the_place_of_its_picture_and_tells_above_it(number):
    app = with_slides(*SLIDES, number=number)
    (key, *others) = SLIDES[number - 1].pictures
    (asks, *rest) = on_stage(app)
    assert asks.startswith(f"question-{key}-")
    assert rest == others
    assert not TELLING & set(drawn(app))
    guess(app, 0, questions(app).index(asks))
    assert on_stage(app) == [key, *others]
    assert sum(each["said"] != "" for each in asked(app)) == 1
    assert address(app) == {"talk": str(number), "ready_talk": "own"}


def test_the_maps_of_all_heads_come_to_a_slide_with_the_answer_and_are_known_before():
    app = with_slides(Slide("attention", ATTENTION, pictures=("grid", "heatmap")))
    (asks,) = on_stage(app)
    assert {"grid", "heatmap"} <= {*app.session_state["talk"][0].drawn}
    guess(app, 0)
    assert on_stage(app) == ["grid", "heatmap"]
    app.session_state[asks] = {"guess": None}
    assert on_stage(app.run()) == [asks]


@pytest.mark.parametrize("key", PAGES["cause"].riddles)
def test_a_slide_of_each_picture_of_cause_that_asks_has_the_switch_and_asks(key):
    tab = next(name for name, tab in TABS.items() if key in tab.PICTURES)
    scene = {**CAUSE, "cause_tab": tab, "guess": "off"}
    app = new_app()
    app.session_state["talk"] = (Slide("cause", scene, pictures=(key,)),)
    go_to(app, "talk")
    edited(app.toggle, "slide-0-guess").set_value(True).run()
    (slide,) = app.session_state["talk"]
    app = with_slides(slide)
    assert not TELLING & set(drawn(app))
    assert [header["said"] for header in asked(app)] == [""]


@pytest.mark.parametrize("tab", TABS)
def test_what_the_page_cause_asks_about_can_be_asked_on_slides(tab):
    app = open_page("cause", **{**CAUSE, "cause_tab": tab})
    about = {name.split("-", 1)[1] for name in drawn(app) if name.startswith("question-")}
    assert any(name.startswith(key) for name in about for key in PAGES["cause"].riddles)


def test_a_slide_that_is_turned_away_from_asks_anew():
    app = guess(with_slides(*SLIDES), 0)
    assert on_stage(app) == ["heatmap"]
    for number in ("2", "1"):
        go_back(app, talk=number)
        assert on_stage(app) == ["heatmap"] if number == "2" else questions(app) == on_stage(app)


def test_a_slide_that_is_added_meanwhile_asks_and_its_file_holds_no_guess():
    app = open_page("attention", **ATTENTION)
    button(app, "Add to talk").click().run()
    guess(app, 1)
    (slide,) = app.session_state["talk"]
    assert (slide.pictures, slide.parameters["guess"]) == (("heatmap",), "on")
    entry = json.loads(write_talk([slide]))["slides"][0]
    assert set(entry["parameters"]) == {*ATTENTION, "v"}
    assert read_talk(write_talk([slide]).encode()) == ((slide,), ())


def test_a_slide_that_is_added_asks_what_its_page_asks():
    app = open_page("heads", guess="on", sentence=SENTENCE)
    button(app, "Add to talk").click().run()
    (slide,) = app.session_state["talk"]
    (picture,) = slide.pictures
    assert picture in PAGES["heads"].riddles
    (shown,) = on_stage(with_slides(slide))
    assert shown.startswith(f"question-{picture}-")
    assert [toast.value for toast in app.toast] == [
        scenes.ADDED.format(number=1) + scenes.ASKS_FIRST
    ]


def test_a_slide_that_asks_is_titled_by_its_picture_and_not_by_a_text_it_does_not_show():
    scene = {"kind": "cross", "layer": "1", "head": "4", "edits": "gate.cross.1.4.0"}
    app = open_page("heads", guess="on", sentence=SENTENCE, **scene)
    button(app, "Add to talk").click().run()
    (slide,) = app.session_state["talk"]
    assert slide.title == slide.lead == "Cross-attention, layer 1, head 4"


def test_the_small_picture_of_a_slide_is_of_its_question_and_never_of_the_answer(monkeypatch):
    taken = []
    thumbnail = stage.thumbnail

    def note(name, of, shown, **more):
        taken.append(shown)
        return thumbnail(name, of, shown, **more)

    monkeypatch.setattr(stage, "thumbnail", note)
    app = open_page("attention", **ATTENTION)
    button(app, "Add to talk").click().run()
    assert taken == [[".st-key-question-heatmap"]]
    guess(app, 1)
    button(app, "Add to talk").click().run()
    assert taken == [[".st-key-question-heatmap"]]


def test_the_page_talk_has_a_slide_ask_first_or_not():
    app = new_app()
    app.session_state["talk"] = SLIDES[1:2]
    go_to(app, "talk")
    edited(app.toggle, "slide-0-guess").set_value(True).run()
    (slide,) = app.session_state["talk"]
    assert slide.parameters == {**HEAD, "guess": "on"}
    edited(app.toggle, "slide-0-guess").set_value(False).run()
    assert app.session_state["talk"][0].parameters == HEAD


def test_the_next_word_is_guessed_among_the_candidates_in_no_telling_order(shipped):
    app = open_page("decoding", **{**CAUSE, "guess_row": "3"})
    (question,) = asked(app)
    writing = shipped.write(SENTENCE).writing
    before, token = writing.target_tokens[:2], writing.target_tokens[2]
    written = shipped.tokenizer.decode([note.id for note in before])
    assert question["asks"] == f"After “{written}”, which token does the model find likeliest?"
    texts = [option["text"] for option in question["options"]]
    assert texts == sorted(texts)
    assert token.text in texts
    sent = json.dumps([header for header, _ in canvas_pictures(app)], ensure_ascii=False)
    assert writing.text not in sent
    assert writing.text not in " ".join(text.value for text in app.text)
    guess(app, texts.index(token.text))
    (answer,) = asked(app)
    assert ": right, the likeliest is" in answer["said"]
    assert "player" in drawn(app)


def test_pieces_that_join_what_is_written_are_told_apart_from_words():
    sentence = "The dog ate the meat because it was hungry."
    (question,) = asked(open_page("decoding", sentence=sentence, guess="on", guess_row="8"))
    texts = [option["text"] for option in question["options"]]
    assert {"qu'", "…qu'"} <= {*texts}
    assert len({*texts}) == len(texts)


def test_what_is_forced_is_named_and_can_be_undone_before_the_answer(shipped):
    (token,) = shipped.begin("un")
    app = open_page("decoding", **CAUSE, branch=f"1:{token.id}:{token.text}")
    assert "Forced: un at step 1" in [text.value for text in app.text]
    app.button(key="undo-forced").click().run()
    assert not any(text.value.startswith("Forced") for text in app.text)
