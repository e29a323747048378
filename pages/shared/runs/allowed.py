"""The models that may be opened: all on one's own machine, otherwise those the operator names."""

import os
import re
from fnmatch import fnmatchcase

from model.library.hub import ON_THE_HUB, as_folder
from pages.shared.runs import limits

NONE = (
    "Headlight is shared here, and its operator named no other models that can be opened. Run "
    "Headlight on your own computer to open any."
)
NAMED = "Only models that the operator of this server named can be opened here{names}."
WILD = re.compile(r"[*?\[]")


def any_is_allowed() -> bool:
    return bool(limits.MODELS_ALLOWED) or not limits.is_shared()


def is_allowed(name: str) -> bool:
    """Return whether a model may be opened, by its name on the hub or its folder.

    Nothing outside the allowed folders is looked at, so that no answer tells what is there.
    """
    if not limits.MODELS_ALLOWED:
        return not limits.is_shared()
    if ON_THE_HUB.fullmatch(name):
        return fits(name, hub_patterns()) and not as_folder(name)
    folders = [pattern for pattern in limits.MODELS_ALLOWED if is_path(pattern)]
    plain = os.path.normpath(name) if is_path(name) else ""
    return fits(plain, folders) and fits(os.path.realpath(plain), [real(one) for one in folders])


def hub_patterns() -> list[str]:
    return [pattern for pattern in limits.MODELS_ALLOWED if not is_path(pattern)]


def rule() -> str:
    """Return the sentence on which models may be opened, without folders; empty if all may."""
    if not limits.MODELS_ALLOWED:
        return NONE if limits.is_shared() else ""
    return NAMED.format(names=": " + ", ".join(hub_patterns()) if hub_patterns() else "")


def fits(text: str, patterns: list[str]) -> bool:
    """Return whether a text matches one of the patterns, in which * stands for anything."""
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def is_path(name: str) -> bool:
    """Return whether a name is the absolute path of a folder."""
    return os.path.isabs(name)


def real(pattern: str) -> str:
    """Return a pattern of folders with the links before its first wild card resolved."""
    wild = WILD.search(pattern)
    if wild is None:
        return os.path.realpath(pattern)
    above, sign, name = pattern[: wild.start()].rpartition(os.sep)
    return os.path.realpath(above or sign).rstrip(os.sep) + sign + name + pattern[wild.start() :]
