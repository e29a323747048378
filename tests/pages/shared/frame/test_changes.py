"""The line next to a page's title that says what a visitor changed."""

import pytest

from headlight.model.edits import CellEdit, Edits, write_edits
from headlight.pages.parts.pages import PAGES
from headlight.pages.shared.frame.changes import APPLIED, IGNORED, UNPADDED
from tests.matrix import first_of
from tests.pages.apps import address, go_to, open_page

OFF = Edits(
    gates={("cross", 0, 0): 0.0}, cells=[CellEdit("decoder", 2, key, False) for key in (0, 1)]
)
EDITS = write_edits(OFF)
SENTENCE = "I love my cat."


def said(app):
    """What the line says: how much is changed, and whether that is applied."""
    badges = [
        block.value
        for block in app.markdown
        if "-badge[" in block.value and "head off" in block.value
    ]
    words = [
        caption.value for caption in app.caption if caption.value in (*APPLIED.values(), IGNORED)
    ]
    return badges, words


@pytest.mark.parametrize("key", first_of(PAGES))
def test_every_page_says_what_is_changed_and_whether_it_is_applied(key):
    app = open_page(key, sentence=SENTENCE, edits=EDITS)
    assert not app.exception
    badges, words = said(app)
    assert len(badges) == 1
    assert "1 head off, 2 cells closed" in badges[0]
    assert words == [APPLIED[PAGES[key].changes]]


def test_a_padding_mask_that_is_off_is_said_to_hide_nothing_on_a_page_without_padding():
    edits = write_edits(Edits(off=["padding"]))
    said = f"{APPLIED['in force']} {UNPADDED}"
    for name in ("attention", "masks"):
        captions = [caption.value for caption in open_page(name, edits=edits).caption]
        assert (said in captions) == (name == "attention")


def test_nothing_is_said_of_a_model_as_trained():
    app = open_page(sentence=SENTENCE)
    assert said(app) == ([], [])
    assert not [button for button in app.button if button.key and button.key.endswith("-changes")]


def test_changes_are_ignored_on_every_page_that_can_until_they_are_applied_again():
    app = open_page(sentence=SENTENCE, edits=EDITS)
    app.button(key="ignore-changes").click().run()
    assert said(app)[1] == [IGNORED]
    assert address(app)["as_trained"] == "on"
    assert said(go_to(app, "decoding"))[1] == [IGNORED]
    app.button(key="ignore-changes").click().run()
    assert said(app)[1] == [APPLIED["in force"]]
    assert "as_trained" not in address(app)


def test_where_one_changes_more_all_of_it_is_applied_again():
    app = open_page(sentence=SENTENCE, edits=EDITS, as_trained="on")
    assert said(app)[1] == [IGNORED]
    assert said(go_to(app, "heads"))[1] == [APPLIED["all"]]
    assert said(go_to(app, "attention"))[1] == [APPLIED["in force"]]


def test_all_changes_are_undone_at_once_and_come_back_by_undo():
    app = open_page("heads", sentence=SENTENCE, edits=EDITS)
    app.button(key="undo-changes").click().run()
    assert said(app) == ([], [])
    (undo,) = [button for button in app.button if button.label == "Undo"]
    undo.click().run()
    assert len(said(app)[0]) == 1


def test_compare_shows_before_and_after():
    app = open_page("decoding", sentence=SENTENCE, edits=EDITS)
    app.button(key="compare-changes").click().run()
    assert app.title[0].value == "Compare"
    assert app.session_state["compare_b_edits"] == EDITS
    assert not app.session_state["compare_a_edits"]
