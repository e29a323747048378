"""The keys that work on every page."""

from __future__ import annotations

from pages.browser.parts import keyboard
from pages.shared.show.pictures import all_picked, show
from pages.shared.state.lesson import lesson
from pages.shared.widgets.choose import step

KEY = "keyboard"


def keys() -> None:
    """Listen for keys, and draw the button that lists them."""
    show(keyboard(), KEY, press)


def press() -> None:
    """Choose what keys ask for that go through the options of a box; a callback."""
    for choice, by in all_picked(KEY):
        if lesson().allows(choice):
            step(choice, by)
