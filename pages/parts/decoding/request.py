"""What is asked of a decoding, and the last one that could be made."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from model import Decoding
from model.decoding.strategies import Strategy
from model.edits import Edits
from pages.parts.decoding.branches import Branch, branches_of
from pages.parts.decoding.strategies import LONGEST, choose_strategy, strategy_words
from pages.shared.runs.translator import decoded
from pages.shared.state import models


@dataclass(frozen=True)
class Request:
    """Everything that decides a decoding, but for the edits."""

    model: str  # its key
    sentence: str
    strategy: Strategy = Strategy()
    longest: int = LONGEST.default
    branch: Branch = Branch()

    def decode(self, edits: Edits, forced: tuple[int, ...] | None = None) -> Decoding:
        """Decode it, or with other forced ids; raise ValueError if that cannot be done."""
        forced = self.branch.forced if forced is None else forced
        return decoded(self.sentence, self.strategy, self.longest, forced, edits, name=self.model)

    @property
    def words(self) -> str:
        """The way of decoding in words."""
        forced = f", forced: {self.branch.name}" if self.branch.forced else ""
        return f"Decoded by {strategy_words(self.strategy, self.longest)}{forced}"


def decode_or_explain(sentence: str, edits: Edits) -> tuple[Request, Decoding]:
    """Draw the settings and decode; if that cannot be done, say why and return the last result."""
    model, last = models.chosen().key, st.session_state.get("asked")
    if last is None or (last.model, last.sentence) != (model, sentence):
        last = Request(model, sentence)
    try:
        request = Request(model, sentence, *choose_strategy(), branches_of(sentence).shown)
        decoding = request.decode(edits)
    except ValueError as error:
        explain(str(error))
        request, decoding = last, last.decode(edits)
    if refused := st.session_state.pop("refused", None):
        explain(refused)
    st.session_state.asked = request
    return request, decoding


def refuse(why: str) -> None:
    """Have the page say why something was not done; call it in a callback."""
    st.session_state.refused = why


def explain(why: str) -> None:
    """Say why something was not done; the reason may have what a visitor typed in it."""
    st.error("That did not work, so the previous result is still shown.")
    st.text(why)
