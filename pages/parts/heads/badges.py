"""What a head does on this sentence, beside what it usually does."""

from __future__ import annotations

import numpy as np
import streamlit as st

from model.insight.head_patterns import badges
from pages.shared.controls.head_switches import Place
from pages.shared.runs.atlas import shown_text, usual
from pages.shared.runs.run import ModelRun
from pages.shared.show.glossary import caption
from pages.shared.show.words import HEAD_WORDS


def badges_of(run: ModelRun, place: Place, weights: np.ndarray, visible: np.ndarray) -> str:
    """Draw the badges of a head's weights (Q, K); return them in words, empty if there are none.

    Where the model has an atlas, what is usual over its corpus stands beside what is here.
    """
    found, known = [], False
    for name, value in badges(weights, place[0], visible):
        said = f"{name} {value:.2f}"
        if over := usual(run.model, name, *place):
            said += f" here; usually {over.mean:.2f} ± {over.deviation:.2f}"
            known = True
        found.append(said)
    st.markdown(" ".join(f":blue-badge[{said}]" for said in found) or HEAD_WORDS["no badge"])
    told = [f"Its badges: {', '.join(found)}"] if found else []
    if known:
        words = HEAD_WORDS["usually"].format(text=shown_text(run.model))
        caption(f"{words}.")
        told.append(words)
    return ". ".join(told)
