"""Label and align the tokens on the axes of pictures."""

import re
from collections.abc import Sequence
from difflib import Match, SequenceMatcher

Pair = tuple[int | None, int | None]  # the index of a token in each of two lists, None if absent

WRITES = " → "  # stands between the token that a decoder has read and the token that it writes
SPACED = re.compile("[ ▁Ġ](?=.)", re.DOTALL)  # the sign of a new word in many vocabularies
CONTINUES = re.compile("##(?=.)")  # BERT's sign of a token inside a word
SPECIAL = re.compile(r"<(?!0x)[^<>]+>|\[[A-Z]+\]")  # a token that represents no text


def and_written(read: Sequence[str], written: Sequence[str]) -> list[str]:
    """Return labels of a decoder's queries, such as "the → cat" if it read "the" and wrote "cat".

    A query after which nothing was written has only the token that was read.
    """
    return [
        f"{token}{WRITES}{next}" if next else token
        for token, next in zip(read, written, strict=True)
    ]


def aligned(first: Sequence[str], second: Sequence[str]) -> list[Pair]:
    """Align two lists of tokens: return pairs of the indices of equal tokens, in order.

    A token without an equal one is paired with None; between two matches, the unpaired tokens of
    `first` come before those of `second`. Equal tokens at the same index are paired unless another
    alignment gives more pairs. Swapping the lists swaps each pair and changes nothing else. Queries
    that read the same token are equal, whatever was written after them.
    """
    first, second = ([label.partition(WRITES)[0] for label in each] for each in (first, second))
    # SequenceMatcher's answer can depend on which list comes first.
    swapped = list(second) < list(first)
    lists = (second, first) if swapped else (first, second)
    blocks = SequenceMatcher(None, *lists, autojunk=False).get_matching_blocks()
    unmoved = [index for index, (a, b) in enumerate(zip(first, second, strict=False)) if a == b]
    if len(first) == len(second) and len(unmoved) >= sum(block.size for block in blocks):
        blocks = [*(Match(index, index, 1) for index in unmoved), blocks[-1]]
    pairs: list[Pair] = []
    left, right = 0, 0
    for block in blocks:
        start, end = (block.b, block.a) if swapped else (block.a, block.b)
        pairs += [(index, None) for index in range(left, start)]
        pairs += [(None, index) for index in range(right, end)]
        pairs += [(start + step, end + step) for step in range(block.size)]
        left, right = start + block.size, end + block.size
    return pairs


def by_marks(tokens: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return tokens without the marks at the beginning of words, and the number of each one's word.

    If some tokens begin with a space or its sign, as in "▁cat", all others continue the word before
    them. A token such as "##s" always does. A special token is a word of its own. If no token has a
    mark, each token is a word.
    """
    is_spaced = any(map(SPACED.match, tokens))
    words: list[int] = []
    for index, token in enumerate(tokens):
        goes_on = not SPACED.match(token) if is_spaced else CONTINUES.match(token)
        neighbours = tokens[max(0, index - 1) : index + 1]
        apart = not goes_on or any(map(SPECIAL.fullmatch, neighbours))
        words.append(words[-1] + apart if words else 0)
    mark = SPACED if is_spaced else CONTINUES
    return [mark.sub("", token, count=1) if mark.match(token) else token for token in tokens], words
