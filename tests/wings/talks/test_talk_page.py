"""The ready talk, and the page that talks are made on."""

import re
from dataclasses import replace
from unittest.mock import patch
from urllib.parse import urlencode

import pytest

from headlight.model.edits import Edits, write_edits
from headlight.pages.parts.pages import PAGES
from headlight.pages.shared.show.question import NEEDED
from headlight.pages.shared.state.choices import GUESS
from headlight.pages.shared.state.models import LIBRARY
from headlight.wings.atlas.page.figures import TAB as ATLAS_TAB
from headlight.wings.talks import kept, scenes
from headlight.wings.talks.page import boxes
from headlight.wings.talks.slides import MOST_SLIDES, Slide, write_talk
from headlight.wings.talks.talk import TALKS, shipped
from headlight.wings.talks.talk_file import read_talk
from tests.pages.apps import address as address_of
from tests.pages.apps import (
    button,
    drawn,
    edited,
    go_to,
    keep,
    new_app,
    on_stage,
    open_page,
    texts_on_stage,
    with_heads_measured,
)
from tests.pages.pictures import canvas_pictures

TALK = shipped()


def ask(app, what, place, to=None):
    """Click something of a slide in the list, by its place from 0."""
    keep, left = kept.keep, [(what, place, to)]

    def clicked():
        while left:  # once, though the run may go on with another page
            boxes.do(*left.pop())
        keep()

    with patch.object(kept, "keep", clicked):
        app.run()
    if what == "open":  # what a callback in the app brings about, here after the page was drawn
        app.query_params.clear()
        app.switch_page(PAGES[app.session_state["talk"][place].page].file)
    return app.run()


def listed(app):
    """The header of the list of slides."""
    return next(header for header, _ in canvas_pictures(app) if "edited" in header)


@pytest.mark.parametrize(("name", "count"), [("attention", 19), ("five_minutes", 7)])
def test_every_slide_has_a_title_words_and_notes_and_nothing_is_left_out(name, count):
    slides, notes = read_talk((TALKS / f"{name}.json").read_bytes())
    assert notes == ()
    assert len(slides) == count
    for slide in slides:
        assert slide.title
        assert slide.words
        assert 30 <= len(slide.notes.split()) <= 60
        assert bool(slide.page) == bool(slide.pictures) == ("sentence" in slide.parameters)
    first, *_, last = slides
    assert not any(slide.page for slide in (first, last))


@pytest.fixture(scope="module")
def models(make_bert_folder, transformers_folders):
    """Addresses of the shipped model, of one with a hidden word, and of one that goes on."""
    folders = make_bert_folder(), transformers_folders["GPT-2"]
    bert, goes_on = ({"model": LIBRARY + keep(folder)} for folder in folders)
    return {}, bert | {"masked": "2", "kind": "encoder"}, goes_on | {"kind": "decoder"}


# See test_training.py.
# Those of a model with rotary positions, which tests/pages/test_positions.py draws.
OF_TURNED_HEADS = {"rotary-clocks", "rotary-distances", "rotary-rows", "rotary-wavelengths"}
OF_A_TRAINING = {"toy_film", "toy_curves", "toy_output", "toy_answer", "toy_lesion"}
OF_TWO_CHOICES = [{ATLAS_TAB.key: "head", "kind": "encoder"}]
CHANGED = {"edits": "gate.cross.1.4.0"}  # which changes the translation


@pytest.mark.matrix
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES.values() if page.pictures],
    ids=lambda page: page.key,
)
def test_the_pictures_that_can_be_chosen_are_on_their_pages(page, models):
    scenes = [{}, CHANGED, *({item.key: key} for item in page.choices for key in item.options)]
    scenes += [{choice.key: "on"} for choice in page.choices if choice.default is False]
    scenes += [
        two
        for two in OF_TWO_CHOICES
        if two.keys() <= {linked_choice.key for linked_choice in page.linked}
    ]
    missing = set(page.pictures) - OF_A_TRAINING - OF_TURNED_HEADS
    for base in models:
        for scene in scenes:
            if missing:
                app = with_heads_measured(open_page(page.key, **base, **scene))
                missing -= set(app.session_state["pictures_drawn"])
    assert not missing


