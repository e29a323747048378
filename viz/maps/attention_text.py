"""Draw one head in running text: shade each token by its weight from, or to, one token."""

from collections.abc import Sequence
from typing import Any, Literal

from headlight.viz.arrays import check_known, head_weights
from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.numbers import Numbers, largest
from headlight.viz.tokens import WRITES, by_marks

PART = Part.next_to(__file__)
LINE = 80  # about as many letters as a line in a notebook has
LINE_HEIGHT, AROUND, TALLEST = 27, 130, 640  # pixels; the picture is at most TALLEST high


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
    """Write one text, or two side by side, whose tokens are shaded by weights [query, key].

    Pointing at a query shades the keys it looks at; pointing at a key shades the queries that look
    at it. Without `key_tokens` the queries look at each other: there is one text, and a switch says
    whether the token pointed at is a query or a key. If the picture `keeps` shades, a click on a
    token keeps its shades, and sends the token's side and its index from 0. Another click ends this
    and sends None. While shades are kept, pointing at a token reads one weight. The `lit` token is
    kept at first.

    Neighbours with the same number in `words`, or `key_words`, are written without a space; without
    these numbers, the marks of tokens say which belong together: ##, ▁, Ġ or a space. A line ends
    after a token with a line break. A query "read → written" is written as "written". Raises
    ValueError if sizes do not fit, for NaN, or for weights below 0.
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
    """Return what is written for each token (`texts`), and the number of its word (`words`).

    Raises ValueError if there are not as many numbers of words as tokens.
    """
    texts = [token.rpartition(WRITES)[2] for token in tokens]
    # If some tokens are "read → written", one that has written nothing is shown as "…".
    if texts != list(tokens):
        texts = [
            text if WRITES in token else "…" for token, text in zip(tokens, texts, strict=True)
        ]
    if words is None:
        texts, words = by_marks(texts)
    if len(words) != len(tokens):
        raise ValueError(f"There are {len(tokens)} tokens, but {len(words)} numbers of words.")
    return {"texts": texts, "words": list(words)}
