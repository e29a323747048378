"""Wings: parts of the app that can be left out, and what they do on every page."""

from collections.abc import Iterator

from pages.shared.state.page import Page

CLICKS, BUTTONS, TOOLS = "clicks", "buttons", "tools"  # controls that are no choice of a page


class Wing:
    """A part of the app that can be left out; it overrides the methods that it needs."""

    parameter = ""  # the name of what it keeps in every address, if anything

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

    def has(self, page: Page) -> bool:
        """Return whether a page is open to the visitor."""
        return True

    def allows(self, control: str) -> bool:
        """Return whether a control is open: the key of a choice, CLICKS in pictures, or others."""
        return True

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
        """Redraw what it shows, because models have come back that it may depend on."""


_wings: list[Wing] = []


def add(wing: Wing) -> None:
    _wings.append(wing)


def wings() -> Iterator[Wing]:
    yield from _wings


def has(page: Page) -> bool:
    """Return whether a page is open to the visitor."""
    return all(wing.has(page) for wing in _wings)


def allows(control: str) -> bool:
    return all(wing.allows(control) for wing in _wings)
