"""Controls of measurements that take many runs: what is measured, a button, and the progress."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.model.questions import Objective
from headlight.model.transformer.trace import Kind
from headlight.pages.shared.runs.door import ModelCall
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.answers import measured_on
from headlight.pages.shared.show.pictures import picked, show
from headlight.pages.shared.show.sight import mark_if_sought, seek
from headlight.pages.shared.state.choice import Choice, counted
from headlight.pages.shared.state.choices import (
    HEAD,
    KIND,
    KINDS,
    LAYER,
    MOST_TOKENS,
    SUMMARIES,
    chosen,
    select_head,
)
from headlight.pages.shared.state.showing import is_wanted
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import CanvasPicture

ALL = "all"  # stands for all tokens of a text
MEASURED = Choice(
    "measured",
    ALL,
    lambda text, shape: ALL if text == ALL else counted("", 0, MOST_TOKENS).read(text, shape),
    lambda place: ALL if place == ALL else str(place + 1),
    label="Measured on",
    options={ALL: "all tokens"},
)

COST = "This takes {runs} runs of the model over {tokens} tokens each."


@dataclass(frozen=True)
class Measurement:
    """A measurement that takes many runs, and the keys of the `pictures` that show its result.

    It starts without a click on the `button` if all runs together read at most `unasked` tokens, or
    if a slide shows one of the pictures. `doing` is the text of the progress bar.
    """

    call: ModelCall
    pictures: tuple[str, ...]
    button: str
    doing: str
    unasked: int = 0

    @property
    def key(self) -> str:
        """The key of the container above the result, to which the page scrolls."""
        return f"measured-{self.pictures[0]}"

    def known(self, *asked: Hashable) -> Any | None:
        return self.call.kept(*asked)

    def is_asked(self, *asked: Hashable, runs: int, tokens: int) -> bool:
        """Return whether to draw the result; if it needs a click first, draw the button.

        It needs none if the result is stored, a slide shows it, or it takes only a short time.
        """
        if self.known(*asked) is not None or is_wanted(*self.pictures):
            return True
        if runs * tokens <= self.unasked:
            return True
        begin = {
            "help": COST.format(runs=runs, tokens=tokens),
            "on_click": seek,
            "args": [self.key],
        }
        return st.button(self.button, **begin)

    def measure(
        self,
        *asked: Hashable,
        draw: Callable[[Any], CanvasPicture] | None = None,
        room: AbstractContextManager | None = None,
    ) -> Any:
        """Return the result of the measurement: the stored one, or else measure it now.

        While it is measured, a progress bar is drawn in the container `room`, and below it the
        picture that `draw` makes of the result so far.
        """
        if (known := self.known(*asked)) is not None:
            return known
        with room or nullcontext():
            mark_if_sought(self.key)
            progress = st.empty()
        with progress.container():
            bar, picture = st.progress(0.0, self.doing), st.empty()

        def report(measured: Any, share: float) -> None:
            bar.progress(share, self.doing)
            if draw and share < 1:
                with picture:
                    show(draw(measured), f"{self.pictures[0]}-{share}", tells=True)

        measured = self.call(*asked, report)
        progress.empty()
        return measured


def choose_measured(run: ModelRun) -> int | None:
    """Draw the choice of the token that effects are measured on; return its index, None for all."""
    tokens = measured_on(run)
    options = {
        ALL: MEASURED.options[ALL],
        **{place: f"{place + 1}: {token}" for place, token in enumerate(tokens)},
    }
    box = {"widget": st.selectbox, "format_func": options.get, "width": 220}
    on = choose(MEASURED, options if len(tokens) > 1 else [ALL], **box)
    return None if on == ALL else on


def words_of_effects(objective: Objective) -> dict[str, Any]:
    """Return options for a picture of effects: words for what its numbers and colours mean."""
    options = {"labels": KINDS, "measure": f"{objective.unit} without it"}
    if objective.is_score:  # a score has its own unit, and a larger one is not better
        options |= {"ends": ("it raised the score", "it lowered the score"), "decimals": 3}
    return options


def flat(numbers: Mapping[Kind, np.ndarray]) -> np.ndarray:
    """Return numbers (layers, heads) of each kind as one array (N,), in the order of `heads_of`."""
    return np.concatenate([values.ravel() for values in numbers.values()])


def selected_head() -> HeadAddress:
    """Return the head chosen last, on any page; for a mean or maximum return the first one."""
    layer, head = (0 if index in SUMMARIES else index for index in (chosen(LAYER), chosen(HEAD)))
    return chosen(KIND), layer, head


def selected_among(heads: Sequence[HeadAddress], sizes: np.ndarray) -> HeadAddress:
    """Return the head chosen last if it is in `heads`, else the head of largest `sizes` (N,)."""
    head = chosen(KIND), chosen(LAYER), chosen(HEAD)
    return head if head in heads else heads[int(sizes.argmax())]


def show_heads(picture: CanvasPicture, key: str, detail: str = "", **options: Any) -> bool:
    """Show a picture of all heads, in which a click selects a head; see `show`.

    If `detail` is given, the click also scrolls to the part of the page with this key.
    """

    def open_head() -> None:
        select_and_seek(picked(key), detail)

    return show(picture, key, open_head, **options)


def show_points(
    picture: CanvasPicture,
    key: str,
    heads: Sequence[HeadAddress],
    detail: str = "",
    **options: Any,
) -> bool:
    """Show a picture with a point for each of `heads`; a click on a point selects its head.

    For `detail` see `show_heads`.
    """

    def open_point() -> None:
        if (point := picked(key)) < len(heads):  # else the picture clicked was of another model
            select_and_seek(heads[point], detail)

    return show(picture, key, open_point, **options)


def select_and_seek(head: HeadAddress, detail: str) -> None:
    select_head(*head)
    if detail:
        seek(detail)
