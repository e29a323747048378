"""What a decoder alone loses without the head that the others build on."""

from __future__ import annotations

from math import log

import streamlit as st

from model.training.repeats import Reading
from model.training.state import TrainingState
from pages.parts.training.words import INDUCTION, LESION, LESION_LOSS
from pages.shared.runs.training import lesioned
from pages.shared.show.captions import site_words
from pages.shared.show.glossary import caption
from pages.shared.show.pictures import show
from pages.shared.show.saving import about
from pages.shared.state.workshop import Run
from viz import measure_bars

WHAT = "Induction with and without the previous-token head"


def lesion(run: Run, state: TrainingState) -> None:
    """Draw the loss and the induction score with and without the previous-token head."""
    found = lesioned(run.key, state.step, run.job)
    before = found.whole.previous[found.site.layer, found.head].item()
    st.subheader("Without the previous-token head")
    which = site_words(found.site.kind, found.site.layer, found.head)
    st.markdown(f"{which} looks most at the letter just before: score {before:.3f}.")
    runs = {"All heads on": measured(found.whole), "That head off": measured(found.without)}
    guessing = log(len(run.job.task.alphabet))
    limits = {
        INDUCTION: 1.0,
        LESION_LOSS: max(guessing, *(each[LESION_LOSS] for each in runs.values())),
    }
    changes = f"{which} is on in the first bars and off in the second"
    of = about(model=run.name, changes=changes, place=f"After {state.step:,} steps")
    show(measure_bars(runs, limits), "toy_lesion", of=of, what=WHAT)
    caption(LESION.format(guessing=guessing))


def measured(reading: Reading) -> dict[str, float]:
    """Return what is shown of how a model reads."""
    return {INDUCTION: reading.induction.max().item(), LESION_LOSS: reading.loss}
