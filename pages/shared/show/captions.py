"""Sites and edits in words, as captions say them."""

from __future__ import annotations

from model.edits import Edits
from model.trace import Kind
from pages.shared.state.choices import KINDS, SUMMARIES, Head

MOST_HEADS = 6  # that are named one by one


def site_words(kind: Kind, layer: Head, head: Head | None = None) -> str:
    """Return a kind of attention, its layer, and its head if only one is meant, in words.

    Layers and heads count from 0 here and from 1 in the words.
    """
    words = [KINDS[kind], f"{layer} of the layers" if layer in SUMMARIES else f"layer {layer + 1}"]
    if head is not None:
        words.append(f"{head} of the heads" if head in SUMMARIES else f"head {head + 1}")
    return ", ".join(words)


def edit_words(edits: Edits) -> str:
    """What was changed; empty where nothing was. Layers and heads count from 1."""
    parts = [
        name
        for name, on in (
            ("look-ahead mask off", edits.look_ahead),
            ("padding mask off", edits.padding),
        )
        if not on
    ]
    parts += [
        f"{KINDS[kind]} within {width} positions of the diagonal"
        for kind, width in edits.windows.items()
    ]
    gates = [
        f"{KINDS[kind]}, layer {layer + 1}, head {head + 1} "
        + ("off" if gate == 0 else f"faded to {gate:.2f}")
        for (kind, layer, head), gate in edits.gates.items()
        if gate != 1
    ]
    parts += gates[:MOST_HEADS]
    if len(gates) > MOST_HEADS:
        parts.append(f"{len(gates) - MOST_HEADS} more heads off or faded")
    last = {(cell.kind, cell.query, cell.key, cell.layer, cell.head): cell for cell in edits.cells}
    opened = sum(cell.opened for cell in last.values())
    for count, verb in ((len(last) - opened, "closed"), (opened, "opened")):
        if count:
            parts.append(f"{count} cell{'s' if count > 1 else ''} of the masks {verb}")
    return "; ".join(parts)
