"""What a picture shows of a run: the right rows and columns, under the right tokens."""

import numpy as np
import pytest

from headlight.model.library.pieces import BETWEEN, SEGMENTS, Piece, merge_words, select
from headlight.model.transformer.trace import Site

FIRST, SECOND = "the cat was playing.", "unbelievable dogs!"


@pytest.fixture(scope="module")
def reading(bert):
    return bert.trace(FIRST, second=SECOND)


@pytest.fixture(scope="module")
def weights(reading):
    return reading.attention[Site("encoder", 1)].weights[0].numpy()


@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize("between", BETWEEN)
def test_every_drawn_cell_is_the_weight_of_its_own_tokens(between, special, reading, weights):
    pieces = reading.source_tokens
    selection = select(pieces, pieces, between=between, special=special)
    drawn = selection.of(weights)
    shown = len(selection.shown_queries), len(selection.shown_keys)
    assert drawn.shape == (4, *shown)
    for row in range(shown[0]):
        for column in range(shown[1]):
            (query,), (key,) = selection.positions(row, column)
            assert selection.shown_queries[row] is pieces[query]
            assert selection.shown_keys[column] is pieces[key]
            assert (drawn[:, row, column] == weights[:, query, key]).all()
    if between in SEGMENTS:
        segments = (
            {p.segment for p in selection.shown_queries},
            {p.segment for p in selection.shown_keys},
        )
        assert segments == tuple({segment} for segment in SEGMENTS[between])
    if not special:
        assert not any(p.is_special for p in [*selection.shown_queries, *selection.shown_keys])
    assert selection.hides == (between != "all" or not special)


def test_the_filters_share_all_cells_out_among_them(reading, weights):
    pieces = reading.source_tokens
    parts = [select(pieces, pieces, between=between).of(weights).sum() for between in SEGMENTS]
    assert sum(parts) == pytest.approx(weights.sum(), rel=1e-5)


def test_whole_words_are_merged_by_the_stated_rule(reading, weights):
    pieces = reading.source_tokens
    selection = select(pieces, pieces, words=True)
    words = [piece.word for piece in pieces]
    np.testing.assert_array_equal(selection.of(weights), merge_words(weights, words))
    np.testing.assert_allclose(selection.of(weights).sum(-1), 1, atol=1e-5)
    texts = [piece.text for piece in selection.shown_keys]
    assert texts == ["[CLS]", "the", "cat", "was", "playing", ".", "[SEP]",
                     "unbelievable", "dogs", "!", "[SEP]"]  # fmt: skip
    queries, keys = selection.positions(4, 7)
    assert [pieces[querie].text for querie in queries] == ["play", "##ing"]
    assert [pieces[place].text for place in keys] == ["un", "##believ", "##able"]
    expected = weights[:, queries][:, :, keys].sum(-1).mean(-1)
    np.testing.assert_allclose(selection.of(weights)[:, 4, 7], expected, rtol=1e-5)


def test_rows_are_scaled_only_where_asked_for(reading, weights):
    pieces = reading.source_tokens
    plain = select(pieces, pieces, special=False).of(weights)
    scaled = select(pieces, pieces, special=False, scaled=True).of(weights)
    assert (plain.sum(-1) < 0.999).all()
    np.testing.assert_allclose(scaled.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(scaled * plain.sum(-1, keepdims=True), plain, atol=1e-6)


def test_a_row_without_any_weight_stays_without():
    selection = select([], [], scaled=True)
    assert selection.is_empty
    drawn = select(*[[Piece(5, "a", 0, 1)] * 2] * 2, scaled=True).of(np.zeros((1, 2, 2)))
    assert (drawn == 0).all()
