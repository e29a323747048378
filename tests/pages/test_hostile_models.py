"""Models of which only a text shows that something is wrong: one sentence on every page."""

import shutil

import pytest

from bench.hostile.model_folders import DAMAGES, SLY
from model.library.loading import load_from_library
from pages.parts.pages import PAGES
from pages.shared.runs.shelf import Loaded, shelf
from pages.shared.state.catalog import LIBRARY
from tests.pages.apps import open_page

SENTENCE = "the cat sat on the mat."
DRAGON = f"{'a' * 40} dragon"
# Of each the text that it cannot read, and what is said of that; none of these is tried here.
SAID = {
    "panic over one word": (DRAGON, "The tokenizer of this model cannot read this text: Onig"),
    "no [UNK]": (DRAGON, "Missing [UNK] token"),
    "token of one word beyond the model": (DRAGON, "makes the token 1,000,000 of this text"),
    "200 tokens before a text": (SENTENCE, "tokens of this text, of which at most 32"),
    "weights no number": (SENTENCE, "infinite or not a number"),
}
MAKERS = {**DAMAGES, **SLY}
READING = ("attention", "heads", "inside", "masks", "decoding", "positions")


@pytest.fixture(scope="module")
def names(make_bert_folder, tmp_path_factory):
    """The folder of each such model, in memory as if nobody had tried it."""
    made = {}
    for name in SAID:
        made[name] = shutil.copytree(make_bert_folder(), tmp_path_factory.mktemp("sly") / "model")
        MAKERS[name](made[name])
    return {name: str(folder) for name, folder in made.items()}


@pytest.mark.parametrize("name", SAID)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_says_in_a_sentence_what_a_model_cannot_do(page, name, names):
    folder, (text, said) = names[name], SAID[name]
    if not shelf().get(folder):
        shelf().loaded[folder] = Loaded(folder, load_from_library(folder))
    for sentence in (SENTENCE, text):
        app = open_page(page, model=LIBRARY + folder, sentence=sentence)
        assert not app.exception
    words = " ".join(one.value for one in (*app.text, *app.info, *app.caption))
    if page in READING:
        assert said in words
