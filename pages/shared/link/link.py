"""A page's choices as the parameters of a link, and back."""

from collections.abc import Iterable, Mapping
from typing import Any

from headlight.model.trace import Shape
from headlight.pages.shared.state.choice import Choice
from headlight.pages.shared.state.page import ALONE, WINGS

VERSION = "2"  # increased when links change their meaning
VERSION_KEY = "v"
ELSEWHERE = (ALONE,)  # parameters that are no choices

Values = Mapping[str, Any]  # the values of choices by key


def write(choices: Iterable[Choice], values: Values, whole: bool = False) -> dict[str, str]:
    """Return the parameters of a link: every choice that differs from its default.

    A value that a link has no room for is left out or replaced, unless it is to be the `whole`.
    """
    parameters = {}
    for choice in choices:
        value = values[choice.key]
        if value == choice.default or (choice.key, value) == ("sentence", ""):
            continue
        text = choice.write(value)
        if not whole and not fits(choice, text):
            text = choice.instead
        if text or not choice.room:
            parameters[choice.key] = text
    return {VERSION_KEY: VERSION, **parameters} if parameters else {}


def read(
    parameters: Mapping[str, str], choices: Iterable[Choice], shape: Shape
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the value of every choice, and the names of parameters that were left out or cut.

    A choice that is not named, or whose text makes no sense for a model of this shape, has its
    default.
    """
    elsewhere = {*ELSEWHERE, *(wing.parameter for wing in WINGS)}
    by_key = {choice.key: choice for choice in choices}
    values = {key: choice.default for key, choice in by_key.items()}
    refused = []
    for name, text in parameters.items():
        if (name, text) == (VERSION_KEY, VERSION) or name in elsewhere:
            continue
        try:
            values[name] = by_key[name].read(text, shape)
        except (KeyError, ValueError):
            refused.append(name)
        else:
            if by_key[name].cuts and len(values[name]) < len(text):
                refused.append(name)
    return values, tuple(refused)


def fits(choice: Choice, text: str) -> bool:
    return choice.room is None or len(text) <= choice.room
