"""Atlas: what every head does over a corpus, and how this sentence compares."""

import streamlit as st

from headlight.pages.shared.address import section
from headlight.pages.shared.controls.sentence import ask
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.riddle import CHOICES as RIDDLE
from headlight.pages.shared.show.sight import tabs
from headlight.pages.shared.state.choices import TARGET
from headlight.pages.shared.state.page import Page
from headlight.wings.atlas.calls import atlas_of, shown_text
from headlight.wings.atlas.files import Atlas
from headlight.wings.atlas.page import (
    all_heads,
    by_weights,
    likeness,
    one_head,
    own_text,
    search,
    two_statistics,
)
from headlight.wings.atlas.page.figures import TAB

# The tabs: each has a function `draw`, its choices and its pictures.
PARTS = {
    "heads": all_heads,
    "two": two_statistics,
    "likeness": likeness,
    "head": one_head,
    "weights": by_weights,
    "search": search,
}
INTRO = "What every head does over {text}, with the model as trained. “A head” adds your sentence."
NO_ATLAS = (
    "There is no atlas of this model here: count a text of your own above. For a notebook, "
    "`python -m headlight.wings.atlas --model NAME --text FILE --output FOLDER` makes one."
)


@section
def everything(run: ModelRun, known: Atlas) -> None:
    sections = {key: lambda part=part: part.draw(run, known) for key, part in PARTS.items()}
    tabs(TAB, sections, {key: part.PICTURES for key, part in PARTS.items()})


@section
def without_atlas(run: ModelRun) -> None:
    by_weights.draw(run)


def atlas() -> None:
    if run := ask(target=TARGET):
        own_text.draw()
        if known := atlas_of(run.model):
            caption(INTRO.format(text=shown_text(run.model)))
            everything(run, known)
        else:
            st.info(NO_ATLAS)
            if not {"own layers", "add up logits"} & run.reader.missing.keys():
                without_atlas(run)


PAGE = Page(
    key="atlas",
    title="Atlas",
    group="Look",
    purpose="What every head does over many sentences",
    body=atlas,
    choices=(
        TARGET,
        TAB,
        *RIDDLE,
        *own_text.CHOICES,
        *(choice for part in PARTS.values() for choice in part.CHOICES),
    ),
    pictures={key: words for part in PARTS.values() for key, words in part.PICTURES.items()},
    first=("atlas-map",),
    riddles=("circuit-copying", "circuit-dictionary", "circuit-feeds"),
    asks="what is under “By its weights only”",
)
