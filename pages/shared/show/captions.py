"""Sites and edits in words, as captions say them."""

from __future__ import annotations

from model.edits import Edits, describe
from model.trace import Kind
from pages.shared.state.choices import KINDS, SUMMARIES, Head


def site_words(kind: Kind, layer: Head, head: Head | None = None) -> str:
    """Return a kind of attention, its layer, and its head if only one is meant, in words.

    Layers and heads count from 0 here and from 1 in the words.
    """
    words = [KINDS[kind], f"{layer} of the layers" if layer in SUMMARIES else f"layer {layer + 1}"]
    if head is not None:
        words.append(f"{head} of the heads" if head in SUMMARIES else f"head {head + 1}")
    return ", ".join(words)


def edit_words(edits: Edits) -> str:
    """Return what was changed, in words; empty if nothing was."""
    return "; ".join(describe(edits, KINDS))
