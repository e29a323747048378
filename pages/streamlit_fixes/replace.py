"""Replaces a function of Streamlit by another one, for several of the workarounds."""

from collections.abc import Callable
from functools import wraps
from typing import Any


def replace(owner: Any, name: str, instead: Callable[..., Any]) -> None:
    """Replace a function of a module or class by `instead`, unless that was done before.

    `instead` is called with the original function, followed by the arguments.
    """
    before = getattr(owner, name)
    if hasattr(before, "__wrapped__"):
        return  # the function was replaced before

    @wraps(before)
    def replaced(*values: object, **more: object) -> Any:
        return instead(before, *values, **more)

    setattr(owner, name, replaced)
