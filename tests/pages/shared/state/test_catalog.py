"""What to call a model on screen."""

import pytest

from headlight.pages.shared.state.catalog import DEFAULT, SHIPPED, library_entry, short


@pytest.mark.parametrize(
    ("name", "shown"),
    [("google-t5/t5-small", "google-t5/t5-small"), ("/a/b/c/d", "…/c/d"), (r"C:\a\b", "…/a/b")],
)
def test_of_a_long_path_the_end_is_shown(name, shown):
    assert short(name) == library_entry(name).title == shown


def test_what_a_model_is_given_to_read_has_its_article():
    assert SHIPPED[DEFAULT].asks_for == "an English sentence"
    assert library_entry("gpt2").asks_for == "a text"
