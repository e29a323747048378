"""What follows from a mask, and what masks are for: tabs below the mask in force."""

import streamlit as st
import torch

from headlight.model.masks import masked_softmax
from headlight.model.trace import AttentionRecord
from headlight.pages.parts.masks.flash import FLASH, flash_attention
from headlight.pages.parts.masks.library import mask_library
from headlight.pages.parts.masks.own import PICTURES, as_trained
from headlight.pages.parts.masks.stages import Focus, stages
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.runs.training import cheat
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.cells import OpenCell
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.sight import tabs
from headlight.pages.shared.show.words import BLOCKING, MASK_WORDS
from headlight.pages.shared.state import models
from headlight.pages.shared.state.choice import counted, one_of
from headlight.pages.shared.state.choices import MOST_TOKENS
from headlight.pages.shared.state.models import SHIPPED
from headlight.pages.shared.widgets.choose import choose, choose_token
from headlight.viz import attention_heatmap
from headlight.viz.numbers import number_text

METHOD = one_of(
    "method", {name: name.replace("-inf", "−∞") for name in BLOCKING}, label="Block with"
)
BLOCKED_ROW = counted("blocked_row", 1, MOST_TOKENS, label="Block this query completely")
TITLES = {
    "stages": "From scores to weights",
    "library": "Masks of today",
    "trained": "As this model has them",
    "blocking": "Why −∞ and nothing else",
    "flash": "FlashAttention",
    "ahead": "Why not look ahead",
}
TAB = one_of("masks_tab", TITLES, label="What is shown")
LIBRARY = {"mask-library": "all masks, small"}


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
        "trained": lambda: as_trained(trained, run),
    }
    if after.scores is not None:
        sections["blocking"] = lambda: ways_of_blocking(after, focus)
    if after.value is not None and after.sinks is None:
        sections["flash"] = lambda: flash_attention(after, focus)
    if models.chosen().key in SHIPPED:
        sections["ahead"] = lambda: why_not_look_ahead(trained.sentence, trained.target_text())
    tabs(TAB, sections, {"trained": PICTURES, "library": LIBRARY, "flash": FLASH})


def why_not_look_ahead(sentence: str, target: str) -> None:
    """Show a model that could always see the next token, on the same target."""
    score, text = cheat(sentence, target)
    numbers, words = st.columns([1, 2], gap="medium")
    with numbers:
        caption("A model trained without mask:")
        st.metric("The log-probability of the whole target", f"{number_text(score)} nats")
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