def test_a_slide_measures_which_heads_matter():
    app = new_app(talk="1")
    sentence = {"sentence": "She sold eleven boats."}  # that no other test measures
    app.session_state["talk"] = (Slide("heads", sentence, pictures=("effects",)),)
    app.run()
    assert not app.exception
    assert on_stage(app) == ["effects"]


@pytest.mark.parametrize(
    ("page", "parameters"),
    [
        ("attention", {"model": f"{LIBRARY}<b>gone"}),
        ("compare", {"compare_a": urlencode({"model": f"{LIBRARY}<b>gone"})}),
    ],
)
def test_a_slide_says_why_its_picture_cannot_be_shown(page, parameters):
    app = new_app(talk="1")
    app.session_state["talk"] = (Slide(page, parameters, pictures=tuple(PAGES[page].pictures)[:1]),)
    app.run()
    assert not app.exception
    assert any("<b>gone is not in memory" in text for text in texts_on_stage(app))


def test_a_scene_is_added_given_words_moved_and_removed():
    app = open_page("masks", sentence="We sing.")
    button(app, "Add to talk").click().run()
    app.query_params.clear()
    go_to(app, "attention")
    app.segmented_control(key="picture").set_value("lines").run()
    button(app, "Add to talk").click().run()
    app.query_params.clear()
    go_to(app, "talk")
    first, second = app.session_state["talk"]
    title = "Mask in force, Decoder, masked, layer 2, head 1"
    parameters = {"v": "2", "sentence": "We sing.", "head": "1"}
    expected = Slide("masks", parameters, title, "", ("matrix",))
    assert first == replace(expected, drawn=first.drawn, lead=title)
    parameters |= {"picture": "lines"}
    expected = Slide("attention", parameters, "", "", ("lines",))
    drawn = ("source", "target-tokens", "grid", "lines")
    lead = second.lead
    assert second == replace(expected, drawn=drawn, title=lead, lead=lead)
    assert re.fullmatch("“.*” gives 0.... of its attention to “.*”", lead)
    app.text_input(key="slide-0-title").set_value("<b>Words").run()
    app.text_area(key="slide-0-notes").set_value("Say this.").run()
    app.multiselect(key="slide-0-pictures").set_value(["trained", "matrix"]).run()
    ask(app, "move", 0, to=1)
    first, second = app.session_state["talk"]
    assert (first.title, second.title) == (lead, "<b>Words")
    assert second.pictures == ("trained", "matrix")
    assert second.notes == "Say this."
    assert listed(app)["edited"] == 1
    assert edited(app.text_input, "slide-1-title").value == "<b>Words"
    assert edited(app.multiselect, "slide-1-pictures").value == ["trained", "matrix"]
    ask(app, "remove", 0)
    assert app.session_state["talk"] == (second,)
    assert edited(app.text_input, "slide-0-title").value == "<b>Words"
    button(app, "Undo").click().run()
    assert edited(app.text_input, "slide-1-title").value == "<b>Words"


@pytest.mark.parametrize(
    ("page", "held"),
    [
        ("positions", {"sentence", "kind", "head"}),
        ("compare", set()),
        ("masks", {"sentence", "edits", "head"}),
    ],
)
def test_a_slide_holds_what_its_pictures_depend_on_and_no_other_choice(page, held):
    chosen = {"sentence": "We sing.", "kind": "encoder", "head": "2", "as_trained": "on"}
    app = open_page("attention", edits="gate.cross.2.5.0", **chosen)
    app.query_params.clear()
    go_to(app, page)
    button(app, "Add to talk").click().run()
    (slide,) = app.session_state["talk"]
    assert slide.parameters.keys() - {"v"} == held


