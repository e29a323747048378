"""What a model writes without each of its heads and with other masks, for a file without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from model.decoding.steps import Writing
from model.edits import Edits
from pages.shared.deck.file import WithoutHeads
from pages.shared.runs.head_effects import removal_effects
from pages.shared.runs.run import ModelRun, written
from pages.shared.runs.without_heads import written_without_heads
from pages.shared.show.captions import edit_words
from pages.shared.show.pictures import chips_written
from pages.shared.state.choices import KINDS
from viz import CanvasPicture, head_effects, token_strip
from viz.numbers import number_text

MASKS = (Edits(look_ahead=False), *(Edits(windows={kind: 1}) for kind in KINDS))


def without_heads(sentence: str, report: Callable[[float], None]) -> WithoutHeads | None:
    """Return what the chosen model translates a sentence to; None if it does not translate.

    `report` is called with the share that is done. Raises ValueError if it cannot read it.
    """
    run = ModelRun(sentence)
    if "write" in run.reader.missing or "cross" not in run.reader.shape.kinds:
        return None
    trained = written(run)
    effects = removal_effects(run, None, lambda _, share: report(share / 2))
    off = written_without_heads(run, lambda share: report((1 + share) / 2))
    return WithoutHeads(
        board=head_effects(effects, labels=KINDS),
        trained=strip(trained),
        off={head: strip(found, trained) for head, found in off.written.items()},
        untried=off.untried,
        masks={edit_words(mask): strip(with_mask(run, mask), trained) for mask in MASKS},
    )


def with_mask(run: ModelRun, mask: Edits) -> Writing:
    """Return what is written with another mask."""
    return written(replace(run, edits=mask))


def strip(found: Writing, trained: Writing | None = None) -> CanvasPicture:
    """Return a translation as it is drawn, with what differs from that `as trained` framed."""
    label = f"Log-probability {number_text(found.score)}"
    return token_strip(found.text, chips_written(found, trained), label=label, explained=False)
