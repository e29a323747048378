"""What a wing does on every page, and tells other pages: a part of the app that can be left out."""

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
CLICKS, BUTTONS, TOOLS = "clicks", "buttons", "tools"  # controls that are no choice of a page


class Usual(NamedTuple):
    """The mean and standard deviation of a score over the sentences of a text, named in words."""

    mean: float
    deviation: float
    text: str


@dataclass(frozen=True)
class TalkModel:
    """A model for the file of a talk: its weights, and what shows and styles its pictures.

    The file begins with the `script`, and has the `header` as JSON.
    """

    weights: bytes
    script: Path
    style: Path
    header: Mapping[str, object]
    pictures: Sequence[CanvasPicture]


class Wing:
    """A part of the app that can be left out; it overrides the methods that it needs."""

    parameter = ""  # the name of what it keeps in every address, if anything

    examples: Sequence[str] = ()  # texts for models that only this wing makes
    # Makes a model that the file of a talk can hold, so that its slides answer any sentence.
    talk_model: Callable[[], TalkModel] | None = None
    # Return whether a page is open to the visitor, and whether a control is: the key of a choice,
    # CLICKS in pictures, or others.
    has: Callable[[Page], bool] | None = None
    allows: Callable[[str], bool] | None = None

    def usual(self, model: str, pattern: str, head: HeadAddress) -> Usual | None:
        """Return what a head of a model usually scores in a pattern, if the wing has counted it."""
        return None

    def linked(self, model: str) -> Linked | None:
        """Return how often the heads of a model link a pronoun to its noun, if that was counted."""
        return None

    def recording(self) -> tuple[str, Snapshots] | None:
        """Return the title and the snapshots of the visitor's own training, if there is one."""
        return None

    def asks(
        self, keys: Sequence[str], ask: Callable[[], Riddle], of: About | None, what: str
    ) -> bool:
        """Return whether a riddle about the pictures with these keys is still open.

        An open riddle is drawn in the place of the first of them that is to be shown; for `of` and
        `what` see `show`.
        """
        return False

    def hides(self, key: str, of: About | None, draw: Callable[[], object]) -> bool:
        """Return whether a picture that would give the answer of a riddle is hidden; say so.

        It may be drawn later by `draw`.
        """
        return False

    def begin(self, page: Page) -> None:
        """Run before anything is drawn or chosen."""

    def draws(self, page: Page) -> bool:
        """Draw something in place of the page, and return whether that was done."""
        return False

    def restore(self, text: str) -> None:
        """Restore what an address says; raise ValueError if it makes no sense."""

    def kept(self) -> str:
        """Return the text that an address keeps for the wing."""
        return ""

    def enter(self, page: Page) -> None:
        """Run once the page's choices are known."""

    def tools(self, page: Page) -> None:
        """Draw the tools that hand on the scene, in the sidebar."""

    def buttons(self, page: Page) -> None:
        """Draw buttons in the row below the tools."""

    def beside_title(self, page: Page) -> None:
        """Draw something next to the title."""

    def above(self, page: Page) -> None:
        """Draw something between the title and the page."""

    def after(self, page: Page) -> None:
        """Run after the page is drawn."""

    def renew(self) -> None:
        """Redraw the wing's own content: models that it may depend on are available again."""

    def lost(self, page: Page, why: str) -> None:
        """Say on a page that the visitor's own models are gone, and why."""


WINGS: list[Wing] = []


def first_known(answers: Iterable[Known | None]) -> Known | None:
    """Return the first answer that is not None, such as those of the wings."""
    return next((answer for answer in answers if answer is not None), None)


def is_open(page: Page) -> bool:
    return all(wing.has(page) for wing in WINGS if wing.has)


def allows(control: str) -> bool:
    return all(wing.allows(control) for wing in WINGS if wing.allows)


def if_clicks(words: str) -> str:
    """Return words about clicks in pictures, or none if clicks are closed to the visitor."""
    return words if allows(CLICKS) else ""