@pytest.mark.parametrize(
    ("edits", "pictures"),
    [
        ("gate.cross.1.4.0", ("matrix", "trained", "changed")),
        ("close.decoder.all.all.13.13", ("matrix", "changed")),
    ],
)
def test_a_slide_shows_the_mask_and_what_it_did_to_the_text(edits, pictures):
    app = open_page("masks", edits=edits)
    button(app, "Add to talk").click().run()
    (slide,) = app.session_state["talk"]
    assert slide.pictures == pictures


def test_the_boxes_of_one_slide_are_open_at_a_time():
    app = open_page("talk")
    button(app, "Edit a copy of the ready talk").click().run()
    ask(app, "edit", 2)
    assert [box.label for box in app.text_input] == ["Title"]
    assert edited(app.text_input, "slide-2-title").value == TALK[2].title
    header = listed(app)
    assert [row["title"] for row in header["slides"]] == [slide.title for slide in TALK]
    assert header["edited"] == 2


def test_a_slide_is_opened_changed_on_its_page_and_updated():
    slides = (
        Slide("masks", {"sentence": "We sing."}, "My own title", "Words", ("trained",)),
        Slide("decoding", {"sentence": "We sing."}, pictures=("player",)),
    )
    app = new_app()
    app.session_state["talk"] = slides
    go_to(app, "talk")
    ask(app, "open", 0)
    assert app.title[0].value == "Masks"
    assert app.text_input(key="sentence").value == "We sing."
    app.text_input(key="sentence").set_value("They go.").run()
    button(app, "Update slide 1").click().run()
    assert [toast.value for toast in app.toast] == [scenes.UPDATED.format(number=1)]
    first, second = app.session_state["talk"]
    assert first.parameters == {"v": "2", "sentence": "They go.", "head": "1"}
    assert (first.title, first.words, first.pictures) == ("My own title", "Words", ("trained",))
    assert "matrix" in first.drawn
    assert second is slides[1]
    app.query_params.clear()
    go_to(app, "talk")
    assert listed(app)["opened"] == 0
    ask(app, "move", 0, to=1)
    assert listed(app)["opened"] == 1
    ask(app, "remove", 1)
    assert listed(app)["opened"] == -1


def test_a_slide_can_be_updated_only_on_its_page_until_that_is_left():
    app = new_app()
    app.session_state["talk"] = (Slide("masks", {}, pictures=("matrix",)),)
    go_to(app, "talk")
    ask(app, "open", 0)
    labels = [
        [item.label for item in go_to(app, page).button] for page in ("masks", "heads", "masks")
    ]
    assert ["Update slide 1" in each for each in labels] == [True, False, False]


def test_opening_a_slide_that_asks_turns_guess_first_on_for_no_page():
    scene = {"layer": "2", "head": "2", "guess": "on", "guess_row": "3"}
    app = new_app()
    app.session_state["talk"] = (Slide("attention", scene, pictures=("heatmap",)),)
    go_to(app, "talk")
    ask(app, "open", 0)
    assert "heatmap" in drawn(app)
    button(app, "Update slide 1").click().run()
    (slide,) = app.session_state["talk"]
    assert {"guess": "on", "guess_row": "3"}.items() <= slide.parameters.items()
    app.query_params.clear()
    for page in ("heads", "inside"):
        assert not go_to(app, page).toggle(key="guess").value


@pytest.mark.parametrize(
    ("page", "key", "value"),
    [
        ("heads", "edits", Edits(gates={("cross", 0, 3): 0.0})),
        ("masks", "edits", Edits(off={"look-ahead"})),
        ("decoding", "strategy", "beam"),
        ("attention", "picture", "heatmap"),
    ],
)
def test_an_update_shows_what_a_new_slide_of_the_scene_would(page, key, value):
    def added(**parameters):
        app = open_page(page, sentence="We sing.", **parameters)
        button(app, "Add to talk").click().run()
        return app

    written = write_edits(value) if key == "edits" else value
    app, (expected,) = added(picture="lines"), added(**{key: written}).session_state["talk"]
    (before,) = app.session_state["talk"]
    assert before.pictures != expected.pictures
    app.query_params.clear()
    go_to(app, "talk")
    ask(app, "open", 0)
    if key == "edits":
        key, value = "histories", {"en-fr": [Edits(), value]}
    app.session_state[key] = value
    app.run()
    button(app, "Update slide 1").click().run()
    (updated,) = app.session_state["talk"]
    assert (updated.pictures, updated.title) == (expected.pictures, expected.title)


