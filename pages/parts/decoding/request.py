"""What is asked of a decoding, and the last one that could be made."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from model import Decoding
from model.decoding.strategies import Strategy
from pages.parts.decoding.branches import Branch, branches_of
from pages.parts.decoding.strategies import LONGEST, choose_strategy, strategy_words
from pages.shared.runs.run import ModelRun, decoded
from pages.shared.state import edit_history


@dataclass(frozen=True)
class Request:
    """Everything that decides a decoding."""

    run: ModelRun
    strategy: Strategy = Strategy()
    longest: int = LONGEST.default
    branch: Branch = Branch()

    def decode(self, branch: Branch | None = None) -> Decoding:
        """Decode it, or another branch of it; raise ValueError if that cannot be done."""
        return decoded(self.run, self.strategy, self.longest, (branch or self.branch).forced)

    @property
    def can_be_decoded(self) -> bool:
        """Whether something is written."""
        try:
            self.decode()
        except ValueError:
            return False
        return True

    @property
    def words(self) -> str:
        """The way of decoding in words."""
        forced = f", forced: {self.branch.name}" if self.branch.forced else ""
        return f"Decoded by {strategy_words(self.strategy, self.longest)}{forced}"


def choose_request(run: ModelRun) -> Request | None:
    """Draw the settings and return them; if they cannot be decoded, say why and return the last.

    Return None for a text after which nothing can be written.
    """
    plain = Request(replace(run, edits=edit_history.edits()))
    last = st.session_state.get("asked", plain)
    if last.run.as_trained != run:
        last = plain
    try:
        strategy, longest = choose_strategy()
        branch = branches_of(run).shown
        request = replace(plain, strategy=strategy, longest=longest, branch=branch)
        request.decode()
    except ValueError as error:
        request = replace(last, run=plain.run)
        if not request.can_be_decoded:
            st.text(str(error))
            return None
        explain(str(error))
    if refused := st.session_state.pop("refused", None):
        explain(refused)
    st.session_state.asked = request
    return request


def refuse(why: str) -> None:
    """Have the page say why something was not done; call it in a callback."""
    st.session_state.refused = why


def explain(why: str) -> None:
    """Say why something was not done; the reason may have what a visitor typed in it."""
    st.error("That did not work, so the previous result is still shown.")
    st.text(why)
