"""Sites and edits in words, as captions say them."""

from __future__ import annotations

import re

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


def names_site(words: str) -> bool:
    """Return whether words say which layer or head they are about."""
    return re.search(r"\b(layer|head)s?\b", words) is not None


def counted(edits: Edits) -> str:
    """Return how much was changed, in a few words; empty if nothing was."""
    closed, opened = edits.cells_changed
    gates = list(edits.gates.values())
    heads = {"off": sum(gate == 0 for gate in gates), "faded": sum(0 < gate < 1 for gate in gates)}
    words = [] if edits.look_ahead else ["look-ahead mask off"]
    words += [] if edits.padding else ["padding mask off"]
    words += [how_many(len(edits.windows), "local window")] if edits.windows else []
    words += [f"{how_many(count, 'head')} {what}" for what, count in heads.items() if count]
    cells = {"closed": closed, "opened": opened}
    words += [f"{how_many(count, 'cell')} {what}" for what, count in cells.items() if count]
    return ", ".join(words)


def how_many(count: int, what: str) -> str:
    """Return a number of things: 1 head, 2 heads."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def edit_words(edits: Edits) -> str:
    """Return what was changed, in words; empty if nothing was."""
    return "; ".join(describe(edits, KINDS))
