"""What follows from a mask, and what masks are for: tabs below the mask in force."""

from model.trace import AttentionRecord
from pages.parts.masks.lessons import (
    masks_by_layers,
    trained_masks,
    ways_of_blocking,
    why_not_look_ahead,
)
from pages.parts.masks.stages import Focus, stages
from pages.shared.runs.run import ModelRun
from pages.shared.show.cells import OpenCell
from pages.shared.show.saving import about_run
from pages.shared.show.sight import tabs
from pages.shared.state import models
from pages.shared.state.catalog import SHIPPED
from pages.shared.state.choice import one_of

TITLES = {
    "stages": "From scores to weights",
    "trained": "The masks as trained",
    "blocking": "Why −∞ and nothing else",
    "ahead": "Why the decoder may not look ahead",
}
TAB = one_of("masks_tab", TITLES, label="What is shown")
PICTURES = {  # pictures that a slide may show, with their names
    "trained-padding mask": "the padding mask",
    "trained-look-ahead mask": "the look-ahead mask",
    "trained-both": "both masks",
}


def below(
    trained: ModelRun,
    before: AttentionRecord,
    after: AttentionRecord,
    focus: Focus,
    open_cell: OpenCell | None,
) -> None:
    """Draw the chosen tab, about a site's records as trained and with changes, or about masks."""
    sections = {
        "stages": lambda: stages(before, after, focus, open_cell),
        "trained": lambda: as_trained(trained, focus),
    }
    if after.scores is not None:
        sections["blocking"] = lambda: ways_of_blocking(after, focus)
    if models.chosen().key in SHIPPED:
        sections["ahead"] = lambda: why_not_look_ahead(trained.sentence, trained.target_text)
    tabs(TAB, sections, {"trained": PICTURES})


def as_trained(run: ModelRun, focus: Focus) -> None:
    """Draw the masks of a model as trained, in the shapes that it uses, or layer by layer."""
    of = about_run(run)
    if "own layers" not in run.reader.missing and "cross" in run.reader.shape.kinds:
        trained_masks(run, of)
    else:
        masks_by_layers(run, focus.site, of)
