"""What a class's link leaves open."""

import re
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import headlight.pages.parts.pages  # noqa: F401 - lists the pages
from headlight.pages.shared.state.choices import MASKED, SECOND
from headlight.pages.shared.state.page import PAGES
from headlight.wings.classroom import wing
from headlight.wings.classroom.wing import BUTTONS, CLICKS, CONTROLS, Lesson, read, write
from tests.pages.apps import button, open_page, open_with
from tests.pages.pictures import canvas_pictures

LESSONS = st.builds(
    Lesson,
    st.lists(st.sampled_from(["attention", "heads", "masks"]), unique=True).map(tuple),
    st.lists(st.sampled_from(["sentence", "head", CLICKS, BUTTONS]), unique=True).map(tuple),
)


@given(LESSONS)
def test_what_is_written_is_read(lesson):
    assert read(write(lesson)) == lesson


def test_what_is_not_named_is_closed_and_nothing_named_is_all_open():
    lesson = read("heads:sentence,clicks")
    assert lesson.has(PAGES["heads"])
    assert not lesson.has(PAGES["attention"])
    assert lesson.allows("sentence")
    assert not lesson.allows("head")
    assert all(Lesson().has(page) for page in PAGES.values())
    assert Lesson().allows(BUTTONS)


@pytest.mark.parametrize(
    "text", ["<b>", "heads,", "heads:a b", "nothing", "heads:nothing", "Heads", "é", ":,"]
)
def test_what_makes_no_sense_is_refused(text):
    with pytest.raises(ValueError, match=r"no page|no list|no control"):
        read(text)


def test_all_controls_of_a_page_can_be_named():
    for page in PAGES.values():
        controls = [choice.key for choice in page.linked]
        lesson = Lesson((page.key,), (*controls, CLICKS, BUTTONS))
        assert read(write(lesson)) == lesson
    with pytest.raises(ValueError, match="at most 4,000 characters"):
        read("heads:" + "sentence," * 1_000)


@given(st.text())
def test_any_text_is_read_or_refused(text):
    try:
        lesson = read(text)
    except ValueError:
        return
    assert set(lesson.pages) <= set(PAGES)


@pytest.mark.parametrize(
    ("controls", "may_change"), [("edits", True), ("clicks", True), ("head", False)]
)
def test_changes_are_open_to_a_class_on_the_board_and_in_the_mask_alike(controls, may_change):
    masks, heads = (open_page(page, workshop=f":{controls}") for page in ("masks", "heads"))
    (matrix,) = (header for header, _ in canvas_pictures(masks) if "editable" in header)
    assert matrix["editable"] == may_change
    says_closed = any("you cannot switch" in caption.value for caption in heads.caption)
    assert says_closed != may_change


@pytest.mark.parametrize("page", ["attention", "masks"])
def test_a_teacher_is_offered_controls_by_their_names_on_screen(page):
    app = open_page(page)
    button(app, "QR").click().run()
    (offered,) = (box.options for box in app.multiselect if box.label == wing.NAMED)
    assert {"Sentence", "Layer", "Head", "Changes"} <= {*offered}
    assert len({*offered}) == len(offered)
    assert not any("_" in label or label.islower() for label in {*offered} - {*CONTROLS.values()})


def test_the_link_for_a_class_has_what_other_wings_keep_in_addresses(monkeypatch):
    kept = "first_steps.3"
    other = SimpleNamespace(parameter="exercises", kept=lambda: kept)
    monkeypatch.setattr(wing, "WINGS", [wing.WING, other])
    app = open_page("attention", sentence="We sing.")
    button(app, "QR").click().run()
    (link,) = (code.value for code in app.code)
    assert parse_qs(urlsplit(link).query)["exercises"] == [kept]
    assert parse_qs(urlsplit(link).query)["sentence"] == ["We sing."]


def test_a_teacher_is_offered_a_second_sentence_only_for_a_model_that_reads_two(bert_folder):
    def offered(app):
        button(app, "QR").click().run()
        return next(box.options for box in app.multiselect if box.label == wing.NAMED)

    assert not {SECOND.label, MASKED.label} & {*offered(open_page("attention"))}
    assert SECOND.label in offered(open_with(bert_folder, "attention"))


CLICK = re.compile(r"\bclick\b", re.IGNORECASE)


@pytest.mark.parametrize(
    ("page", "view"),
    [
        ("attention", {"picture": "heatmap"}),
        ("attention", {"picture": "lines"}),
        ("heads", {}),
        ("decoding", {}),
        ("decoding", {"strategy": "beam"}),
    ],
)
def test_no_sentence_asks_a_class_for_clicks_that_are_closed_to_it(page, view):
    def asked(controls):
        captions = open_page(page, workshop=f":{controls}", **view).caption
        return [caption.value for caption in captions if CLICK.search(caption.value)]

    assert asked("head,clicks")
    assert not asked("head")


@pytest.mark.parametrize(("controls", "keeps"), [("head,clicks", True), ("head", False)])
def test_a_class_keeps_the_lines_of_a_token_only_if_clicks_are_open(controls, keeps):
    app = open_page("attention", workshop=f":{controls}", picture="lines")
    (lines,) = (header for header, _ in canvas_pictures(app) if "keeps" in header)
    assert lines["keeps"] == keeps
