"""The steps of a decoding as pictures."""

from collections.abc import Sequence

import numpy as np

from headlight.model import Decoding
from headlight.model.decoding.steps import DecodingStep, Node, stack_rows
from headlight.model.trace import Kind
from headlight.pages.shared.runs.arrays import as_array, one_head
from headlight.pages.shared.state.choices import HeadChoice
from headlight.viz import (
    Bar,
    CanvasPicture,
    Leaf,
    attention_heatmap,
    beam_tree,
    decoding_player,
    probability_bars,
)

CANDIDATES = 10  # shown at each step


def player_of(
    decoding: Decoding, path: Sequence[int], *, layer: int, head: HeadChoice, start: int
) -> CanvasPicture:
    """Return the scrubber over the steps of a path of nodes."""
    steps = decoding.steps_to(path)
    weights = [step.weights for step in steps]
    visible = [step.visible for step in steps]
    source = [token.text for token in decoding.writing.source_tokens]
    return decoding_player(
        rows_of(weights, "decoder", layer, head),
        rows_of(weights, "cross", layer, head) if source else None,
        rows_of(visible, "decoder", layer, head) > 0,
        [token.text for token in steps[-1].read],
        source or None,
        texts=[*(step.text for step in steps), decoding.last_of(path).text],
        bars=[bars_of(step) for step in steps],
        start=min(start, len(steps) - 1),
        ending=ending(decoding.last_of(path), len(steps)),
    )


def alignment_of(
    decoding: Decoding, path: Sequence[int], *, layer: int, head: HeadChoice
) -> CanvasPicture:
    """Return the weights of every step over the source, a row for what it read and wrote."""
    steps = decoding.steps_to(path)
    weights = rows_of([step.weights for step in steps], "cross", layer, head)  # (T, K)
    rows = [f"{step.read[-1].text} → {step.token.text}" for step in steps]
    source = [token.text for token in decoding.writing.source_tokens]
    return attention_heatmap(weights, rows, source)


def certainty_of(decoding: Decoding, path: Sequence[int]) -> CanvasPicture:
    """Return how likely each token of a path was when it was written."""
    steps = decoding.steps_to(path)
    probabilities = np.exp([step.log_probability for step in steps])
    return probability_bars(
        {"when it was written": probabilities}, [step.token.text for step in steps]
    )


def rows_of(steps: Sequence[dict], kind: Kind, layer: int, head: HeadChoice) -> np.ndarray:
    """Return the weights or visible keys at each step (T, K), of a head or a summary of all."""
    return one_head(as_array(stack_rows(steps, kind)[layer]), head)  # (H, T, K) before


def bars_of(step: DecodingStep) -> list[Bar]:
    """Return the candidates of a step, each after the part of its word that is already written."""
    word, bars = step.text.rpartition(" ")[2], []
    for candidate in step.candidates(CANDIDATES):
        goes_on = candidate.token.start == len(step.text) and not candidate.token.is_special
        before, written = word if goes_on else "", candidate.token.id == step.token.id
        bars.append(
            Bar(candidate.token.text, candidate.probability, before, candidate.drawn, written)
        )
    return bars


def tree_of(decoding: Decoding, selected: tuple[int, int] | None) -> CanvasPicture:
    """Return every text that was kept or dropped, as a tree."""
    best = list(enumerate(decoding.path))
    leaves = [
        [leaf_of(node, (step, index) in best) for index, node in enumerate(nodes)]
        for step, nodes in enumerate(decoding.tree)
    ]
    return beam_tree(leaves, selected=selected)


def leaf_of(node: Node, best: bool) -> Leaf:
    numbers = node.log_probability, node.score
    return Leaf(node.parent, node.token.text, node.text, *numbers, node.kept, node.ended, best)


def ending(last: Node, steps: int) -> str:
    """Return why a text has no steps after its last node, in words."""
    if last.ended:
        return "The end token: it stops here."
    return f"Stopped at the limit, after {steps} tokens." if last.kept else "Dropped here."
