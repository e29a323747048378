"""What a decoder alone loses without the head that the others build on."""

from __future__ import annotations

import streamlit as st

from model.training.state import TrainingState
from pages.parts.training.words import INDUCTION, LESION
from pages.shared.runs.training import lesioned
from pages.shared.show.captions import site_words
from pages.shared.show.glossary import caption
from pages.shared.state.workshop import Run


def lesion(run: Run, state: TrainingState) -> None:
    """Draw the loss and the induction score with and without the previous-token head."""
    found = lesioned(run.key, state.step, run.job)
    before = found.whole.previous[found.site.layer, found.head].item()
    st.subheader("Without the previous-token head")
    which = site_words(found.site.kind, found.site.layer, found.head)
    st.markdown(f"{which} looks most at the letter just before: score {before:.3f}.")
    readings = {"All heads on": found.whole, "That head off": found.without}
    for name, reading in readings.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{name}**", width=110)
            score = reading.induction.max().item()
            st.metric(INDUCTION, f"{score:.3f}", width=130)
            st.metric("Loss of the second reading", f"{reading.loss:.3f}", width=220)
    caption(LESION)
