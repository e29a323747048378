"""The steps of a decoding as pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model import Decoding
from model.decoding.steps import Candidate, DecodingStep, stack_rows
from model.tokens import END_ID, Token
from model.trace import Kind
from pages.parts.decoding.words import ending
from pages.shared.runs.arrays import as_array, one_head
from pages.shared.state.choices import Head
from viz import Bar, CanvasPicture, Leaf, beam_tree, decoding_player

CANDIDATES = 10  # shown at each step


def player_of(
    decoding: Decoding, path: Sequence[int], *, layer: int, head: Head, start: int
) -> CanvasPicture:
    """Return the scrubber over the steps of a path of nodes."""
    steps = decoding.steps_to(path)
    last = decoding.tree[len(path) - 1][path[-1]]
    return decoding_player(
        rows_of([step.weights for step in steps], "decoder", layer, head),
        rows_of([step.weights for step in steps], "cross", layer, head),
        rows_of([step.visible for step in steps], "decoder", layer, head) > 0,
        [step.read[-1].text for step in steps],
        [token.text for token in decoding.translation.source_tokens],
        texts=[*(step.text for step in steps), last.text],
        bars=[bars_of(step) for step in steps],
        start=min(start, len(steps) - 1),
        ending=ending(last.token.id == END_ID, last.kept, len(steps)),
    )


def candidates_of(step: DecodingStep) -> list[Candidate]:
    """Return the likeliest next tokens, and the one that was written if it is not among them."""
    found = step.top(CANDIDATES)
    if step.token.id not in [candidate.token.id for candidate in found]:
        found.append(step.candidate(step.token.id))
    return found


def bars_of(step: DecodingStep) -> list[Bar]:
    """Return the candidates of a step, each after the part of its word that is written already."""
    return [
        Bar(
            candidate.token.text,
            candidate.probability,
            before=step.text.rpartition(" ")[2] if goes_on(step, candidate.token) else "",
            drawn=candidate.drawn,
            chosen=candidate.token.id == step.token.id,
        )
        for candidate in candidates_of(step)
    ]


def goes_on(step: DecodingStep, token: Token) -> bool:
    """Return whether a token would go on the last word of what was read."""
    return token.start == len(step.text) and not token.is_special


def rows_of(steps: Sequence[dict], kind: Kind, layer: int, head: Head) -> np.ndarray:
    """Return weights or visible keys at each step (T, K), of one head or summed up over all."""
    return one_head(as_array(stack_rows(steps, kind)[layer]), head)  # of (H, T, K)


def tree_of(decoding: Decoding, selected: tuple[int, int] | None) -> CanvasPicture:
    """Return every text that was kept or dropped, as a tree."""
    best = dict(enumerate(decoding.path))
    leaves = [
        [
            Leaf(
                node.parent,
                node.token.text,
                node.text,
                node.log_probability,
                node.score,
                kept=node.kept,
                ended=node.token.id == END_ID,
                best=best.get(length) == place,
            )
            for place, node in enumerate(nodes)
        ]
        for length, nodes in enumerate(decoding.tree)
    ]
    return beam_tree(leaves, selected=selected)
