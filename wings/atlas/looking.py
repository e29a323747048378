"""Where heads attend in the stored sentences: examples with weights, and a search."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import inf
from typing import NamedTuple

import numpy as np

from headlight.model.corpus import CorpusLine
from headlight.model.insight.rows import Rows
from headlight.model.library.pieces import as_pieces
from headlight.model.reader import Reader
from headlight.model.tokens import Token
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Kind, Site
from headlight.wings.atlas.counting import Count, is_punctuation, numbers_of, read, rows_of
from headlight.wings.atlas.examples import NOBODY, SIGNS
from headlight.wings.atlas.figures import clearest_pattern, kinds_of

SEARCHED = 20  # the most sentences that a search uses
TRIED = 5 * SEARCHED  # the most lines read; in some, the word is not one token


class Looked(NamedTuple):
    """Where a head attends from a token, and with which mean weight."""

    kind: Kind
    layer: int
    head: int
    places: int  # how often the token is a query
    weight: float  # the largest weight of the row, averaged over these queries
    keys: list[tuple[str, float]]  # keys that most often have the largest weight, and their shares


def traced(reader: Reader, line: CorpusLine) -> tuple[Trace, dict[Kind, Rows]]:
    """Return a line's tokens, and the weights (L, 1, H, Q, K) of each kind of attention."""
    trace = read(reader, line)
    return trace, {rows.kind: rows for rows in rows_of(reader, [trace])}


def examples(reader: Reader, count: Count) -> Iterator[dict]:
    """Yield each line that is an example of a head's clearest pattern, with tokens and weights.

    These are plain data: "line" with its texts, "tokens" of both sides, and for each head whose
    example it is: kind, layer and head, the pattern, the side ("clearest" or "least"), the score,
    and the weights (Q, K) as whole numbers from 0 to 255, where 255 means 1.
    """
    wanted: dict[int, list[tuple]] = {}
    for kind in kinds_of(count):
        for layer, names in enumerate(clearest_pattern(count, kind)):
            for head, name in enumerate(names):
                for side in SIGNS:
                    entries = (count.best[f"{kind}/{name}/{side}/{part}"][layer, head]
                             for part in ("lines", "scores"))  # fmt: skip
                    for number, score in zip(*entries, strict=True):
                        entry = kind, layer, head, name, side, SIGNS[side] * float(score)
                        wanted.setdefault(int(number), []).append(entry)
    wanted.pop(NOBODY, None)
    for number, shown in sorted(wanted.items()):
        line = CorpusLine(number, *count.texts[number])
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
    """Return the weights of a head (Q, K) as whole numbers from 0 to 255, where 255 means 1."""
    return (rows.weights[layer, 0, head] * 255).round().int().tolist()


def search(
    reader: Reader, lines: Iterable[CorpusLine], word: str, most: float = inf
) -> tuple[list[Looked], list[CorpusLine]]:
    """Return where each head attends from a token, the largest weight first, and the lines read.

    The lines read are the first SEARCHED that have the word as a token, in upper or lower case, and
    need at most `most` attention weights. Raises ValueError if there is none.
    """
    wanted = word.strip().casefold()
    weights: dict[tuple[Kind, int, int], list[float]] = {}
    keys: dict[tuple[Kind, int, int], list[str]] = {}
    matches: list[CorpusLine] = []
    for line in islice((line for line in lines if has_word(line, wanted)), TRIED):
        try:
            trace = read(reader, line)
        except ValueError:  # the model can read nothing in this line
            continue
        if numbers_of(reader, 1, (line, trace)) > most:
            continue
        if not places_of(trace.source_tokens, wanted) + places_of(trace.target_tokens, wanted):
            continue
        matches.append(line)
        for rows in rows_of(reader, [trace]):
            site = Site(rows.kind, 0)
            queries, looked_at = trace.query_tokens(site), trace.key_tokens(site)
            places = places_of(queries, wanted)
            largest = rows.weights[:, 0, :, places].max(dim=-1)  # (L, H, places)
            for (layer, head, _), weight in np.ndenumerate(largest.values.cpu().numpy()):
                weights.setdefault((rows.kind, layer, head), []).append(float(weight))
            for (layer, head, _), key in np.ndenumerate(largest.indices.cpu().numpy()):
                keys.setdefault((rows.kind, layer, head), []).append(looked_at[key].text)
        if len(matches) == SEARCHED:
            break
    if not matches:
        raise ValueError(f"None of the sentences kept has the token “{word}”: try another.")
    looked = [
        Looked(*place, len(largest), float(np.mean(largest)), commonest(keys[place]))
        for place, largest in weights.items()
    ]
    return sorted(looked, key=lambda row: -row.weight), matches


def has_word(line: CorpusLine, wanted: str) -> bool:
    """Return whether a line contains a text as a whole word; `wanted` is in lower case."""
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
    """Return the indices of tokens that are the word or sign `wanted`, in upper or lower case."""
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
    """Return the three commonest texts, each with its share of all."""
    shares = {text: texts.count(text) / len(texts) for text in dict.fromkeys(texts)}
    return sorted(shares.items(), key=lambda item: -item[1])[:3]
