"""A line that says when a sentence is beyond what the shipped model knows, and by which sign."""

import streamlit as st

from model.insight.doubt import LEAST_SURE, Doubt, doubts
from pages.shared.runs.run import ModelRun, written
from pages.shared.state.catalog import DEFAULT

BEYOND = "Beyond what this small model knows: "
WHY = {
    "no words": "there is no word in it.",
    "script": "these are letters that it has not learned.",
    "capitals": "it has hardly read a text in capitals.",
    "language": "this looks {what}, and it reads English alone.",
    "pieces": "“{what}” falls into {number:.0f} pieces, so it does not know it as a word.",
    "unsure": (
        "it was unsure, with {number} nats a token; 98 in 100 good translations are above "
        f"−{-LEAST_SURE}."
    ),
}
LIMITS = "Its limits"
LONGEST_WORD = 40  # characters of a word that are shown


def warn(run: ModelRun) -> None:
    """Say why the shipped model's translation is not to be trusted, if there is a sign of it.

    The signs are those of the model as trained, whatever a visitor changed in it.
    """
    if run.model != DEFAULT:
        return
    usual = written(run.as_trained)
    found = next(doubts(run.sentence, usual.source_tokens, usual.log_probabilities), None)
    if found is not None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="doubt"):
            st.text(BEYOND + why(found))
            st.page_link("pages/model.py", label=LIMITS)


def why(found: Doubt) -> str:
    """Return a sign in words."""
    number = f"−{-found.number:.2f}" if found.sign == "unsure" else found.number
    what = found.what if len(found.what) <= LONGEST_WORD else f"{found.what[:LONGEST_WORD]}…"
    return WHY[found.sign].format(what=what, number=number)
