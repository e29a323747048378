"""What follows from a mask, and what masks are for: tabs below the mask in force."""

from itertools import cycle

import streamlit as st
import torch

from headlight.model.masks import masked_softmax
from headlight.model.trace import AttentionRecord, Site
from headlight.pages.parts.masks.library import mask_library
from headlight.pages.parts.masks.stages import Focus, stages
from headlight.pages.shared.runs.arrays import blocked_cells, tokens_of
from headlight.pages.shared.runs.run import ModelRun, masks_of
from headlight.pages.shared.runs.training import cheat
from headlight.pages.shared.show.captions import labels_of
from headlight.pages.shared.show.cells import OpenCell
from headlight.pages.shared.show.glossary import caption
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.saving import About, about_run
from headlight.pages.shared.show.sight import tabs
from headlight.pages.shared.show.words import BLOCKING, MASK_WORDS
from headlight.pages.shared.state import models
from headlight.pages.shared.state.catalog import SHIPPED
from headlight.pages.shared.state.choice import counted, one_of
from headlight.pages.shared.state.choices import KINDS, MOST_TOKENS
from headlight.pages.shared.widgets.choose import choose, choose_token
from headlight.viz import attention_heatmap, mask_matrix
from headlight.viz.numbers import number_text

METHOD = one_of(
    "method", {name: name.replace("-inf", "−∞") for name in BLOCKING}, label="Block with"
)
BLOCKED_ROW = counted("blocked_row", 1, MOST_TOKENS, label="Block this query completely")
TITLES = {
    "stages": "From scores to weights",
    "library": "Masks of today",
    "trained": "The masks as trained",
    "blocking": "Why −∞ and nothing else",
    "ahead": "Why the decoder may not look ahead",
}
TAB = one_of("masks_tab", TITLES, label="What is shown")
LIBRARY = {"mask-library": "all masks, small"}
PICTURES = {  # pictures that a slide may show, with their names
    "trained-padding mask": "the padding mask",
    "trained-look-ahead mask": "the look-ahead mask",
    "trained-both": "both masks",
}


def below(
    trained: ModelRun,
    run: ModelRun,
    before: AttentionRecord,
    after: AttentionRecord,
    focus: Focus,
    open_cell: OpenCell | None,
) -> None:
    """Draw the chosen tab, about a site's records as trained and with changes, or about masks."""
    sections = {
        "stages": lambda: stages(before, after, focus, open_cell),
        "library": lambda: mask_library(run, focus.site),
        "trained": lambda: as_trained(trained, focus),
    }
    if after.scores is not None:
        sections["blocking"] = lambda: ways_of_blocking(after, focus)
    if models.chosen().key in SHIPPED:
        sections["ahead"] = lambda: why_not_look_ahead(trained.sentence, trained.target_text())
    tabs(TAB, sections, {"trained": PICTURES, "library": LIBRARY})


def as_trained(run: ModelRun, focus: Focus) -> None:
    """Draw the masks of a model as trained, in the shapes that it uses, or layer by layer."""
    of = about_run(run)
    if "own layers" not in run.reader.missing and "cross" in run.reader.shape.kinds:
        trained_masks(run, of)
    else:
        masks_by_layers(run, focus.site, of)


def trained_masks(run: ModelRun, of: About) -> None:
    """Draw the masks of the model as trained, on the visitor's tokens, in the shapes it uses."""
    target, source = tokens_of(run.trace(), "cross")
    rows, _ = labels_of(run, "decoder")
    padding, look_ahead, combined = (mask.cpu().numpy() for mask in masks_of(run))
    pictures = {
        "padding mask": mask_matrix(padding, ["every query"], source, label="Padding mask"),
        "look-ahead mask": mask_matrix(look_ahead, rows, target, label="Look-ahead mask"),
        "both": mask_matrix(combined, rows, target, label="Both, as the decoder uses them"),
    }
    # A single row of cells is wide, and the squares need room for their labels.
    places = [st.container(), *st.columns(2, gap="medium")]
    for room, (name, picture) in zip(places, pictures.items(), strict=True):
        with room:
            st.markdown(MASK_WORDS[name])
            show(picture, f"trained-{name}", of=of, what=f"Mask as trained, {name}")


def masks_by_layers(run: ModelRun, site: Site, of: About) -> None:
    """Draw the masks that the layers of each kind have; for a large model, that of one site."""
    recorded = run.trace().attention or [site]
    groups: dict[tuple, list[Site]] = {}
    for each in recorded:
        visible = ~blocked_cells(run.record(each))
        groups.setdefault((each.kind, visible.shape, visible.tobytes()), []).append(each)
    for column, sites in zip(cycle(st.columns(2)), groups.values(), strict=False):
        kind, layers = sites[0].kind, len(sites)
        which = f"layers {', '.join(str(each.layer + 1) for each in sites)}"
        label = (
            f"{KINDS[kind]}, {'all layers' if layers == run.reader.shape.layers(kind) else which}"
        )
        with column:
            visible = ~blocked_cells(run.record(sites[0]))
            picture = mask_matrix(visible, *labels_of(run, kind), label=label)
            key = "trained-both" if sites is next(iter(groups.values())) else f"trained-{label}"
            show(picture, key, of=of, what=f"Mask as trained, {label}")
    caption(MASK_WORDS["own"])


def why_not_look_ahead(sentence: str, target: str) -> None:
    """Show a model that could always see the next token, on the same target."""
    score, text = cheat(sentence, target)
    numbers, words = st.columns([1, 2], gap="medium")
    with numbers:
        label = "The log-probability of the whole target, for a model trained without mask"
        st.metric(label, f"{number_text(score)} nats")
    with words:
        caption("Its own translation, when there is no answer to look at:")
        st.text(text or "(nothing)")
    caption(MASK_WORDS["cheating"])


def ways_of_blocking(record: AttentionRecord, focus: Focus) -> None:
    """Draw the same mask made in three ways, with one row blocked completely."""
    queries, _ = focus.tokens
    choice, picture = st.columns(2, gap="medium")
    with choice:
        method = choose(METHOD)
        row = choose_token(BLOCKED_ROW, queries)
        visible = record.masked_scores[0, focus.head].isfinite()
        visible[row] = False
        weights = masked_softmax(record.scores[0, focus.head], visible, method)
        sums = weights.sum(dim=-1)
        others = torch.cat([sums[:row], sums[row + 1 :]])
        st.metric("Sum of the blocked row", f"{sums[row]:.3f}")
        if len(others):
            st.metric("Sums of the other rows", f"{others.min():.3f} to {others.max():.3f}")
        st.metric("Weight on forbidden keys", f"{weights[~visible].sum():.3f}")
        caption(BLOCKING[method])
    with picture:
        closed = (~visible & (weights == 0)).cpu().numpy()  # the other cells are what goes wrong
        heatmap = attention_heatmap(weights.cpu().numpy(), *focus.tokens, blocked=closed)
        what = f"Row {row + 1} blocked with {method}, {focus.words}"
        show(heatmap, "blocking", of=focus.of, what=what)
