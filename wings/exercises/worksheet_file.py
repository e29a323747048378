"""Reads the file of a worksheet, which may contain anything.

The module takes long to import, and is imported only to read a file.
"""

import json
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from headlight.model.tokens import check_characters
from headlight.pages.shared import address
from headlight.pages.shared.state.page import PAGES
from headlight.wings.exercises.goals import Goal, check
from headlight.wings.exercises.worksheet import (
    FORMAT,
    LARGEST_FILE,
    LONGEST_TEXT,
    LONGEST_TITLE,
    MOST_GOALS,
    MOST_TASKS,
    VERSION,
    Task,
    Worksheet,
)


def whole(text: str) -> str:
    """Return a text that a browser can be sent; raises ValueError for a lone surrogate."""
    check_characters(text)
    return text


Text = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(whole)]
Title = Annotated[str, Field(min_length=1, max_length=LONGEST_TITLE), AfterValidator(whole)]


class GoalEntry(BaseModel):
    """A goal in the form of a file."""

    model_config = ConfigDict(strict=True, extra="forbid")

    measure: Title
    compare: Title
    value: float | Text
    of: dict[Text, Text] = {}


class TaskEntry(BaseModel):
    """A task in the form of a file."""

    model_config = ConfigDict(strict=True, extra="forbid")

    title: Title
    instruction: Annotated[Text, Field(min_length=1)]
    hint: Text = ""
    page: Title
    parameters: dict[Text, Annotated[str, Field(max_length=4_000), AfterValidator(whole)]] = {}
    goals: Annotated[list[GoalEntry], Field(min_length=1, max_length=MOST_GOALS)]


class File(BaseModel):
    """A worksheet in the form of a file."""

    model_config = ConfigDict(strict=True, extra="forbid")

    version: Annotated[int, Field(ge=VERSION, le=VERSION, alias=FORMAT)]
    title: Title
    tasks: Annotated[list[TaskEntry], Field(min_length=1, max_length=MOST_TASKS)]


def read_file(data: bytes) -> Worksheet:
    """Return the worksheet of a file; raises ValueError with a sentence on the first fault."""
    if len(data) > LARGEST_FILE:
        raise ValueError(f"A worksheet has at most {LARGEST_FILE // 1000} kB.")
    try:
        file = File.model_validate(json.loads(data.decode("utf-8")))
    except ValidationError as error:
        raise ValueError(explained(error)) from None
    except (ValueError, RecursionError):
        raise ValueError("This is not a worksheet: the file cannot be read as JSON.") from None
    return Worksheet(file.title, tuple(map(read_task, range(1, len(file.tasks) + 1), file.tasks)))


def read_task(number: int, entry: TaskEntry) -> Task:
    page = PAGES.get(entry.page)
    if page is None:
        raise ValueError(f"Task {number}: there is no page {entry.page}.")
    shape = address.shape_for(entry.parameters)
    _, unknown = address.read_parameters(entry.parameters, page.linked, shape)
    if unknown:
        raise ValueError(f"Task {number}: the page {entry.page} cannot choose {unknown[0][:40]}.")
    goals = tuple(Goal(each.measure, each.compare, each.value, each.of) for each in entry.goals)
    for goal in goals:
        try:
            check(goal)
        except ValueError as error:
            raise ValueError(f"Task {number}: {error}") from None
    return Task(entry.title, entry.instruction, page.key, entry.parameters, goals, entry.hint)


def explained(error: ValidationError) -> str:
    """Return a sentence on the first fault of a file."""
    fault = error.errors(include_url=False, include_input=False)[0]
    reason = fault["msg"].removeprefix("Value error, ").rstrip(".")
    match fault["loc"]:
        case ("tasks", int(place), *names):
            named = "".join(f", {name}" for name in names if isinstance(name, str))
            return f"Task {place + 1}{named[:80]}: {reason}."
        case ("tasks",):
            return f"A worksheet has a list of 1 to {MOST_TASKS} tasks."
        case (str(name),) if name not in (FORMAT,):
            return f"{name[:40]}: {reason}."
    return f'This is not a worksheet that can be read here: "{FORMAT}": {VERSION} is missing.'