def test_a_slide_that_was_added_while_its_page_was_left_has_pictures():
    app = open_page("heads", sentence="We sing.")
    button(app, "Add to talk").click()
    app.switch_page("pages/masks.py").run()
    (slide,) = app.session_state["talk"]
    assert (slide.page, slide.pictures) == ("heads", ("switchboard",))


def test_a_picture_that_an_update_no_longer_draws_gives_way_to_the_first_ones():
    app = open_page("attention", sentence="We sing.", picture="lines")
    button(app, "Add to talk").click().run()
    (slide,) = app.session_state["talk"]
    chosen = ("lines", "grid")
    assert {*chosen} <= {*slide.drawn}
    app.session_state["talk"] = (replace(slide, pictures=chosen),)
    app.query_params.clear()
    go_to(app, "talk")
    ask(app, "open", 0)
    app.segmented_control(key="picture").set_value("heatmap").run()
    button(app, "Update slide 1").click().run()
    (slide,) = app.session_state["talk"]
    assert slide.pictures == ("heatmap", "grid")


def test_an_update_renews_a_title_that_nobody_gave():
    app = open_page("masks", sentence="We sing.")
    button(app, "Add to talk").click().run()
    kept = write_talk(app.session_state["talk"]).encode()  # by the browser, over a reload
    app.session_state["talk"], _ = read_talk(kept, kept=True)
    app.query_params.clear()
    go_to(app, "talk")
    ask(app, "open", 0)
    app.selectbox(key="head").set_value(2).run()
    button(app, "Update slide 1").click().run()
    (slide,) = app.session_state["talk"]
    assert slide.title == "Mask in force, Decoder, masked, layer 2, head 3"


def test_guess_first_asks_about_the_pinned_token_and_takes_a_title_that_tells():
    app = open_page("attention", sentence="We sing.", kind="encoder", head="2", lit="q2")
    button(app, "Add to talk").click().run()
    app.query_params.clear()
    go_to(app, "talk")
    (plain,) = app.session_state["talk"]
    assert plain.title.startswith("“sing” gives ")
    edited(app.toggle, "slide-0-guess").set_value(True).run()
    (asking,) = app.session_state["talk"]
    assert asking.title == ""
    assert edited(app.text_input, "slide-0-title").placeholder == boxes.LEFT_OUT
    assert asking.parameters == plain.parameters | {"guess": "on", "guess_row": "2"}
    edited(app.toggle, "slide-0-guess").set_value(False).run()
    (again,) = app.session_state["talk"]
    assert (again.title, again.parameters.get("guess")) == (plain.title, None)


@pytest.mark.parametrize("page", PAGES.values(), ids=lambda page: page.key)
def test_a_page_with_riddles_keeps_the_switch_in_its_link(page):
    assert {*page.riddles} <= page.pictures.keys()
    assert bool(page.riddles) == (GUESS in page.linked)


def reasons(app):
    """Why a slide cannot ask about its pictures, as far as the page says it."""
    said = (caption.value for caption in app.caption)
    return " ".join(words for words in said if words.startswith("“Guess first” needs one of"))


def test_a_slide_without_a_picture_to_guess_says_which_ones_are():
    app = open_page("heads", sentence="We sing.")
    button(app, "Add to talk").click().run()
    app.query_params.clear()
    go_to(app, "talk")
    toggle = edited(app.toggle, "slide-0-guess")
    assert toggle.disabled
    assert "one head as a heatmap" in reasons(app)
    (slide,) = app.session_state["talk"]
    drawn = (*slide.pictures, "map")  # what the slide has shown: the others cannot be chosen
    app.session_state["talk"] = [replace(slide, drawn=drawn)]
    app.run()
    pictures = PAGES["heads"].pictures
    assert pictures["map"] in reasons(app)
    assert pictures["role-scores"] not in reasons(app)
    app.session_state["talk"] = [replace(slide, drawn=drawn, pictures=("map",))]
    app.run()
    assert not edited(app.toggle, "slide-0-guess").disabled
    assert reasons(app) == ""
    app.session_state["talk"] = [replace(slide, drawn=slide.pictures)]
    app.run()
    assert not any("slide-0-guess" in str(toggle.key) for toggle in app.toggle)


