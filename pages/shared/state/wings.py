"""The base class of wings, the parts of the app that can be left out, and the list of wings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from headlight.pages.shared.state.page import Page

if TYPE_CHECKING:
    from headlight.model.edits import HeadAddress
    from headlight.model.insight.linking import Linked
    from headlight.model.snapshots import Snapshots
    from headlight.pages.shared.show.riddle import Riddle
    from headlight.pages.shared.show.saving import About
    from headlight.viz import CanvasPicture

Known = TypeVar("Known")
CLICKS, BUTTONS, TOOLS = "clicks", "buttons", "tools"  # names for controls that have no `Choice`


class Usual(NamedTuple):
    """The mean and standard deviation of a head's score over a text, and the name of the text."""

    mean: float
    deviation: float
    text: str


@dataclass(frozen=True)
class TalkModel:
    """A model inside the file of a talk: its weights, and the code and style of its pictures.

    The file begins with the code in `script`, and contains the `header` as JSON.
    """

    weights: bytes
    script: Path
    style: Path
    header: Mapping[str, object]
    pictures: Sequence[CanvasPicture]


class Wing:
    """A part of the app that can be left out.

    A wing is an object of a derived class, which overrides the methods that it needs.
    """

    parameter = ""  # the name of the address parameter with the text of `kept`, if any

    # Keys of containers above the page whose controls answer in every lesson of a class.
    always_open: Sequence[str] = ()
    examples: Sequence[str] = ()  # example texts for models that only this wing makes
    # Returns a model to be stored in the file of a talk, so that its slides can read any sentence.
    talk_model: Callable[[], TalkModel] | None = None
    # `has` returns whether the visitor may open a page. `allows` returns whether the visitor may
    # use a control, given as the key of a choice, or as CLICKS, BUTTONS or TOOLS.
    has: Callable[[Page], bool] | None = None
    allows: Callable[[str], bool] | None = None

    def usual(self, model: str, pattern: str, head: HeadAddress) -> Usual | None:
        """Return a head's usual score for an attention pattern; None if it is not known."""
        return None

    def linked(self, model: str) -> Linked | None:
        """Return how often a model's heads link a pronoun to its noun; None if it is not known."""
        return None

    def recording(self) -> tuple[str, Snapshots] | None:
        """Return the title and the snapshots of the visitor's own training; None if none ran."""
        return None

    def trained(self) -> tuple[str, float] | None:
        """Return the task and the newest score of the visitor's own training.

        The score, from 0 to 1, is the share of unseen examples without a mistake, or the induction
        score. None if there is no score yet.
        """
        return None

    def asks(
        self, keys: Sequence[str], ask: Callable[[], Riddle], of: About | None, what: str
    ) -> bool:
        """Return whether a riddle about the pictures with these keys is still to be guessed.

        If so, draw the riddle in place of the first of these pictures that is shown. For `of` and
        `what` see `show`.
        """
        return False

    def hides(self, key: str, of: About | None, draw: Callable[[], object]) -> bool:
        """Return whether a picture is hidden because it would give away the answer to a riddle.

        If so, say this in place of the picture. A wing may call `draw` later to draw the picture.
        """
        return False

    def polls(self, question: str) -> None:
        """Ask phones the question of a slide: its first line asks, the others are the answers."""

    def begin(self, page: Page) -> None:
        """Prepare a page; called before anything is drawn and before the choices are known."""

    def draws(self, page: Page) -> bool:
        """Draw something in place of the page if needed; return whether this was done."""
        return False

    def restore(self, text: str) -> None:
        """Read the text that `kept` wrote into an address; raise ValueError if it is invalid."""

    def kept(self) -> str:
        """Return the text that the wing stores in the address of every page; empty for none."""
        return ""

    def enter(self, page: Page) -> None:
        """Prepare a page; called when its choices are known, and before it is drawn."""

    def tools(self, page: Page) -> None:
        """Draw the wing's tools for sharing the page, in the sidebar."""

    def buttons(self, page: Page) -> None:
        """Draw the wing's buttons in the row below the tools."""

    def beside_title(self, page: Page) -> None:
        """Draw the wing's part next to the title."""

    def above(self, page: Page) -> None:
        """Draw the wing's part between the title and the page."""

    def after(self, page: Page) -> None:
        """Do what the wing needs after the page is drawn."""

    def redrawn(self, page: Page) -> None:
        """Do what the wing needs after a section of the page was drawn again alone."""

    def renew(self) -> None:
        """Redraw what the wing shows, because the visitor's own models are in memory again."""

    def lost(self, page: Page, why: str) -> None:
        """Handle the loss of the visitor's own models; `why` says why, `page` is shown now."""


WINGS: list[Wing] = []


def first_known(answers: Iterable[Known | None]) -> Known | None:
    """Return the first of some answers, such as those of the wings, that is not None."""
    return next((answer for answer in answers if answer is not None), None)


def is_open(page: Page) -> bool:
    return all(wing.has(page) for wing in WINGS if wing.has)


def allows(control: str) -> bool:
    return all(wing.allows(control) for wing in WINGS if wing.allows)


def if_clicks(words: str) -> str:
    """Return these words on clicks in pictures; empty if the visitor may not click in them."""
    return words if allows(CLICKS) else ""
