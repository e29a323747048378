"""Putting a function in place of one of Streamlit's, which several of the fixes do."""

from collections.abc import Callable
from functools import wraps
from typing import Any


def replace(owner: Any, name: str, instead: Callable[..., Any]) -> None:
    """Replace a function of a module or class, once; `instead` gets it before its arguments."""
    before = getattr(owner, name)
    if hasattr(before, "__wrapped__"):
        return  # it was done before

    @wraps(before)
    def replaced(*values: object, **more: object) -> Any:
        return instead(before, *values, **more)

    setattr(owner, name, replaced)