@pytest.mark.parametrize(
    ("page", "parameters", "title"),
    [
        ("decoding", {"strategy": "beam", "beam_size": "3"}, "A beam of size 3 writes “Le "),
        ("positions", {"positions_tab": "sinusoids"}, "Curves of sinusoids, "),
        ("training", {}, "Learning rate by step"),
        ("inside", {"query": "1", "key": "1"}, "How “<start> → Le” gives 0."),
        ("inside", {"inside_tab": "why", "query": "1", "key": "1"}, "Why “<start> → Le” gives 0."),
        ("atlas", {}, "Encoder, layer 4, head 2 has the largest mean of “previous token”, 0."),
    ],
)
def test_a_new_slide_is_titled_by_what_its_page_says_or_shows(page, parameters, title):
    app = open_page(page, **parameters)
    button(app, "Add to talk").click().run()
    (slide,) = app.session_state["talk"]
    assert slide.title.startswith(title)


def test_a_scene_without_pictures_leaves_the_slide_that_was_opened():
    slide = Slide("positions", {"positions_tab": "sinusoids"}, "Clocks", pictures=("clocks",))
    app = new_app()
    app.session_state["talk"] = (slide,)
    go_to(app, "talk")
    ask(app, "open", 0)
    app.segmented_control(key="positions_tab").set_value("beyond").run()
    button(app, "Update slide 1").click().run()
    assert [toast.value for toast in app.toast] == [scenes.NOTHING_DRAWN]
    assert app.session_state["talk"] == (slide,)
    assert button(app, "Update slide 1")


def test_slides_of_words_alone_are_added_first_and_last():
    app = new_app()
    app.session_state["talk"] = TALK[1:3]
    go_to(app, "talk")
    button(app, "Add a title slide").click().run()
    button(app, "Add a closing slide").click().run()
    first, *between, last = app.session_state["talk"]
    assert between == list(TALK[1:3])
    assert first.page == last.page == ""
    assert first.title
    assert not listed(app)["slides"][0]["opens"]
    assert listed(app)["edited"] == 3
    assert not app.multiselect
    assert read_talk(write_talk(app.session_state["talk"]).encode())[1] == ()


def test_a_question_is_typed_on_a_slide_and_says_what_it_lacks():
    app = new_app()
    app.session_state["talk"] = TALK[1:2]
    go_to(app, "talk")
    for question, warnings in (("Which?\none", [NEEDED]), ("Which?\none\ntwo", [])):
        app.text_area(key="slide-0-question").set_value(question).run()
        assert app.session_state["talk"][0].question == question
        assert [warning.value for warning in app.warning] == warnings


def test_what_is_typed_reaches_its_slide_though_that_was_moved_meanwhile():
    app = new_app()
    app.session_state["talk"] = TALK[1:4]
    go_to(app, "talk")
    app.text_area(key="slide-0-notes").set_value("Say this.")
    ask(app, "move", 0, to=2)
    *_, last = app.session_state["talk"]
    assert (last.title, last.notes) == (TALK[1].title, "Say this.")


def test_a_slide_is_duplicated_beside_itself():
    app = new_app()
    app.session_state["talk"] = TALK[1:3]
    go_to(app, "talk")
    ask(app, "duplicate", 0)
    assert app.session_state["talk"] == (TALK[1], TALK[1], TALK[2])
    names = [row["name"] for row in listed(app)["slides"]]
    assert len(set(names)) == 3
    assert listed(app)["edited"] == 1
    app.session_state["talk"] = TALK[1:2] * MOST_SLIDES
    app.run()
    ask(app, "duplicate", 0)
    assert len(app.session_state["talk"]) == MOST_SLIDES


