"""Cause: what written words depend on, measured next to where the heads look."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from headlight.model.edits import Edits
from headlight.pages.shared.address import section
from headlight.pages.shared.controls.sentence import ask
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.doubt import warn
from headlight.pages.shared.show.riddle import CHOICES as RIDDLE
from headlight.pages.shared.show.sight import tabs
from headlight.pages.shared.show.words import notes
from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.choice import one_of
from headlight.pages.shared.state.choices import TARGET
from headlight.pages.shared.state.page import Page
from headlight.wings.cause.page import estimate, knockout, patching, truth, wrote

READS = "Here, the model with your changes reads the text that it writes as trained."
# Each tab has a title, a function `draw`, its choices and its pictures.
TABS = {
    "knockout": knockout,
    "truth": truth,
    "wrote": wrote,
    "patching": patching,
    "estimate": estimate,
}
TAB = one_of("cause_tab", {key: tab.TITLE for key, tab in TABS.items()}, label="What is shown")


@section
def everything(run: ModelRun) -> None:
    sections = {key: lambda tab=tab: tab.draw(run) for key, tab in TABS.items()}
    tabs(TAB, sections, {key: tab.PICTURES for key, tab in TABS.items()})


def cause() -> None:
    if run := ask(target=TARGET):
        trace = run.trace()
        read = trace.source_tokens or trace.target_tokens
        for note in notes(read, drawn=False):
            st.info(note)
        warn(run)
        edits = edit_history.in_force()
        if edits != Edits() and not run.target and "write" not in run.reader.missing:
            caption(READS)
        everything(replace(run, edits=edits))


def with_text(run: ModelRun, values: Mapping[str, Any]) -> ModelRun:
    """Return the run with the chosen text of the decoder, if it stands next to an encoder."""
    reads_beside = "cross" in run.reader.shape.kinds
    return replace(run, target=values[TARGET.key]) if reads_beside else run


PAGE = Page(
    key="cause",
    title="Cause",
    group="Change",
    purpose="Which words a written token depends on, next to where the heads look",
    body=cause,
    changes="in force",
    own=with_text,
    choices=(
        TARGET,
        TAB,
        *RIDDLE,
        *(choice for tab in TABS.values() for choice in tab.CHOICES),
    ),
    pictures={key: words for tab in TABS.values() for key, words in tab.PICTURES.items()},
    first=("knockout",),
    riddles=(
        "knockout",
        *("truth-reading", "truth-losses", "truth-ranks"),
        *("wrote-heads", "wrote-keys"),
        *("patch-heads", "patch-tokens"),
        *("estimate-map", "estimate-heads", "estimate-cells"),
    ),
)
