"""Saving a talk as one file, in a session: what is drawn for it, and what comes back."""

import base64
import io
import json
import re
from dataclasses import replace

import pytest
from PIL import Image
from pptx import Presentation

from headlight.model.translator import load
from headlight.pages.shared.state.models import LIBRARY
from headlight.wings.live.page import weights_file
from headlight.wings.talks import presenter, saving_talk
from headlight.wings.talks.deck.file import LARGEST, Drawn, DrawnSlide, talk_in
from headlight.wings.talks.page.page import ALL_SAVED, CHANGED
from headlight.wings.talks.slides import Slide
from headlight.wings.talks.talk import shipped
from headlight.wings.talks.talk_file import read_talk
from tests.matrix import first_of
from tests.pages.apps import address, button, go_to, new_app, open_page, open_with

TALK = shipped()
MOST = 10_000_000  # bytes of the ready talk
WORDS = Slide(title="<b>Title", words="Words", notes="Notes", question="Why?\n\n<i>this \nthat")
GRID = Slide("attention", {"sentence": "We sing.", "layer": "3", "head": "5"}, pictures=("grid",))
DOTS = io.BytesIO()
Image.new("RGB", (40, 20)).save(DOTS, "PNG")
IMAGE = DOTS.getvalue()
PNG = "data:image/png;base64," + base64.b64encode(IMAGE).decode()


def talk_page(*slides):
    app = new_app()
    app.session_state["talk"] = slides
    return go_to(app, "talk")


def save(app):
    """Save the talk in force; returns what came of it."""
    button(app, "Save as one HTML file").click().run(timeout=300)
    assert not app.exception
    return app.session_state["saving_talk"]


def header_of(file):
    (text,) = re.findall(rb'<script type="application/json" id="deck">(.*?)</script>', file)
    return json.loads(text)


def slides_in(file):
    return header_of(file)["slides"]


def data_of(file):
    return header_of(file)["data"]


@pytest.fixture(scope="module")
def ready():
    """What comes of the ready talk."""
    return save(open_page("talk"))


@pytest.mark.matrix
def test_the_ready_talk_is_whole_and_small(ready):
    assert len(ready.file) < MOST
    assert ready.left_out == []
    assert read_talk(talk_in(ready.file))[0] == TALK
    result = slides_in(ready.file)
    for slide, scene in zip(result, TALK, strict=True):
        assert len(slide["pictures"]) == len(scene.pictures)
        assert slide["missing"] == ""
        assert slide["notes"] == scene.notes


def test_a_saved_talk_leaves_everything_as_it_was():
    app = talk_page(WORDS, GRID)
    app.session_state["sentence"] = "We sing."
    assert save(app).file
    assert app.session_state["sentence"] == "We sing."
    assert address(app) == {"v": "2", "sentence": "We sing."}
    assert app.title[0].value == "Talk"
    assert [item.label for item in app.get("download_button")][-1].startswith("Download the HTML")


def test_a_talk_with_the_model_inside_has_its_weights_and_the_scene_of_each_slide():
    sung = {"sentence": "We sing."}
    head = {"kind": "encoder", "layer": "3", "head": "3"}
    slides = {
        "attention": (sung | head | {"picture": "lines"}, sung | head),
        "positions": (sung | {"positions_tab": "sentence"}, sung | {"off": "encoder"}),
        "decoding": (sung | {"strategy": "beam", "beam_size": "3"}, sung | {"beam": "3"}),
        "masks": (sung | {"edits": "look-ahead.off"}, sung | {"edits": "look-ahead.off"}),
        "compare": ({}, {}),
    }
    app = talk_page(WORDS, *(Slide(page, scene) for page, (scene, _) in slides.items()))
    button(app, "Save with the model inside").click().run(timeout=300)
    saving = app.session_state["saving_talk"]
    words, *scenes = (slide["scene"] for slide in slides_in(saving.file))
    assert words == {}
    for scene, (page, (_, wanted)) in zip(scenes, slides.items(), strict=True):
        kind = {"masks": "decoder"}.get(page, "cross")
        opened = {"kind": kind, "layer": "2", "head": "mean"} | wanted if wanted else {}
        assert scene == opened
    translator = load("en-fr")
    weights = weights_file(translator.model, translator.tokenizer)
    pieces = re.findall(rb'class="weights">([^<]*)<', saving.file)
    assert base64.b64decode(b"".join(pieces)) == weights


def test_another_talk_is_not_what_was_saved():
    app = talk_page(WORDS)
    assert save(app).file
    app.session_state["talk"] = (replace(WORDS, title="Another"),)
    app.run()
    assert len(app.get("download_button")) == 1


def test_a_question_of_a_slide_is_in_the_file():
    asking, other = slides_in(save(talk_page(WORDS, replace(GRID, question="Which?"))).file)
    assert asking["question"] == ["Why?", "<i>this", "that"]
    assert other["question"] == ["Which?"]


