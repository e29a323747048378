"""The settings of a decoding, and the last ones that could be decoded."""

from dataclasses import dataclass, fields, replace

import streamlit as st

from model import Decoding
from model.decoding.strategies import STRATEGIES, Strategy
from pages.parts.decoding.branches import BRANCH, Branch, branches_of, text_at
from pages.shared.link import address
from pages.shared.runs.run import ModelRun, decoded
from pages.shared.state import edit_history
from pages.shared.state.choice import Choice, number, one_of
from pages.shared.state.choices import chosen, set_aside
from pages.shared.state.showing import NOTE, place
from pages.shared.widgets.choose import choose, choose_head, choose_layer

OPTIONS = {
    field.name: number(field.name, field.default, **field.metadata)
    for field in fields(Strategy)
    if field.metadata
}
STRATEGY = one_of("strategy", {name: name.title() for name in STRATEGIES}, label="Strategy")
LONGEST_HELP = "The most tokens that are written; where they are used up, it stops."
LONGEST = number("longest", 64, (1, 255), label="Most tokens", help=LONGEST_HELP)
CHOICES = (STRATEGY, *OPTIONS.values(), LONGEST)


def options_of(name: str) -> list[Choice]:
    """Return the choices of the options that a strategy uses."""
    return [OPTIONS[option] for option in STRATEGIES[name].options]


def choose_strategy() -> None:
    for choice in (*options_of(choose(STRATEGY)), LONGEST):
        choose(choice, width=130)


def chosen_strategy() -> tuple[Strategy, int]:
    """Return the chosen strategy, and the largest number of tokens to write.

    Raise ValueError for options that make no sense.
    """
    name = chosen(STRATEGY)
    return Strategy(name, **{one.key: chosen(one) for one in options_of(name)}), chosen(LONGEST)


def strategy_words(strategy: Strategy, longest: int) -> str:
    options = options_of(strategy.strategy)
    parts = [f"{option.label.lower()} {getattr(strategy, option.key)}" for option in options]
    return ", ".join([strategy.strategy, *parts, f"at most {longest} tokens"])


@dataclass(frozen=True)
class Request:
    """Everything that determines a decoding."""

    run: ModelRun
    strategy: Strategy = Strategy()
    longest: int = LONGEST.default
    branch: Branch = Branch()

    def decode(self, branch: Branch | None = None) -> Decoding:
        """Decode its branch, or another one; raise ValueError if that cannot be done."""
        return decoded(self.run, self.strategy, self.longest, (branch or self.branch).forced)

    @property
    def can_be_decoded(self) -> bool:
        """Whether anything is written."""
        try:
            self.decode()
        except ValueError:
            return False
        return True

    @property
    def words(self) -> str:
        forced = f", forced: {self.branch.name}" if self.branch.forced else ""
        return f"Decoded by {strategy_words(self.strategy, self.longest)}{forced}"


def choose_request(run: ModelRun) -> Request | None:
    """Draw the settings and return them, or say why they fail and return the last ones.

    The choice of the head whose weights are shown is in the same row. Return None for a text after
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
    """Return the chosen branch of a decoding; one from an address only if it can be decoded."""
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
    """Store why something was not done, for the page to say; call it in a callback."""
    st.session_state.refused = why


def explain(why: str) -> None:
    """Say why something was not done; the reason may contain what a visitor typed."""
    st.error("That did not work, so the previous result is still shown.")
    st.text(why)
