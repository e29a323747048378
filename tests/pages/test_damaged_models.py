"""Models of which only a text shows that something is wrong: one sentence on every page."""

import pytest

from headlight.pages.parts.pages import PAGES
from tests.matrix import first_of
from tests.model.library.damage import SHOWN
from tests.pages.apps import open_with

READING = ("attention", "heads", "inside", "masks", "decoding", "positions")
NAME = "token of one word beyond the model"


@pytest.fixture(scope="module")
def folder(make_bert_folder):
    folder = make_bert_folder()
    SHOWN[NAME][0](folder)
    return str(folder)


@pytest.mark.parametrize("page", first_of(PAGES))
def test_every_page_says_in_a_sentence_what_a_model_cannot_do(page, folder):
    _, text, said = SHOWN[NAME]
    app = open_with(folder, page, sentence=text)
    words = " ".join(element.value for element in (*app.text, *app.info, *app.caption))
    assert page not in READING or said in words
