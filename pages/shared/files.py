"""Read JSON files of a known form, which can come from anybody and contain anything.

Importing pydantic takes long: a module that imports this one is imported only to read a file.
"""

import json
import unicodedata
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from headlight.model.tokens import check_characters

Contents = TypeVar("Contents", bound=BaseModel)


@dataclass(frozen=True)
class Form:
    """What a kind of file is: a version, and a list of parts that its other fields go with."""

    name: str  # such as talk
    part: str  # such as slide; the list is the field "slides"
    most: int  # of these parts
    largest: int  # bytes
    format: str  # the field that has the version
    version: int


def read_form(data: bytes, form: Form, contents: type[Contents]) -> Contents:
    """Return the contents of a file; raise ValueError with a sentence on the first fault."""
    if len(data) > form.largest:
        raise ValueError(
            f"This file is too large: a {form.name} has at most {form.largest // 1000} kB."
        )
    try:
        return contents.model_validate(json.loads(data.decode("utf-8")))
    except ValidationError as error:
        raise ValueError(explained(error, form)) from None
    except (ValueError, RecursionError):
        raise ValueError(f"This is not a {form.name}: the file cannot be read as JSON.") from None


def explained(error: ValidationError, form: Form) -> str:
    """Return a sentence on the first fault that pydantic found in a file."""
    fault = error.errors(include_url=False, include_input=False)[0]
    reason = fault["msg"].removeprefix("Value error, ").rstrip(".")
    parts = f"{form.part}s"
    match fault["loc"]:
        case (list_name, int(place), *names) if list_name == parts:
            fields = (f", {in_sentence(name)}" for name in names if isinstance(name, str))
            return f"{form.part.capitalize()} {place + 1}{''.join(fields)}: {reason}."
        case (name,) if name == parts:
            return (
                f"This is not a {form.name}: a {form.name} has a list of 1 to {form.most} {parts}."
            )
        case (name,) if name == form.format and fault["type"] == "less_than_equal":
            return f"A newer Headlight saved this {form.name}: update this one to read it."
        case (str(name),) if name != form.format:
            return f"{in_sentence(name)}: {reason}."
    missing = f'"{form.format}": {form.version} is missing.'
    return f"This is not a {form.name} that can be read here: {missing}"


def in_sentence(name: str) -> str:
    """Return a field's name from a file as it can stand in a sentence."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in name[:40])


def whole(text: str) -> str:
    """Return a text unchanged; raise ValueError for a lone surrogate, which has no encoding."""
    check_characters(text)
    return text


def one_line(text: str) -> str:
    """Return a text unchanged; raise ValueError for line breaks and other control characters."""
    if any(unicodedata.category(sign) in ("Cc", "Zl", "Zp") for sign in whole(text)):
        raise ValueError("it must be one line, without control characters")
    return text
