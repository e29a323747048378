"""Captions whose terms tell what they mean, and what labels and captions say of a run."""

import re
from pathlib import Path

import pytest

from headlight.pages.parts.inside.words import TAB_WORDS, WHY_WORDS
from headlight.pages.parts.positions.words import BEYOND_WORDS
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show import captions
from headlight.pages.shared.show.captions import AMBIGUOUS, GLOSSARY, labels_of, marked
from tests.pages.apps import open_page
from tests.pages.shared.runs.conftest import loaded, one_session

__all__ = ["loaded", "one_session"]

SENTENCE = "I love my cat."


@pytest.mark.parametrize("kind", ["decoder", "cross"])
def test_a_decoders_row_names_what_it_reads_and_what_it_writes(kind, shipped, one_session):
    queries, keys = labels_of(ModelRun(SENTENCE), kind)
    translation = shipped.translate(SENTENCE)
    written = [token.text for token in translation.target_tokens]
    written = written[:-1] if written[-1] == "<end>" else written
    read = ["<start>", *written]
    assert queries == [
        f"{one} → {next}" for one, next in zip(read, [*written, "<end>"], strict=True)
    ]
    source = [token.text for token in translation.source_tokens]
    assert keys == (source if kind == "cross" else read)


def test_a_given_target_is_what_a_row_is_made_to_write(one_session):
    queries, _ = labels_of(ModelRun(SENTENCE, target="Le chat."), "cross")
    assert queries[0] == "<start> → Le"
    assert queries[-1] == ". → <end>"


def test_padding_and_an_encoder_write_nothing(one_session):
    run = ModelRun(SENTENCE, pad_to=12)
    queries, _ = labels_of(run, "decoder")
    assert queries[-1] == "<pad>"
    queries, keys = labels_of(run, "encoder")
    assert queries == keys


def test_a_decoder_alone_is_read_as_the_text_it_is(transformers_folders, loaded, one_session):
    run = ModelRun(SENTENCE, model=loaded(transformers_folders["GPT-2"]))
    queries, keys = labels_of(run, "decoder")
    assert queries == keys


def test_the_first_of_each_term_tells_its_meaning():
    words = marked("A query, and queries; a query again. Tokens are no `token`.", set())
    assert words.count('class="term"') == 2
    assert f'data-meaning="{GLOSSARY["query"]}"'.replace("'", "&#x27;") in words
    assert words.endswith("are no `token`.")


@pytest.mark.parametrize("term", sorted(AMBIGUOUS))
def test_a_word_of_two_meanings_is_a_term_only_where_its_sentence_says_so(term):
    assert marked(f"A {term}, its {term}s, {term.title()}s.", set()) == (
        f"A {term}, its {term}s, {term.title()}s."
    )
    told = set()
    words = marked(f"A {term}, [{term}s], [{term}].", told)
    assert words.startswith(f"A {term}, <span")
    assert words.endswith(f">{term}s</span>, {term}.")
    assert told == {term}


def test_words_in_brackets_are_terms_of_the_glossary():
    for path in Path(captions.__file__).parents[2].rglob("words.py"):
        for words in re.findall(r"[ *\"(]\[([a-z]+)\][^(]", path.read_text()):
            assert words in GLOSSARY or words.removesuffix("s") in GLOSSARY, (path, words)


@pytest.mark.parametrize(
    ("words", "term"),
    [
        (BEYOND_WORDS["honest"], "value"),
        (WHY_WORDS["limits"], "value"),
        (TAB_WORDS["words"], "key"),
    ],
)
def test_an_everyday_word_is_not_explained_as_attentions(words, term):
    told = set()
    marked(words, told)
    assert term not in told


def test_what_was_told_is_not_told_again():
    told = {"query"}
    assert marked("A query.", told) == "A query."
    assert "term" in marked("A [head].", told)
    assert told == {"query", "head"}


def test_the_longer_term_wins_and_parts_of_words_are_no_terms():
    words = marked("The look-ahead mask unmasked; an encoder-decoder; log-probability.", set())
    assert "look-ahead mask: Closes" in words
    assert "log-probability: The natural" in words
    assert words.count('class="term"') == 2


def test_markup_in_a_caption_is_text():
    assert marked("<img src=x> & `<end>`", set()) == "&lt;img src=x&gt; &amp; `<end>`"


def test_pages_explain_their_terms():
    app = open_page("heads", sentence="I love my cat.")
    assert not app.exception
    assert any('class="term"' in caption.value for caption in app.caption)


def test_all_terms_stand_on_the_page_of_the_model():
    app = open_page("model")
    (listed,) = [block.value for block in app.markdown if block.value.startswith("- **token**")]
    assert all(f"**{term}**" in listed for term in GLOSSARY)
