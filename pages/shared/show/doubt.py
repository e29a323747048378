"""The warning that a translation may be wrong, and the offer of a likelier one by beam search."""

from dataclasses import replace
from math import exp

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.model.insight.doubt import (
    LEAST_SURE,
    Doubt,
    alignment_in,
    doubts,
    is_clearly_likelier,
)
from headlight.pages.shared.runs.door import is_busy
from headlight.pages.shared.runs.run import BEAM, ModelRun, is_written, written
from headlight.pages.shared.show.cells import follow, lead_to
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state.choices import BY_BEAM, put
from headlight.pages.shared.state.models import DEFAULT
from headlight.pages.shared.state.page import PAGES
from headlight.pages.shared.state.showing import showing
from headlight.pages.shared.state.wings import is_open

BEYOND = "Beyond what this small model knows: "
WHY = {
    "no words": "there is no word in your text.",
    "script": "these are letters that it has not learned.",
    "capitals": "it has hardly read a text in capitals.",
    "language": "this looks {what}, and it reads only English.",
    "repeated": "your text came back untranslated, which is right only if French says the same.",
    "missing": "the translation leaves out or changes “{what}”.",
    "lost": "“{what}” may be lost: the head that aligns French with English hardly looks at it.",
    "pieces": "“{what}” is split into {number:.0f} pieces: the model may not know the word.",
    "unsure": (
        "it was unsure, so expect mistakes: its tokens have a probability of {number:.2f} on "
        f"average; in 98 of 100 good translations they have more than {exp(LEAST_SURE):.2f}."
    ),
}
LIMITS = "The model's limits"
LIKELIER = "A beam of {size} finds a text that is {times} times as likely for the model: “{text}”"
MANY = 1_000  # a text more than this many times as likely is called “more than 1,000”
LONGEST_WORD = 40  # how many characters of a word are shown


def warn(run: ModelRun) -> None:
    """Draw a warning if there is a sign that the shipped model's translation is wrong.

    The translation examined is that of the model as trained, without the visitor's changes.
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


def offer_likelier(run: ModelRun, place: DeltaGenerator) -> None:
    """Draw in `place` the text that beam search writes, if it is clearly likelier for the model.

    This is only for the shipped model, and not on slides. Call it after the pictures, because beam
    search takes longer. While other visitors wait for the model, only a stored result is shown.
    """
    is_default = run.model == DEFAULT and run.is_as_trained and run.strategy != BEAM
    if not is_default or showing().scene() is not None:
        return
    by_beam = replace(run, strategy=BEAM)
    if is_busy() and not is_written(by_beam):
        return
    usual, beam = written(run), written(by_beam)
    if is_clearly_likelier(beam, usual):
        ratio = exp(beam.score - usual.score)
        times = f"{ratio:,.0f}" if ratio < MANY else f"more than {MANY:,}"
        with place.container(
            horizontal=True, vertical_alignment="center", gap="small", key="likelier-line"
        ):
            st.text(LIKELIER.format(size=BEAM.beam_size, times=times, text=beam.text))
            st.button("Take it", type="tertiary", on_click=put, args=[BY_BEAM, True])
            if is_open(PAGES["decoding"]):
                st.button("Watch the beam write it", type="tertiary", on_click=watch_the_beam)
    follow()


def watch_the_beam() -> None:
    """Choose beam search, and go to the page Decoding; a callback."""
    options = {option: getattr(BEAM, option) for option in BEAM.method.options}
    st.session_state.update(options, strategy=BEAM.strategy)
    lead_to("decoding")


def why(doubt: Doubt) -> str:
    """Return the warning, a sentence, for a sign that a translation is wrong."""
    number = exp(doubt.number) if doubt.sign == "unsure" else doubt.number
    what = doubt.what if len(doubt.what) <= LONGEST_WORD else f"{doubt.what[:LONGEST_WORD]}…"
    words = WHY[doubt.sign].format(what=what, number=number)
    return capital(words) if doubt.sign == "repeated" else f"{BEYOND}{words}"
