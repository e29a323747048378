"""Captions whose terms tell what they mean."""

from headlight.pages.shared.show.glossary import GLOSSARY, marked
from tests.pages.apps import open_page


def test_the_first_of_each_term_tells_its_meaning():
    words = marked("A query, and queries; a query again. Keys are no `key`.", set())
    assert words.count('class="term"') == 2
    assert f'data-meaning="{GLOSSARY["query"]}"'.replace("'", "&#x27;") in words
    assert words.endswith("are no `key`.")


def test_what_was_told_is_not_told_again():
    told = {"query"}
    assert marked("A query.", told) == "A query."
    assert "term" in marked("A head.", told)
    assert told == {"query", "head"}


def test_the_longer_term_wins_and_parts_of_words_are_no_terms():
    words = marked("The look-ahead mask unmasked; arrow keys; log-probability.", set())
    assert "look-ahead mask: Closes" in words
    assert "log-probability: The natural" in words
    assert words.count('class="term"') == 2


def test_markup_in_a_caption_is_text():
    assert marked("<img src=x> & `<end>`", set()) == "&lt;img src=x&gt; &amp; `<end>`"


def test_pages_explain_their_terms():
    app = open_page("masks", sentence="I love my cat.")
    assert not app.exception
    assert any('class="term"' in caption.value for caption in app.caption)


def test_all_terms_stand_on_the_page_of_the_model():
    app = open_page("model")
    (listed,) = [block.value for block in app.markdown if block.value.startswith("- **token**")]
    assert all(f"**{term}**" in listed for term in GLOSSARY)