def test_a_grid_has_the_head_of_its_scene_selected():
    (slide,) = slides_in(save(talk_page(GRID)).file)
    assert slide["footer"].startswith("“We sing.”")
    assert [picture["part"] for picture in slide["pictures"]] == ["head_grid"]


def test_each_picture_says_what_was_changed_in_its_own_run():
    app = talk_page(Slide("heads", {"edits": "gate.cross.1.4.0"}, pictures=("trained", "changed")))
    (slide,) = slides_in(save(app).file)
    sentence, change = slide["footer"].split(" · ")
    assert [picture["what"] for picture in slide["pictures"]] == [
        f"the output as trained. {sentence}",
        f"the output with changes. {sentence} · {change}",
    ]


def test_two_maps_say_what_they_are_of():
    app = save(talk_page(Slide("compare", pictures=("maps",))))
    (slide,) = slides_in(app.file)
    (picture,) = slide["pictures"]
    for side in ("A: ", "too tired.”", "B: ", "too wide.”", "Encoder, layer 2, head 2"):
        assert side in picture["what"]


def test_the_maps_of_all_heads_wait_in_a_file_for_the_answer():
    scene = {"sentence": "We sing.", "guess": "on", "head": "3"}
    app = talk_page(Slide("attention", scene, pictures=("grid", "source", "heatmap")))
    (slide,) = slides_in(save(app).file)
    waits = {picture["part"]: picture["waits"] for picture in slide["pictures"]}
    assert waits == {"head_grid": True, "token_strip": False, "heatmap": False}


def test_a_question_comes_with_what_is_said_of_every_guess():
    scene = {"sentence": "We sing.", "guess": "on", "head": "3"}
    (slide,) = slides_in(save(talk_page(Slide("attention", scene, pictures=("heatmap",)))).file)
    (picture,) = slide["pictures"]
    told, *guesses = picture["question"]["verdicts"]
    assert "looks most at" in told
    assert len(guesses) > 2
    assert all(words.startswith("You guessed") for words in guesses)
    assert sum(": right, " in words for words in guesses) == 1


def test_a_picture_that_could_tell_an_answer_waits_for_it_and_a_qr_code_does_not(monkeypatch):
    scene = {"sentence": "We sing.", "guess": "on", "strategy": "beam"}
    monkeypatch.setattr(presenter, "link_of", lambda *_: "http://localhost/decoding")
    shown = save(talk_page(Slide("decoding", scene, pictures=("tree", "player"), qr_code=True)))
    (slide,) = slides_in(shown.file)
    waiting = {picture["part"]: picture["waits"] for picture in slide["pictures"]}
    assert waiting == {"beam_tree": True, "decoding_player": False, "qr_code": False}
    assert slide["pictures"][1]["question"]


def test_a_slide_whose_model_is_gone_says_so_and_the_rest_is_saved():
    own = replace(GRID, parameters={"model": "own-1"})
    other = replace(GRID, parameters={"model": f"{LIBRARY}nobody/nothing"})
    saving = save(talk_page(own, other, WORDS, GRID))
    assert saving.left_out == [1, 2]
    first, second, words, last = slides_in(saving.file)
    assert first["missing"].startswith("The model of this slide is no longer available")
    assert "Load it on the page Models" in second["missing"]
    assert first["pictures"] == second["pictures"] == []
    assert (words["title"], words["missing"]) == ("<b>Title", "")
    assert len(last["pictures"]) == 1


@pytest.mark.matrix
@pytest.mark.parametrize("name", first_of(["T5", "classes", "GPT-2"]))
def test_a_model_of_the_library_is_saved_alike(name, transformers_folders):
    folder = transformers_folders[name]
    app = open_with(folder)
    parameters = {"model": f"{LIBRARY}{folder}", "sentence": "I love my cat.", "kind": "encoder"}
    if name == "GPT-2":
        parameters["kind"] = "decoder"
    app.session_state["talk"] = (Slide("attention", parameters, pictures=("grid",)),)
    saving = save(go_to(app, "talk"))
    (slide,) = slides_in(saving.file)
    assert saving.left_out == []
    assert [picture["part"] for picture in slide["pictures"]] == ["head_grid"]
    assert slide["scene"] == {}


def test_a_slide_that_fails_says_so_and_the_rest_is_saved(monkeypatch):
    def fail(page, pictures):
        raise RuntimeError("no memory")

    monkeypatch.setattr(saving_talk.presenter, "draw_scene", fail)
    saving = save(talk_page(GRID, WORDS))
    assert saving.left_out == [1]
    assert slides_in(saving.file)[0]["missing"].endswith("no memory")


def test_charts_wait_for_the_browser_and_a_stop_leaves_the_talk(monkeypatch):
    scene = Slide("positions", {"positions_tab": "sinusoids"}, pictures=("table", "curves"))
    app = talk_page(scene)
    saving = save(app)
    assert saving.file == b""
    assert app.session_state["slide"] == 1
    button(app, "Stop").click().run()
    assert "saving_talk" not in app.session_state
    assert app.session_state["slide"] is None
    assert app.title[0].value == "Talk"


