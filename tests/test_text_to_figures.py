"""From any text to every picture of its run, with its tokens, or to a sentence why not."""

import csv
import io
import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings

from headlight.model.insight.scoring import trace_log_probabilities
from headlight.model.transformer.trace import KINDS, Site
from headlight.model.translator import load
from headlight.viz import (
    Chip,
    attention_heatmap,
    attention_lines,
    attention_text,
    compared_maps,
    head_grid,
    mask_matrix,
    probability_bars,
    token_strip,
)
from headlight.viz.numbers import FORMULA, to_csv, to_npz
from tests.odd_texts import ODD_TEXTS, texts


def header_of(picture):
    (length,) = struct.unpack("<I", picture.data[:4])
    return json.loads(picture.data[4 : 4 + length])


def pictures(trace, kind):
    """Every picture of one kind of attention, the names of its axes in its header, its tokens."""
    queries, keys = ([t.text for t in side] for side in tokens_of(trace, kind))
    weights = trace.weights(kind)  # (layers, heads, query, key)
    record = trace.attention[Site(kind, 0)]
    head = record.weights[0, 0]
    visible = record.masked_scores[0, 0].isfinite().numpy()
    heatmap = attention_heatmap(head, queries, keys, blocked=~visible)
    return {
        "heatmap": (heatmap, "rows", "columns"),
        "lines": (attention_lines(head, queries, keys), "queries", "keys"),
        "text": (attention_text(head, queries, keys), "queries", "keys"),
        "grid": (head_grid(weights, queries, keys), "queries", "keys"),
        "mask": (mask_matrix(visible, queries, keys), "queries", "keys"),
    }


def tokens_of(trace, kind):
    return trace.query_tokens(Site(kind, 0)), trace.key_tokens(Site(kind, 0))


def expect_safe(picture):
    """No text of the picture's is markup in its page, or a formula in its table."""
    page = picture.to_html("<b>title</b>", "<i>caption</i>")
    assert "<b>title" not in page
    assert "<i>caption" not in page
    assert page.count("<script") == 1
    table = to_csv(picture.numbers).decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(table, newline="")))
    (values,) = {part.values.size for part in picture.numbers.values()} or {0}
    assert len(rows) == 1 + values * len(picture.numbers)
    for row in rows[1:]:
        *cells, value = row
        assert not [cell for cell in cells if cell.startswith(FORMULA) and cell[0] != "'"]
        float(value)
    saved = np.load(io.BytesIO(to_npz(picture.numbers, "caption")), allow_pickle=False)
    assert set(picture.numbers) < set(saved.files)


def expect_pictures(translator, text):
    """Draw all pictures of a text's run, and check that each has the tokens of that run."""
    trace = translator.trace(text)
    assert "".join(token.text for token in trace.source_tokens)
    for kind in KINDS:
        queries, keys = ([t.text for t in side] for side in tokens_of(trace, kind))
        for name, (picture, rows, columns) in pictures(trace, kind).items():
            header = header_of(picture)
            assert header[rows] == queries, name
            assert header[columns] == keys, name
            if name != "grid":  # its numbers are many and of the same kind as the heatmap's
                expect_safe(picture)
    result = trace_log_probabilities(trace).exp().numpy()
    tokens = [token.text for token in trace.target_tokens[1:]] + ["<end>"]
    bars = probability_bars({"run": result}, tokens[: len(result)])
    assert header_of(bars)["tokens"] == tokens[: len(result)]
    strip = token_strip(text, [Chip(token.text) for token in trace.source_tokens], label=text)
    assert header_of(strip)["text"] == text
    assert len(header_of(strip)["chips"]) == len(trace.source_tokens)


@pytest.mark.matrix
@settings(max_examples=60)
@given(text=texts)
def test_any_text_becomes_pictures_of_its_tokens_or_a_sentence(text, translator):
    is_whole = text.encode("utf-8", "ignore").decode() == text
    if is_whole and translator.tokenizer.encode(text):
        expect_pictures(translator, text)
    else:
        with pytest.raises(ValueError, match=r"^[A-Z].*\.$"):
            translator.trace(text)


@pytest.mark.matrix
@pytest.mark.parametrize("name", ODD_TEXTS)
def test_the_shipped_model_draws_odd_texts(name):
    translator = load("en-fr")
    if name in ("empty", "blank"):
        with pytest.raises(ValueError, match="nothing to translate"):
            translator.trace(ODD_TEXTS[name])
    else:
        expect_pictures(translator, ODD_TEXTS[name][:2_000])


@settings(max_examples=40)
@given(first=texts, second=texts)
def test_two_texts_are_compared_whatever_they_are(first, second):
    axes = [list(first)[:12] or ["a"], list(second)[:12] or ["b"]]
    maps = [np.full((len(tokens), len(tokens)), 1 / len(tokens)) for tokens in axes]
    picture = compared_maps(*maps, *((tokens, tokens) for tokens in axes))
    first_axes, second_axes, _ = header_of(picture)["tokens"]
    assert [first_axes[0], second_axes[0]] == axes
    picture.to_html().encode("utf-8")
