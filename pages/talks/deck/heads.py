"""What a model writes without single heads and with other masks, for a file without a model."""

from collections.abc import Callable
from dataclasses import replace

from headlight.model.decoding.steps import Writing
from headlight.model.edits import Edits, MaskAddress
from headlight.pages.shared.runs.heads import removal_effects, written_without_heads
from headlight.pages.shared.runs.run import ModelRun, written
from headlight.pages.shared.show.captions import edit_words
from headlight.pages.shared.show.pictures import chips_written
from headlight.pages.shared.state.choices import KINDS
from headlight.pages.talks.deck.file import WithoutHeads
from headlight.viz import CanvasPicture, head_effects, token_strip
from headlight.viz.numbers import number_text

MASKS = (
    Edits(off=["look-ahead"]),
    *(Edits(masks={MaskAddress("window", kind): (1,)}) for kind in KINDS),
)


def without_heads(sentence: str, report: Callable[[float], None]) -> WithoutHeads | None:
    """Return the translations of a sentence by the chosen model; None if it does not translate.

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
        off={head: strip(writing, trained) for head, writing in off.written.items()},
        untried=off.untried,
        masks={edit_words(mask): strip(with_mask(run, mask), trained) for mask in MASKS},
    )


def with_mask(run: ModelRun, mask: Edits) -> Writing:
    return written(replace(run, edits=mask))


def strip(writing: Writing, trained: Writing | None = None) -> CanvasPicture:
    """Return the picture of a translation, with the differences from that `as trained` framed."""
    label = f"Log-probability {number_text(writing.score)}"
    return token_strip(writing.text, chips_written(writing, trained), label=label, explained=False)
