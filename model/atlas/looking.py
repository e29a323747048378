"""Where heads look in the sentences that were kept: examples with their weights, and a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import inf
from typing import NamedTuple

import numpy as np

from model.atlas.corpus import Line
from model.atlas.counting import Count, is_punctuation, numbers_of, read, rows_of
from model.atlas.examples import NOBODY, SIGNS
from model.atlas.figures import clearest_pattern, kinds_of
from model.insight.rows import Rows
from model.library.pieces import as_pieces
from model.reader import Reader
from model.tokens import Token
from model.trace import Kind, Trace

SEARCHED = 20  # sentences at most
TRIED = 5 * SEARCHED  # read at most; not all have as a token what stands in their text


class Looked(NamedTuple):
    """How a head looks from a token: its mean weight on the key it looks at most."""

    kind: Kind
    layer: int
    head: int
    places: int  # where the token stands among the queries
    weight: float  # the largest of the row, in the mean over these places
    keys: list[tuple[str, float]]  # the keys looked at most, and how often


def traced(reader: Reader, line: Line) -> tuple[Trace, dict[Kind, Rows]]:
    """Return the tokens of a line and the rows (L, 1, H, Q, K) of each kind of attention."""
    trace = read(reader, line)
    return trace, {rows.kind: rows for rows in rows_of(reader, [trace])}


def tokens_of(trace: Trace, kind: Kind) -> tuple[list[Token], list[Token]]:
    """Return the tokens that a kind of attention looks from and at."""
    queries = trace.source_tokens if kind == "encoder" else trace.target_tokens
    return [*queries], [*(trace.target_tokens if kind == "decoder" else trace.source_tokens)]


def examples(reader: Reader, count: Count) -> Iterator[dict]:
    """Yield, for each line that is an example of a head's clearest pattern, its tokens and weights.

    Plain data: "line" with its texts, "tokens" of both sides, and of each head that it stands for
    its place, the pattern, the side ("clearest" or "least"), the score, and the weights in bytes
    (Q, K), of which 255 is 1.
    """
    wanted: dict[int, list[tuple]] = {}
    for kind in kinds_of(count):
        for layer, names in enumerate(clearest_pattern(count, kind)):
            for head, name in enumerate(names):
                for side in SIGNS:
                    found = (count.best[f"{kind}/{name}/{side}/{part}"][layer, head]
                             for part in ("lines", "scores"))  # fmt: skip
                    for number, score in zip(*found, strict=True):
                        one = kind, layer, head, name, side, SIGNS[side] * float(score)
                        wanted.setdefault(int(number), []).append(one)
    wanted.pop(NOBODY, None)
    for number, shown in sorted(wanted.items()):
        line = Line(number, *count.texts[number])
        trace, rows = traced(reader, line)
        yield {
            "line": list(line),
            "source": [token.text for token in trace.source_tokens],
            "target": [token.text for token in trace.target_tokens],
            "heads": [
                [*place, name, side, score, in_bytes(rows[place[0]], *place[1:])]
                for *place, name, side, score in shown
            ],
        }


def in_bytes(rows: Rows, layer: int, head: int) -> list[list[int]]:
    """Return the weights of a head (Q, K) as whole numbers, of which 255 is 1."""
    return (rows.weights[layer, 0, head] * 255).round().int().tolist()


def search(
    reader: Reader, lines: Iterable[Line], word: str, most: float = inf
) -> tuple[list[Looked], list[Line]]:
    """Return where each head looks from a token, the surest first, and in which of some lines.

    Those are the first SEARCHED that have it as a token, capitals or not, and no more weights than
    `most`. Raises ValueError if there is none.
    """
    wanted = word.strip().casefold()
    weights: dict[tuple[Kind, int, int], list[float]] = {}
    keys: dict[tuple[Kind, int, int], list[str]] = {}
    found: list[Line] = []
    for line in islice((line for line in lines if stands_in(line, wanted)), TRIED):
        try:
            trace = read(reader, line)
        except ValueError:  # there is nothing in it that the model reads
            continue
        if numbers_of(reader, 1, (line, trace)) > most:
            continue
        if not places_of(trace.source_tokens, wanted) + places_of(trace.target_tokens, wanted):
            continue
        found.append(line)
        for rows in rows_of(reader, [trace]):
            queries, looked_at = tokens_of(trace, rows.kind)
            places = places_of(queries, wanted)
            largest = rows.weights[:, 0, :, places].max(dim=-1)  # (L, H, places)
            for (layer, head, _), weight in np.ndenumerate(largest.values.cpu().numpy()):
                weights.setdefault((rows.kind, layer, head), []).append(float(weight))
            for (layer, head, _), key in np.ndenumerate(largest.indices.cpu().numpy()):
                keys.setdefault((rows.kind, layer, head), []).append(looked_at[key].text)
        if len(found) == SEARCHED:
            break
    if not found:
        raise ValueError(f"None of the sentences kept has the token “{word}”: try another.")
    looked = [
        Looked(*place, len(largest), float(np.mean(largest)), commonest(keys[place]))
        for place, largest in weights.items()
    ]
    return sorted(looked, key=lambda one: -one.weight), found


def stands_in(line: Line, wanted: str) -> bool:
    """Return whether a text, in small letters, stands in a line as no part of a longer word."""
    text = f"{line.text}\t{line.second or ''}".casefold()
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        longer_before = wanted[0].isalnum() and text[at - 1 : at].isalnum()
        longer_after = wanted[-1].isalnum() and text[end : end + 1].isalnum()
        if not (longer_before or longer_after):
            return True
        at = text.find(wanted, at + 1)
    return False


def places_of(tokens: Sequence[Token], wanted: str) -> list[int]:
    """Return where a token stands that is no part of a longer word, capitals or not."""
    pieces, sign = as_pieces(tokens), is_punctuation(wanted)
    words: dict[int, str] = {}
    for piece in pieces:
        words[piece.word] = words.get(piece.word, "") + piece.text
    return [
        place
        for place, piece in enumerate(pieces)
        if piece.text.casefold() == wanted
        and (sign or not any(map(str.isalnum, words[piece.word].replace(piece.text, "", 1))))
    ]


def commonest(texts: list[str]) -> list[tuple[str, float]]:
    """Return the three commonest texts, and their shares."""
    shares = {text: texts.count(text) / len(texts) for text in dict.fromkeys(texts)}
    return sorted(shares.items(), key=lambda one: -one[1])[:3]
