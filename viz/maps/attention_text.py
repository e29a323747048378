"""One head in running text: each token shaded by its weight from, or to, one token."""

from collections.abc import Sequence
from typing import Any, Literal

from headlight.viz.arrays import check_known, head_weights
from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers, largest
from headlight.viz.tokens import WRITES, by_marks

PART = Part.next_to(__file__)
LINE = 80  # letters of a line in a notebook, about
LINE_HEIGHT, AROUND, TALLEST = 27, 130, 640  # pixels


def attention_text(
    weights: Any,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    words: Sequence[int] | None = None,
    key_words: Sequence[int] | None = None,
    lit: tuple[Literal["query", "key"], int] | None = None,
    keeps: bool = True,
) -> CanvasPicture:
    """Weights [query, key] as shades of the tokens of a text, or of two texts next to each other.

    Pointing at a query shades the keys it looks at; pointing at a key shades the queries that look
    at it. Without `key_tokens` the queries look at each other: there is one text, and a switch says
    which of the two is shaded. A click keeps a token's shades if the picture `keeps` them, and
    answers with its side and its index, from 0, or with none; pointing then reads single weights.
    It opens with the `lit` token kept. Neighbours with the same number in `words`, or `key_words`,
    stand without a gap; without these, pieces are joined by their marks: ##, ▁, Ġ or a space. A
    line ends after a token with a line break. A query named "read → written" stands as what is
    written. Raises ValueError if sizes do not fit, for NaN, or for weights below 0.
    """
    weights = head_weights(weights)
    check_known(weights)
    keys = query_tokens if key_tokens is None else key_tokens
    blocks = [block_of(query_tokens, words)]
    if key_tokens is not None:
        blocks.append(block_of(key_tokens, key_words))
    numbers = {"weight": Numbers(weights, {"query": query_tokens, "key": keys})}
    header = {
        "queries": list(query_tokens),
        "keys": list(keys),
        "blocks": blocks,
        "lit": list(lit) if lit else None,
        "keeps": keeps,
        "words": largest(numbers),
    }
    lines = sum(1 + sum(map(len, block["texts"])) // LINE for block in blocks)
    height = min(TALLEST, AROUND + LINE_HEIGHT * lines)
    return CanvasPicture.pack(PART, header, weights.astype("<f4"), height=height, numbers=numbers)


def block_of(tokens: Sequence[str], words: Sequence[int] | None) -> dict[str, list]:
    """Return the texts of tokens as a text shows them, and the number of each one's word.

    Raises ValueError if there are not as many numbers of words as tokens.
    """
    texts = [token.rpartition(WRITES)[2] for token in tokens]
    if texts != list(
        tokens
    ):  # they write, and one that has written nothing yet is not its own text
        texts = [
            text if WRITES in token else "…" for token, text in zip(tokens, texts, strict=True)
        ]
    if words is None:
        texts, words = by_marks(texts)
    if len(words) != len(tokens):
        raise ValueError(f"There are {len(tokens)} tokens, but {len(words)} numbers of words.")
    return {"texts": texts, "words": list(words)}
