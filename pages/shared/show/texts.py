"""Texts on a page: tokens as small boxes (chips), and the differences of two texts in words."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import groupby
from math import exp

from headlight.model.decoding.steps import Writing
from headlight.model.edits.text import how_many
from headlight.model.library.pieces import Role, as_pieces
from headlight.model.tokens import Token
from headlight.viz import Chip
from headlight.viz.tokens import Pair, aligned
from headlight.viz.writing.token_strip import ChipKind

WORD = re.compile(r"\w+['’]?|[^\w\s]")  # an apostrophe ends a word: “qu'il” is two words
LEAST_IN_COMMON = 0.4  # texts that share fewer of their words are not compared
MOST_CHANGES = 3  # how many changes a sentence names
LONGEST = 60  # how many characters of a new text are quoted
CHIP_KINDS: dict[Role, ChipKind] = {
    "written": "piece",
    "unknown": "unknown",
    "mask": "mask",
    "special": "special",
    "padding": "special",
}


def chips(
    tokens: Sequence[Token],
    changed: Collection[int] = (),
    log_probabilities: Sequence[float] | None = None,
) -> list[Chip]:
    """Return tokens as chips: those of one word are joined, and two sentences have two colours.

    The tokens at the indices `changed` are marked. Tokens that a model wrote are shaded by their
    `log_probabilities`, in nats.
    """
    pieces = as_pieces(tokens)
    paired = any(piece.segment for piece in pieces)
    likely = [None] * len(pieces) if log_probabilities is None else map(exp, log_probabilities)
    return [
        Chip(
            piece.text,
            index > 0 and pieces[index - 1].word == piece.word,
            CHIP_KINDS[piece.role],
            index in changed,
            piece.segment if paired else None,
            probability,
        )
        for index, (piece, probability) in enumerate(zip(pieces, likely, strict=True))
    ]


def chips_written(writing: Writing, before: Writing | None = None) -> list[Chip]:
    """Return the tokens that a model wrote as chips, shaded by their probabilities.

    If a text `before` is given, the tokens of words that it does not have are marked.
    """
    made = writing.target_tokens
    changed = changed_places(before, writing) if before else ()
    return chips(made, changed, writing.log_probabilities)


def ended(sentence: str) -> str:
    """Return a sentence, with a full stop unless it ends with a quoted sentence."""
    return sentence if sentence.endswith((".”", "!”", "?”", "…”")) else f"{sentence}."


def what_became(before: str, after: str) -> str:
    """Return how a text changed, in words such as “stays the same”.

    In a sentence, the words follow the text's name. The largest change comes first, and equal
    changes are named once.
    """
    if before == after:
        return "stays the same"
    first, second, pairs = aligned_words(before, after)
    if 2 * sum(None not in pair for pair in pairs) < LEAST_IN_COMMON * (len(first) + len(second)):
        whole = after if len(after) <= LONGEST else f"{after[: LONGEST - 1]}…"
        return f"becomes “{whole}”" if after.strip() else "is empty"
    changes = []  # each has its size in characters, and its words
    for is_same, group in groupby(pairs, key=lambda pair: None not in pair):
        indices = [*group]
        lost = cut(before, [first[index] for index, _ in indices if index is not None])
        gained = cut(after, [second[index] for _, index in indices if index is not None])
        if is_same:
            continue
        swapped = f"has “{gained}” in place of “{lost}”"
        change = swapped if lost and gained else f"loses “{lost}”" if lost else f"gains “{gained}”"
        changes.append((len(lost) + len(gained), change))
    times = Counter(change for _, change in sorted(changes, key=lambda each: -each[0]))
    return listed([f"{change} in {n} places" if n > 1 else change for change, n in times.items()])


def listed(changes: Sequence[str]) -> str:
    """Return the first changes as one text, with “and 2 more changes” if there are more."""
    more = len(changes) - MOST_CHANGES
    rest = [f"and {how_many(more, 'more change')}"] if more > 0 else []
    return ", ".join([*changes[:MOST_CHANGES], *rest])


def cut(text: str, words: Sequence[re.Match]) -> str:
    """Return the part of a text from the first to the last of `words`; empty if there are none."""
    return text[words[0].start() : words[-1].end()] if words else ""


def changed_places(before: Writing, after: Writing) -> set[int]:
    """Return the indices of the tokens of `after` that are not in `before`.

    These are the tokens of new words, and new tokens that stand for no text, such as the end token.
    """
    tokens = [[token.text for token in writing.target_tokens] for writing in (before, after)]
    new_tokens = {index for counterpart, index in aligned(*tokens) if counterpart is None}
    words = new_words(before.text, after.text)
    return {
        index
        for index, token in enumerate(after.target_tokens)
        if any(token.start < word.end() and word.start() < token.end for word in words)
        or (token.start == token.end and index in new_tokens)
    }


def aligned_words(before: str, after: str) -> tuple[list[re.Match], list[re.Match], list[Pair]]:
    """Return the words of both texts, and pairs of indices of words that correspond.

    See `aligned`.
    """
    first, second = (list(WORD.finditer(text)) for text in (before, after))
    return first, second, aligned([word[0] for word in first], [word[0] for word in second])


def new_words(before: str, after: str) -> list[re.Match]:
    """Return the words of `after` that correspond to no word of `before`."""
    _, words, pairs = aligned_words(before, after)
    return [words[index] for pair in pairs if pair[0] is None and (index := pair[1]) is not None]
