"""What is asked of a decoding, and the last one that could be made."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from model import Decoding
from model.decoding.strategies import Strategy
from pages.parts.decoding.branches import BRANCH, Branch, branches_of, text_at
from pages.parts.decoding.strategies import (
    LONGEST,
    choose_strategy,
    chosen_strategy,
    strategy_words,
)
from pages.shared.controls.opening import set_aside
from pages.shared.link import address
from pages.shared.runs.run import ModelRun, decoded
from pages.shared.show.guess import choose_guess
from pages.shared.show.stage import NOTE, place
from pages.shared.state import edit_history
from pages.shared.state.choices import chosen
from pages.shared.widgets.choose import choose_head, choose_layer


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

    In the same row is the choice of the head whose weights are shown. Return None for a text after
    which nothing can be written.
    """
    plain = Request(replace(run, edits=edit_history.in_force()))
    last = st.session_state.get("asked", plain)
    if last.run.as_trained != run:
        last = plain
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        choose_strategy()
        set_aside()
        choose_layer("decoder")
        choose_head("decoder")
        choose_guess()
    try:
        strategy, longest = chosen_strategy()
        request = replace(plain, strategy=strategy, longest=longest)
        request = replace(request, branch=choose_branch(request))
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


def choose_branch(request: Request) -> Branch:
    """Return the chosen branch of a decoding; one of an address only if it can be decoded here."""
    branches, branch = branches_of(request.run), chosen(BRANCH)
    if branch not in branches.kept:
        try:
            found = text_at(request.decode(branch), branch.forced, branch.step)
        except ValueError:
            found = None
        if found == branch.text:
            branches.keep(branch)
        else:
            with place(NOTE):
                address.refuse(BRANCH)
    return chosen(BRANCH)


def refuse(why: str) -> None:
    """Have the page say why something was not done; call it in a callback."""
    st.session_state.refused = why


def explain(why: str) -> None:
    """Say why something was not done; the reason may have what a visitor typed in it."""
    st.error("That did not work, so the previous result is still shown.")
    st.text(why)
