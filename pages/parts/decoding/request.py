"""The settings of a decoding, and its branches: texts that begin with tokens the visitor forced."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import streamlit as st

from headlight.model.decoding.steps import Decoding
from headlight.model.decoding.strategies import STRATEGIES, Strategy
from headlight.model.shape import Shape
from headlight.pages.shared import address
from headlight.pages.shared.runs.run import ModelRun, decoded
from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.choice import Choice, counted, number, one_of
from headlight.pages.shared.state.choices import MOST_TOKENS, applied, chosen, put, set_aside
from headlight.pages.shared.state.showing import NOTE, place
from headlight.pages.shared.widgets.choose import choose, choose_head_or_summary, choose_layer

MOST = 6  # the most branches kept, not counting the decoding without forced tokens
ROOM = 400  # characters that a branch may take in a link
LONGEST_TEXT = 120  # characters of the forced text in a link


@dataclass(frozen=True)
class Branch:
    """A decoding that begins with forced token ids; in the “free run” there are none."""

    forced: tuple[int, ...] = ()
    step: int = field(default=0, compare=False)  # the first step, from 0, that the visitor forced
    text: str = field(default="", compare=False)  # the text that was forced from there on

    @property
    def name(self) -> str:
        return f"{self.text} at step {self.step + 1}" if self.forced else "Nothing forced"


def text_at(decoding: Decoding, forced: tuple[int, ...], step: int) -> str:
    """Return the text of the forced tokens from this step on, as the page shows it."""
    steps = decoding.steps_to(decoding.path)[step : len(forced)]
    return " ".join(item.token.text for item in steps)[:LONGEST_TEXT]


def write_branch(branch: Branch) -> str:
    """Return a branch as text for a link: its first forced step from 1, its ids, its text.

    The text shows if the ids still mean the same: with another vocabulary they give another text.
    """
    ids = ".".join(map(str, branch.forced))
    return f"{branch.step + 1}:{ids}:{branch.text}" if branch.forced else ""


def read_branch(written: str, shape: Shape) -> Branch:
    """Return the branch that a link describes; ValueError if its form is invalid.

    Only decoding shows whether the model can begin a text with these tokens.
    """
    match = re.fullmatch(r"(\d{1,4}):(\d{1,7}(?:\.\d{1,7})*):(.*)", written, re.ASCII | re.DOTALL)
    if not match or len(match[3]) > LONGEST_TEXT:
        raise ValueError(f"{written} is not a branch.")
    step, forced = int(match[1]) - 1, tuple(map(int, match[2].split(".")))
    if not 0 <= step < len(forced) <= shape.max_positions:
        raise ValueError(f"{written} is not a branch.")
    return Branch(forced, step, match[3])


BRANCH = Choice("branch", Branch(), read_branch, write_branch, room=ROOM)
STEP = counted("step", 0, MOST_TOKENS, label="Step")  # the step that the player shows first


def show_branch(branch: Branch) -> None:
    """Show a branch in the player, at its first forced step; a callback."""
    put(BRANCH, branch)
    put(STEP, branch.step)


@dataclass
class Branches:
    """The decoding without forced tokens, which comes first, and the branches made from it."""

    kept: list[Branch] = field(default_factory=lambda: [Branch()])

    def keep(self, branch: Branch) -> None:
        """Add a branch; if there are too many, the oldest one is dropped."""
        if branch not in self.kept:
            free_run, *others = self.kept
            self.kept = [free_run, *others[-(MOST - 1) :], branch]

    def remove(self, branch: Branch) -> None:
        """Remove a branch; if it was shown, show the free run."""
        self.kept.remove(branch)
        if branch == chosen(BRANCH):
            show_branch(self.kept[0])


def branches_of(run: ModelRun) -> Branches:
    """Return the branches of a run; for a new text or model only the one without forced tokens.

    A new text or model also resets the chosen branch, unless a link or a slide has chosen the
    branch together with the text.
    """
    state, of, came = st.session_state, run.as_trained, applied()
    before, when, branches = state.get("branches", (None, None, None))
    if (before, when) != (of, came):
        if before and when == came:
            show_branch(Branch())
        branches = Branches()
    state.branches = of, came, branches
    return branches


OPTIONS = {
    field.name: number(field.name, getattr(Strategy, field.name), **field.metadata)
    for field in fields(Strategy)
    if field.metadata
}
STRATEGY = one_of("strategy", {name: name.title() for name in STRATEGIES}, label="Strategy")
LONGEST_HELP = "The largest number of tokens to write: a longer text is cut off there."
LONGEST = number("longest", 64, (1, 255), label="At most (tokens)", help=LONGEST_HELP)
CHOICES = (STRATEGY, *OPTIONS.values(), LONGEST, BRANCH, STEP)


def options_of(name: str) -> list[Choice]:
    return [OPTIONS[option] for option in STRATEGIES[name].options]


def chosen_strategy() -> tuple[Strategy, int]:
    """Return the chosen strategy, and the largest number of tokens to write.

    Raise ValueError for invalid options.
    """
    values = {choice.key: chosen(choice) for choice in (STRATEGY, *OPTIONS.values())}
    return strategy_of(values), chosen(LONGEST)


def strategy_of(values: Mapping[str, Any]) -> Strategy:
    """Return the strategy that the values of the choices mean; raises ValueError if invalid."""
    name = values[STRATEGY.key]
    return Strategy(name, **{option.key: values[option.key] for option in options_of(name)})


def strategy_words(strategy: Strategy, longest: int) -> str:
    options = options_of(strategy.strategy)
    parts = [f"{option.label.lower()} {getattr(strategy, option.key)}" for option in options]
    return ", ".join([strategy.strategy, *parts, f"at most {longest} tokens"])


@dataclass(frozen=True)
class Request:
    """Everything that determines which text is written: run, strategy, longest text, branch."""

    run: ModelRun
    strategy: Strategy = Strategy()
    longest: int = LONGEST.default
    branch: Branch = Branch()

    def decode(self, branch: Branch | None = None) -> Decoding:
        """Return the decoding of this or another branch; raise ValueError if it is impossible."""
        return decoded(self.run, self.strategy, self.longest, (branch or self.branch).forced)

    @property
    def can_be_decoded(self) -> bool:
        """True if the model can write a text with these settings."""
        try:
            self.decode()
        except ValueError:
            return False
        return True

    @property
    def words(self) -> str:
        forced = f", forced: {self.branch.name}" if self.branch.forced else ""
        return f"Decoding: {strategy_words(self.strategy, self.longest)}{forced}"


def choose_request(run: ModelRun) -> Request | None:
    """Draw the settings of the decoding and return them.

    The choice of the head whose weights are shown is in the same row. If nothing can be written
    with the settings, say why and return the last ones that worked; None if these fail too, such
    as for a prompt that leaves no room to write.
    """
    plain = Request(replace(run, edits=edit_history.in_force()))
    last = st.session_state.get("asked", plain)
    if last.run.as_trained != run:
        last = plain
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        for choice in (*options_of(choose(STRATEGY)), LONGEST):
            choose(choice, width=130)
        set_aside()
        choose_layer("decoder")
        choose_head_or_summary("decoder")
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
    """Return the chosen branch. One from a link is refused if its ids do not give its text."""
    branches, branch = branches_of(request.run), chosen(BRANCH)
    if branch not in branches.kept:
        try:
            text = text_at(request.decode(branch), branch.forced, branch.step)
        except ValueError:
            text = None
        if text == branch.text:
            branches.keep(branch)
        else:
            with place(NOTE):
                address.refuse(BRANCH)
    return chosen(BRANCH)


def refuse(why: str) -> None:
    """Store why an action was refused, for the page to show; call it in a callback."""
    st.session_state.refused = why


def explain(why: str) -> None:
    """Show why an action was refused; the reason may contain what a visitor typed."""
    st.error("That did not work, so the previous result is still shown.")
    st.text(why)
