"""Which models the operator of the app lets visitors load."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase

from model.library.card import ON_THE_HUB
from model.library.hub import as_folder
from pages.shared.runs import limits

WILD = re.compile(r"[*?\[]")


def is_allowed(name: str) -> bool:
    """Return whether a model may be loaded, by its name on the hub or its folder.

    Nothing outside the allowed folders is looked at, so that no answer tells what is there.
    """
    if not limits.MODELS_ALLOWED:
        return True
    if ON_THE_HUB.fullmatch(name):
        return fits(name, hub_patterns()) and not as_folder(name)
    folders = [pattern for pattern in limits.MODELS_ALLOWED if is_path(pattern)]
    plain = os.path.normpath(name) if is_path(name) else ""
    return fits(plain, folders) and fits(os.path.realpath(plain), [real(one) for one in folders])


def hub_patterns() -> list[str]:
    """Return the allowed patterns of names on the hub."""
    return [pattern for pattern in limits.MODELS_ALLOWED if not is_path(pattern)]


def refusal(name: str) -> str:
    """Return the sentence for a model that is not allowed."""
    known = ", ".join(hub_patterns())
    return f"{name} is not allowed on this server" + (f", which loads {known}." if known else ".")


def fits(text: str, patterns: list[str]) -> bool:
    """Return whether a text is one of these patterns, in which * stands for anything."""
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def is_path(name: str) -> bool:
    """Return whether this is the path of a folder, from the root of the disk."""
    return os.path.isabs(name)


def real(pattern: str) -> str:
    """Return a pattern of folders with the links before its first wild card followed."""
    wild = WILD.search(pattern)
    if wild is None:
        return os.path.realpath(pattern)
    above, sign, name = pattern[: wild.start()].rpartition(os.sep)
    return os.path.realpath(above or sign).rstrip(os.sep) + sign + name + pattern[wild.start() :]
