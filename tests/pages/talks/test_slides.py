"""The titles that slides get from what a page says."""

import pytest

from headlight.pages.talks.slides import LONGEST_TITLE, shortened

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
