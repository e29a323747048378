"""A choice that a visitor makes: its key, label, default value, and form in links."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headlight.model.shape import Shape

# A function that returns the value that a text in a link stands for, for a model of this shape (its
# layers, heads and positions). It raises ValueError for an invalid text.
Read = Callable[[str, Shape], Any]
Most = int | Callable[[Shape], int]


@dataclass(frozen=True, eq=False)
class Choice:
    """A choice that a visitor makes, such as the layer or the sentence.

    `key` names the choice in the session and in links and is never shown; `label` and the words of
    `options` are shown and never stored. `bounds` are the smallest and the largest number, or the
    largest number of characters of a text. In a link, a value of more than `room` characters is
    replaced by `instead`, or left out if `instead` is empty.
    """

    key: str
    default: Any
    read: Read
    write: Callable[[Any], str] = str
    label: str = ""
    options: Mapping[Any, str] = field(default_factory=dict)
    bounds: tuple[float, float] | int | None = None
    step: float | None = None
    help: str | None = None
    room: int | None = None
    instead: str = ""

    @property
    def cuts(self) -> bool:
        """True if the value is a text with a largest length; a longer one is cut."""
        return isinstance(self.bounds, int)


def one_of(key: str, options: Mapping[Any, str], default: Any = None, **shown: Any) -> Choice:
    """Return a choice among `options`, which map each value to its words on screen.

    The default is the first option, unless another is given. `shown` are the choice's label and
    help.
    """
    by_text = {str(option): option for option in options}

    def read(text: str, shape: Shape) -> Any:
        if text not in by_text:
            raise ValueError(f"{text} is not one of {', '.join(by_text)}.")
        return by_text[text]

    first = next(iter(options)) if default is None else default
    return Choice(key, first, read, options=options, **shown)


def number(key: str, default: float, bounds: tuple[float, float], **shown: Any) -> Choice:
    """Return a choice of a number within `bounds`; if these are whole numbers, so is the value.

    `shown` are the choice's label, step and help.
    """
    lowest, highest = bounds

    def read(text: str, shape: Shape) -> float:
        value = type(lowest)(text)
        if not lowest <= value <= highest:
            raise ValueError(f"{text} is not from {lowest} to {highest}.")
        return value

    return Choice(key, default, read, bounds=bounds, **shown)


def counted(key: str, default: int | None, most: Most, *, label: str = "") -> Choice:
    """Return a choice of a number, such as a layer's, that counts from 0 in code, from 1 in links.

    `most` is how many layers (or other things) there are, or a function that returns this number
    for a model's shape.
    """

    def read(text: str, shape: Shape) -> int:
        value, there = int(text) - 1, most(shape) if callable(most) else most
        if not 0 <= value < there:
            raise ValueError(f"{text} is not from 1 to {there}.")
        return value

    return Choice(key, default, read, lambda place: str(place + 1), label=label)


def text(
    key: str, default: str, longest: int, *, label: str = "", may_be_empty: bool = True
) -> Choice:
    """Return a choice of a text, which is cut if it is longer than `longest` characters."""

    def read(written: str, shape: Shape) -> str:
        if not written and not may_be_empty:
            raise ValueError("There is no text.")
        return written[:longest]

    return Choice(key, default, read, label=label, bounds=longest)


def like(key: str, default: str, pattern: str, *, label: str = "") -> Choice:
    """Return a choice of a text that must be empty or match the regular expression `pattern`."""

    def read(written: str, shape: Shape) -> str:
        if written and not re.fullmatch(pattern, written, re.ASCII):
            raise ValueError(f"{written} does not follow {pattern}.")
        return written

    return Choice(key, default, read, label=label)


def switch(key: str, default: bool = False, *, label: str = "", help: str | None = None) -> Choice:
    """Return a choice between on and off."""

    def read(written: str, shape: Shape) -> bool:
        if written not in ("on", "off"):
            raise ValueError(f"{written} is neither on nor off.")
        return written == "on"

    return Choice(key, default, read, lambda on: "on" if on else "off", label=label, help=help)