@pytest.mark.parametrize(
    "asked",
    [
        7,
        {"does": "remove", "slide": "another"},
        {"does": "move", "slide": 0, "to": 99},
        {"does": "move", "slide": 0, "to": "1"},
        {"does": "dance", "slide": 0},
        {"does": ["remove"], "slide": 0},
    ],
)
def test_what_the_list_cannot_ask_is_left_alone(asked):
    app = new_app()
    app.session_state["talk"] = TALK[1:3]
    go_to(app, "talk")
    if isinstance(asked, dict) and asked["slide"] == 0:
        asked = asked | {"slide": listed(app)["slides"][0]["name"]}
    keep = kept.keep
    with (
        patch.object(boxes, "all_picked", lambda key: [asked]),
        patch.object(kept, "keep", lambda: (boxes.take(), keep())),
    ):
        app.run()
    assert not app.exception
    assert app.session_state["talk"] == TALK[1:3]


def test_a_new_slide_offers_and_shows_what_its_page_draws_then():
    app = open_page("positions", positions_tab="sinusoids")
    button(app, "Add to talk").click().run()
    assert [toast.value for toast in app.toast] == [scenes.ADDED.format(number=1)]
    (slide,) = app.session_state["talk"]
    assert slide.pictures == ("curves",), "those of a new slide are not drawn here"
    assert slide.drawn == ("curves", "table", "dot products", "by offset", "clocks")
    app.segmented_control(key="positions_tab").set_value("beyond").run()
    assert not set(PAGES["positions"].pictures) & set(drawn(app))
    button(app, "Add to talk").click().run()
    assert [toast.value for toast in app.toast] == [scenes.NOTHING_DRAWN]
    assert app.session_state["talk"] == (slide,)
    go_to(app, "talk")
    names = [PAGES["positions"].pictures[key] for key in slide.drawn]
    assert edited(app.multiselect, "slide-0-pictures").options == names


def test_a_slide_of_pictures_that_its_scene_does_not_draw_says_so_and_offers_others():
    slide = Slide("attention", {}, pictures=("lines",), drawn=("grid", "heatmap"))
    app = new_app()
    app.session_state["talk"] = (slide, replace(slide, pictures=("grid",)))
    go_to(app, "talk")
    (warning,) = app.warning
    assert "one head as lines" in warning.value
    (box,) = app.multiselect
    assert box.options == ["all heads", "one head as a heatmap", "one head as lines"]
    ask(app, "edit", 1)
    (box,) = app.multiselect
    assert box.options == ["all heads", "one head as a heatmap"]


@pytest.mark.parametrize("count", [3, 4])
def test_pictures_that_will_be_small_because_they_are_many_are_said_to_be(count):
    pictures = ("source", "target-tokens", "grid", "heatmap")[:count]
    app = new_app()
    app.session_state["talk"] = (Slide("attention", pictures=pictures),)
    go_to(app, "talk")
    said = "4 pictures will be small on one slide."
    assert (said in [caption.value for caption in app.caption]) == (count == 4)


def test_removing_all_slides_can_be_undone_and_so_can_other_changes():
    app = open_page("talk")
    assert button(app, "Undo").disabled
    button(app, "Edit a copy of the ready talk").click().run()
    ask(app, "remove", 0)
    button(app, "Remove all slides").click().run()
    assert "Undo" in app.toast[0].value
    assert app.session_state["talk"] == ()
    for slides in (TALK[1:], TALK, ()):
        button(app, "Undo").click().run()
        assert app.session_state["talk"] == slides
    assert button(app, "Undo").disabled


def test_undo_names_the_slide_that_it_gives_back():
    app = open_page("talk")
    button(app, "Edit a copy of the ready talk").click().run()
    ask(app, "edit", 2)
    edited(app.text_area, "slide-2-notes").set_value("Other notes").run()
    ask(app, "edit", 0)
    button(app, "Undo").click().run()
    assert app.session_state["talk"] == TALK
    assert [toast.value for toast in app.toast] == [boxes.UNDONE.format(number=3)]
    ask(app, "remove", 1)
    button(app, "Undo").click().run()
    assert [toast.value for toast in app.toast] == [boxes.BACK.format(number=2)]


