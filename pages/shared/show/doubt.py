"""The warning of a translation that is not to be trusted, in words."""

from dataclasses import replace
from math import exp

import streamlit as st

from headlight.model.insight.doubt import LEAST_SURE, Doubt, alignment_in, doubts
from headlight.pages.shared.runs.run import ModelRun, written
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state.models import DEFAULT

BEYOND = "Beyond what this small model knows: "
WHY = {
    "no words": "there is no word in it.",
    "script": "these are letters that it has not learned.",
    "capitals": "it has hardly read a text in capitals.",
    "language": "this looks {what}, and it reads only English.",
    "repeated": "your text came back untranslated, which is right only if French says the same.",
    "missing": "the translation leaves out or changes “{what}”.",
    "lost": "“{what}” may be lost: the head that aligns words hardly looks there.",
    "pieces": "“{what}” falls into {number:.0f} pieces: the model may not know the word.",
    "unsure": (
        "it was unsure, so expect mistakes: it gave a token a probability of {number:.2f} on "
        f"average, and of over {exp(LEAST_SURE):.2f} in 98 of 100 good translations."
    ),
}
LIMITS = "The model's limits"
LONGEST_WORD = 40  # characters of a word that are shown


def warn(run: ModelRun) -> None:
    """Say why the shipped model's translation is not to be trusted, if there is a sign of it.

    The signs are those of the model as trained, whatever a visitor changed in it.
    """
    if run.model != DEFAULT:
        return
    trained = replace(run.as_trained, target="", pad_to=None)
    usual, alignment = written(trained), alignment_in(trained.trace())
    read = run.sentence, usual.source_tokens
    if doubt := next(doubts(*read, usual.text, usual.log_probabilities, alignment), None):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="doubt"):
            st.text(why(doubt))
            st.page_link("pages/model.py", label=LIMITS)


def why(doubt: Doubt) -> str:
    """Return a sign in a sentence."""
    number = exp(doubt.number) if doubt.sign == "unsure" else doubt.number
    what = doubt.what if len(doubt.what) <= LONGEST_WORD else f"{doubt.what[:LONGEST_WORD]}…"
    words = WHY[doubt.sign].format(what=what, number=number)
    return capital(words) if doubt.sign == "repeated" else f"{BEYOND}{words}"
