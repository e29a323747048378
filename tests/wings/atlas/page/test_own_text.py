"""A visitor's own text: counted in place of the shipped one, until it is removed."""

import gzip
import json
import time

import numpy as np
import pytest

from headlight.model.corpus import NOTHING, CorpusLine, Window
from headlight.pages.shared.runs import limits
from headlight.wings.atlas.counting import count_window
from headlight.wings.atlas.figures import figures
from headlight.wings.atlas.page.own_text import GONE, OTHER_MODEL, as_json, as_table
from headlight.wings.talks.stage import Stage
from tests.pages.apps import open_with, run_script

SCRIPT = """
import streamlit as st
import headlight.pages.parts.pages
from headlight.wings.atlas.page.own_text import draw
from headlight.wings.atlas.calls import atlas_of, own_text, shown_text
from headlight.pages.shared.state.page import PAGES, enter

enter(PAGES["heads"])
draw()
st.session_state.mine, st.session_state.atlas = own_text(), atlas_of()
st.header(shown_text() or "nothing")
"""
SHIPPED = "162,072 sentences of Tatoeba's validation and training pairs"
PAIRS = (("Go on.", "Va."), ("I love my cat.", "J'aime mon chat."), ("It rains.", "Il pleut."))
TEXT = "".join(f"{source}\t{target}\n" for source, target in PAIRS)
HOSTILE = "<img src=x onerror=alert(1)> **bold** $x$\n[link](https://example.org) :red[x]\n"


@pytest.fixture(autouse=True)
def alone():
    """Runs outside a server have one session, whose text is gone after each test."""
    yield
    run_script(SCRIPT).session_state["mine"].__init__()


def opened(**state):
    app = run_script(SCRIPT, **state)
    app.default_timeout = 60
    return app


def text_of(app):
    """What the figures are said to be of."""
    (header,) = app.header
    return header.value


def begin(app, text=TEXT):
    """Type a text, or upload bytes, and have it counted."""
    if isinstance(text, bytes):
        app.file_uploader(key="atlas_file").upload("<b>.gz", text, "application/gzip").run()
    else:
        app.text_area(key="atlas_typed").set_value(text).run()
    app.button(key="atlas_begin").click().run()
    assert not app.exception


def counted(app, text=TEXT):
    """Have a text counted to the end."""
    begin(app, text)
    deadline = time.monotonic() + 100
    while (under_way := app.session_state["mine"].next) and under_way.job.is_active:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    app.run()
    assert not app.exception


def said(app):
    return [one.value for found in (app.error, app.info, app.text, app.caption) for one in found]


def test_what_is_shown_is_of_the_text_until_it_is_removed(shipped):
    app = opened()
    assert text_of(app) == SHIPPED
    counted(app)
    assert text_of(app) == "your 3 lines"
    lines = [CorpusLine(number, *pair) for number, pair in enumerate(PAIRS)]
    plain = count_window(shipped, Window(0, lines), {})
    for kind, known in app.session_state["atlas"].kinds.items():
        for name, figure in figures(plain, kind).items():
            np.testing.assert_allclose(known.figures[name].mean, figure.mean, atol=1e-6)
    app.button(key="atlas_remove").click().run()
    assert text_of(app) == SHIPPED
    assert app.session_state["mine"].newest is None


def test_files_of_the_count_hold_its_figures():
    app = opened()
    counted(app)
    count = app.session_state["mine"].newest.count
    head, first, *_ = as_table(count).decode().splitlines()
    assert head.startswith("kind\tlayer\thead\tentropy")
    assert first.startswith("encoder\t1\t1\t")
    assert json.loads(as_json(count))["lines"] == {"counted": 3}


@pytest.mark.matrix
def test_a_file_is_counted_and_what_was_left_out_is_told():
    app = opened()
    data = TEXT.encode() + b"\n\xff\xfe\n" + b"word " * 400 + b"\n"
    counted(app, gzip.compress(data))
    assert text_of(app) == "your 4 lines"
    (words,) = (one for one in said(app) if one.startswith("Not counted whole"))
    assert "1 line: empty" in words
    assert "1 line: not text in UTF-8" in words
    assert "1 line: too long for the model, counted up to its limit" in words


def test_more_lines_than_are_allowed_are_told(monkeypatch):
    monkeypatch.setattr(limits, "COUNT_LINES", 2)
    app = opened()
    counted(app)
    assert text_of(app) == "your 2 lines"
    assert "Only the first 2 lines are counted." in said(app)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", NOTHING),
        (" \n\n", NOTHING),
        (b"\xff\xfeh\0i\0\n\0", "No line of this text can be counted: 2 lines: not text in UTF-8."),
        (b"\x1f\x8bno", "This gzip file cannot be read"),
    ],
)
def test_a_text_that_cannot_be_counted_is_refused_in_a_sentence(text, why):
    app = opened()
    begin(app, text)
    assert "This text was not counted." in said(app)
    assert any(why in one for one in said(app))
    assert text_of(app) == SHIPPED
    app.run()
    assert not app.error


@pytest.mark.matrix
def test_text_is_data_and_stands_in_no_link():
    app = opened()
    counted(app, HOSTILE)
    assert text_of(app) == "your 2 lines"
    shown = [one.value for one in (*app.markdown, *app.caption, *app.text)]
    assert not any("onerror" in one or "example.org" in one for one in shown)
    assert "onerror" not in str(dict(app.query_params))
    about = app.session_state["atlas"].about
    assert HOSTILE.splitlines()[0] not in json.dumps(about)


def test_a_count_under_way_can_be_cancelled():
    app = opened()
    begin(app, "It rains, and it is cold here.\n" * 2_000)
    assert app.button(key="atlas_cancel")
    assert not [one for one in app.button if one.key == "atlas_begin"]
    job = app.session_state["mine"].next.job
    app.button(key="atlas_cancel").click().run()
    assert text_of(app) == SHIPPED
    job.join(100)
    assert job.result is None
    assert app.button(key="atlas_begin")


def test_a_link_with_a_text_that_is_not_here_says_so():
    app = opened(atlas_text="AbC-123_")
    assert GONE in said(app)
    assert text_of(app) == SHIPPED
    counted(app)
    assert GONE not in said(app)
    assert app.session_state["atlas_text"] == app.session_state["mine"].newest.key


def test_a_slide_with_a_text_that_is_not_here_says_so(monkeypatch):
    app = opened()
    counted(app)
    monkeypatch.setattr(Stage, "is_live", lambda self: False)
    app.run()
    assert text_of(app) == "your 3 lines"
    assert not app.button
    assert GONE not in said(app)
    app.session_state["atlas_text"] = "AbC-123_"
    app.run()
    assert GONE in said(app)


def test_another_model_says_that_the_text_was_counted_without_it():
    app = opened()
    counted(app)
    app.session_state["model"] = "en-fr-learned"
    app.run()
    assert OTHER_MODEL in said(app)
    assert text_of(app) == "nothing"
    counted(app)
    assert text_of(app) == "your 3 lines"


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("name", "kinds"),
    [("bert", {"encoder"}), ("GPT-2", {"decoder"}), ("T5", {"encoder", "decoder", "cross"})],
)
def test_a_model_of_transformers_is_counted(bert_folder, transformers_folders, name, kinds):
    folder = bert_folder if name == "bert" else transformers_folders[name]
    found = open_with(folder, "heads")
    app = opened(model=found.session_state["model"], workshop=found.session_state["workshop"])
    counted(app, "A cat.\tA dog.\nIt rains.\n")
    assert text_of(app) == "your 2 lines"
    assert set(app.session_state["atlas"].kinds) == kinds