def test_a_talk_that_the_browser_sends_after_the_click_is_the_one_that_is_saved():
    app = talk_page(Slide("positions", {"positions_tab": "sinusoids"}, pictures=("table",)))
    assert save(app).file == b""
    app.session_state["talk"] = WORDS, GRID
    app.run()
    words, grid = slides_in(app.session_state["saving_talk"].file)
    assert (words["title"], grid["scene"]["sentence"]) == ("<b>Title", "We sing.")


def test_the_file_of_earlier_slides_is_not_offered():
    app = talk_page(GRID, WORDS)
    save(app)
    assert [text.value for text in app.text] == [ALL_SAVED["html"]]
    button(app, "Remove all slides").click().run()
    assert [text.value for text in app.text] == [CHANGED]
    button(app, "Undo").click().run()
    assert [text.value for text in app.text] == [ALL_SAVED["html"]]


@pytest.mark.parametrize(
    "still", [None, 3, "https://a.b/c.png", "data:text/html;base64,AAAA", 'data:image/png;base64,"']
)
def test_a_still_is_an_image_or_nothing(still):
    assert saving_talk.image_or_none(still) is None
    assert saving_talk.image_or_none("data:image/webp;base64,AAAA") == "data:image/webp;base64,AAAA"


def save_for_powerpoint(app, *stills):
    """Save the talk in force, with these images for the slides that ask the browser for some."""
    button(app, "Save for PowerPoint").click().run(timeout=300)
    saving = app.session_state["saving_talk"]
    for still in stills:
        assert saving.file == b""
        saving.stills = still
        app.run()
    assert not app.exception
    return saving


def test_powerpoint_waits_for_images_of_all_pictures_and_keeps_none_of_them():
    app = talk_page(WORDS, replace(GRID, notes="Say this."), replace(GRID, title="Twice"))
    saving = save_for_powerpoint(app, {"grid": PNG}, {"grid": None})
    words, grid, lost = Presentation(io.BytesIO(saving.file)).slides
    assert saving.left_out == [3]
    assert words.shapes.title.text == "<b>Title"
    assert grid.notes_slide.notes_text_frame.text == "Say this."
    assert [shape.image.blob for shape in grid.shapes if shape.shape_type == 13] == [IMAGE]
    assert "could not be drawn" in lost.shapes[1].text
    assert (saving.done, saving.stills) == ([], None)
    labels = [item.label for item in app.get("download_button")]
    assert labels[-1].startswith("Download the PowerPoint file")


def test_powerpoint_asks_before_it_shows_what_a_slide_with_guess_first_asks_about():
    scene = {"sentence": "We sing.", "guess": "on", "picture": "heatmap"}
    app = talk_page(Slide("attention", scene, "A head", pictures=("heatmap", "grid")))
    saving = save_for_powerpoint(app, {"heatmap": PNG, "grid": PNG})
    question, answer = Presentation(io.BytesIO(saving.file)).slides
    assert question.shapes.title.text == "A head"
    assert "which token does" in question.shapes[1].text
    assert "sing" in question.shapes[1].text
    assert answer.shapes.title.text == "A head"
    assert len([shape for shape in answer.shapes if shape.shape_type == 13]) == 2


def test_of_what_a_browser_sends_only_images_of_the_slide_are_taken():
    saving = saving_talk.Saving((GRID,), "pptx")
    assert saving_talk.taken(saving, {"grid": PNG, "other": PNG}) == {"grid": PNG}
    assert saving_talk.taken(saving, {"grid": ["x"]}) == {"grid": None}
    assert saving_talk.taken(saving, {}) == {}
    long = PNG + "A" * saving_talk.LONGEST_STILL
    assert saving_talk.taken(saving, {"grid": long}) == {"grid": None}
    full = DrawnSlide("", pictures=[Drawn("", "A" * 2 * LARGEST)])
    saving = saving_talk.Saving((WORDS, GRID), "pptx", [full])
    assert saving_talk.taken(saving, {"grid": PNG}) == {"grid": None}


def test_the_code_of_a_scene_is_in_both_files(monkeypatch):
    monkeypatch.setattr(saving_talk.presenter, "link_of", lambda page, parameters: "http://a.org")
    app = talk_page(replace(GRID, qr_code=True))
    (slide,) = slides_in(save(app).file)
    assert [picture["part"] for picture in slide["pictures"]] == ["head_grid", "qr_code"]
    saving = save_for_powerpoint(app, {"grid": PNG, saving_talk.presenter.QR_CODE: PNG})
    (slide,) = Presentation(io.BytesIO(saving.file)).slides
    names = [shape.name for shape in slide.shapes if shape.shape_type == 13]
    assert names == ["all heads", "QR code of this scene"]
