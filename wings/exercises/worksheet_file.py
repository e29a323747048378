"""Read the file of a worksheet, which can come from anybody and contain anything.

This module takes long to import, so others import it only when a file is read.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from headlight.pages.shared import address
from headlight.pages.shared.files import Form, one_line, read_form, whole
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

FORM = Form("worksheet", "task", MOST_TASKS, LARGEST_FILE, FORMAT, VERSION)

Text = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(whole)]
Line = Annotated[str, Field(min_length=1, max_length=LONGEST_TITLE), AfterValidator(one_line)]


class GoalEntry(BaseModel):
    """A goal in the form of a file."""

    model_config = ConfigDict(strict=True, extra="forbid")

    measure: Line
    compare: Line
    value: float | Text
    of: dict[Line, Text] = {}


class TaskEntry(BaseModel):
    """A task in the form of a file."""

    model_config = ConfigDict(strict=True, extra="forbid")

    title: Line
    instruction: Annotated[Text, Field(min_length=1)]
    hint: Text = ""
    page: Line
    parameters: dict[Line, Annotated[str, Field(max_length=4_000), AfterValidator(whole)]] = {}
    goals: Annotated[list[GoalEntry], Field(min_length=1, max_length=MOST_GOALS)]


class File(BaseModel):
    """A worksheet in the form of a file."""

    model_config = ConfigDict(strict=True, extra="forbid")

    version: Annotated[int, Field(ge=VERSION, le=VERSION, alias=FORMAT)]
    title: Line
    tasks: Annotated[list[TaskEntry], Field(min_length=1, max_length=MOST_TASKS)]


def read_file(data: bytes) -> Worksheet:
    """Return the worksheet of a file; raises ValueError with a sentence on the first fault."""
    file = read_form(data, FORM, File)
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
