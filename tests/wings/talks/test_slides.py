"""The titles that slides get from what a page says, and the pictures that they begin with."""

import pytest

from headlight.pages.parts.pages import PAGES
from headlight.wings.talks.slides import LONGEST_TITLE, first_pictures, shortened, with_changes

LOST = "The translation loses “parce qu'ils l'appréciaient”"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Short: it stays", "Short: it stays"),
        (f"The translation stays the same: {'x' * 70}", "The translation stays the same"),
        (f"{LOST}, has “lirent” in place of “lisent”", f"{LOST} …"),
        (f"A: {'x' * 90}", f"A: {'x' * 75}…"),
        (f"A beam writes “{'x' * 20}: {'y' * 60}”", f"A beam writes “{'x' * 20}: {'y' * 41}…”"),
        (f"A beam writes “{'words ' * 20}”", f"A beam writes “{'words ' * 10}…”"),
        ("x" * 99, f"{'x' * 78}…"),
    ],
)
def test_a_title_keeps_whole_clauses_and_closes_its_quotation(said, title):
    assert shortened(said) == title
    assert len(title) <= LONGEST_TITLE


HEADS = [f"Cross-attention, layer 1, head {number} off" for number in (1, 2)]


@pytest.mark.parametrize(
    ("says", "changes", "title"),
    [
        ("The translation stays", "mask off", "Mask off: the translation stays"),
        (
            "The translation stays",
            "mask off; 1 cell closed",
            "Mask off, 1 cell closed: the translation stays",
        ),
        ("The translation stays", "a; b; c", "3 changes: the translation stays"),
        (
            "The translation stays",
            "a; b; 7 more heads off or faded",
            "9 changes: the translation stays",
        ),
        ("The translation stays", "; ".join(HEADS), "2 changes: the translation stays"),
        (LOST, HEADS[0], f"{HEADS[0]}: the translation loses “parce qu'ils …”"),
        (LOST, "x" * 50, LOST),
        ("“il” is lost", "a", "A: “il” is lost"),
    ],
)
def test_a_title_begins_with_what_was_changed_if_that_is_short(says, changes, title):
    assert with_changes(says, changes) == title
    assert len(title) <= LONGEST_TITLE


def test_a_new_slide_shows_a_picture_of_the_page():
    for page in PAGES.values():
        if page.pictures:
            assert first_pictures(page)
            assert {*first_pictures(page)} <= {*page.pictures}
