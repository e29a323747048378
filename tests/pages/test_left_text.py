"""Nothing that a visitor typed is left in the process when their session has ended."""

import gc
import threading

import pytest

from headlight.pages.parts.pages import PAGES
from tests.matrix import first_of
from tests.pages.apps import open_page, open_with
from tests.pages.sessions import end

HALVES = "zxq", "vjk"  # no file holds it whole
OF_EVERY_TEST = "test session id"  # what AppTest calls its session
ABOUT_A_TEXT = [key for key, page in PAGES.items() if page.pictures]


def typed():
    return f"I love my {''.join(HALVES)}."


def holders():
    """The kinds of what holds a string or bytes with the word in it."""
    results = []
    for item in gc.get_objects():
        for part in gc.get_referents(item):
            if type(part) in (str, bytes) and "".join(HALVES) in str(part):
                results.append(type(item))
    return results


@pytest.fixture(params=first_of(["en-fr", "GPT-2", "Marian", "BERT"]))
def visit(request, transformers_folders, bert_folder):
    """A function that opens a page about a text, with a model."""
    folder = transformers_folders.get(request.param, bert_folder)
    model = () if request.param == "en-fr" else (folder,)
    return lambda page: (open_with if model else open_page)(*model, page, sentence=typed())


def join_spinners():
    """Wait for the clocks of spinners, which hold a session until they have ended."""
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join()


@pytest.mark.matrix
def test_no_page_keeps_a_text_after_the_session(visit):
    for page in ABOUT_A_TEXT:
        app = visit(page)
        assert not app.exception
    assert holders()
    del app
    end(OF_EVERY_TEST)
    join_spinners()
    gc.unfreeze()
    gc.collect()
    assert holders() == []