def test_a_slide_is_presented_from_its_row():
    app = open_page("talk")
    button(app, "Edit a copy of the ready talk").click().run()
    ask(app, "present", 2)
    assert on_stage(app) == list(TALK[2].pictures)
    assert address_of(app) == {"talk": "3", "ready_talk": "own"}


def test_a_file_is_loaded_and_a_bad_one_leaves_the_talk():
    app = open_page("talk")
    data = write_talk(TALK[:2]).encode()
    app.file_uploader[0].upload("talk.json", data, "application/json").run()
    assert app.session_state["talk"] == TALK[:2]
    assert [toast.value for toast in app.toast] == ["2 slides were loaded."]
    app.file_uploader[0].upload("bad.json", b"{}", "application/json").run()
    assert not app.exception
    assert any("not a talk" in text.value for text in app.text)
    assert app.session_state["talk"] == TALK[:2]
    data = write_talk(TALK[:3]).encode()
    app.file_uploader[0].upload("more.json", data, "application/json").run()
    (toast,) = app.toast
    assert toast.value == "3 slides were loaded. “Undo” brings the earlier ones back."
    app.file_uploader[0].upload("same.json", data, "application/json").run()
    assert [toast.value for toast in app.toast] == ["3 slides were loaded."], "nothing to undo"


def test_the_tour_is_offered_until_something_is_changed():
    app = open_page()
    label = f"Take the tour ({len(TALK)} scenes)"
    button(app, label).click().run()
    assert app.session_state["slide"] == 1
    app.session_state["turning"] = None
    app.run()
    assert app.title[0].value == "Attention"
    assert label in [item.label for item in app.button]
    button(app, "Switch this head off").click().run()
    assert label not in [item.label for item in app.button]


def test_the_tour_is_offered_next_to_own_slides_which_stay():
    app = new_app()
    app.session_state["talk"] = TALK[3:5]
    app.run()
    button(app, f"Take the tour ({len(TALK)} scenes)").click().run()
    assert counted_slides(app) == len(TALK)
    assert app.query_params["ready_talk"] == "attention"
    again = new_app(talk="2", ready_talk="attention")
    again.session_state["talk"] = TALK[3:5]
    assert counted_slides(again.run()) == len(TALK)
    app.session_state["turning"] = None
    app.run()
    assert app.session_state["talk"] == TALK[3:5]
    app.button(key="present").click().run()
    assert counted_slides(app) == 2
    assert app.query_params["ready_talk"] == "own"


def counted_slides(app):
    """How many slides the talk has that is shown."""
    (slide,) = (header for header, _ in canvas_pictures(app) if "coming" in header)
    return slide["count"]


def test_another_ready_talk_is_chosen_on_the_page_and_named_in_the_address_of_its_slides():
    app = open_page("talk")
    app.segmented_control(key="ready_talk").set_value("five_minutes").run()
    assert "of 7 slides" in app.info[0].value
    app.button(key="present-all").click().run()
    assert app.query_params["talk"] == "1"
    assert app.query_params["ready_talk"] == "five_minutes"
    for name, count in (("five_minutes", 7), ("no such", 19)):
        again = new_app(talk="7", ready_talk=name).run()
        assert counted_slides(again) == count


@pytest.mark.parametrize("host", ["localhost", "192.168.0.2"])
def test_a_code_is_switched_on_and_says_if_phones_cannot_reach_it(host, monkeypatch):
    monkeypatch.setattr(boxes, "link_of", lambda page, parameters: f"http://{host}:8501/")
    app = new_app()
    app.session_state["talk"] = TALK[3:5]
    go_to(app, "talk")
    assert not app.info
    edited(app.toggle, "slide-0-qr_code").set_value(True).run()
    assert [slide.qr_code for slide in app.session_state["talk"]] == [True, False]
    assert ["headlight --share" in note.value for note in app.info] == [True] * (
        host == "localhost"
    )
