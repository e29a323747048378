"""What a pupil has done of a worksheet: in the session, and as a text to hand in."""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic

from headlight.model.tokens import check_characters
from headlight.pages.shared.state.choices import MODEL
from headlight.pages.shared.state.page import PAGES
from headlight.wings.exercises.goals import MEASURES, Result, measured
from headlight.wings.exercises.scene import Scene, scene_from
from headlight.wings.exercises.worksheet import Task, Worksheet

LONGEST_HANDED_IN = 400_000  # characters
CHECKSUM = "Checksum: "
LONGEST_CHECK = 20.0  # seconds after which no further answer is measured
PAGE = "page"  # names, next to the choices of an answer, the page on which the task was solved
ANSWER = re.compile(r"(?:done|open), tries: (\d+)(?:, (\{.*\}))?")
NO_HAND_IN = "This is no text that was handed in from here."
CHANGED = "The checksum does not fit: the text was changed after it was made."
NO_ANSWER = "cannot be read"
NO_MODEL = "Its model is not here."
TOO_LONG = "not measured, since the answers before it took too long"
OTHER_SHEET = "This was handed in for another worksheet: open that one first."


@dataclass
class Progress:
    """A worksheet, its name in addresses, the task in hand from 0, and what was done so far."""

    worksheet: Worksheet
    name: str
    number: int = 0
    answers: dict[int, dict[str, str]] = field(default_factory=dict)  # by solved task
    tries: Counter[int] = field(default_factory=Counter)  # scenes that did not reach the goals
    last: tuple = ()  # the task and the choices that were measured last
    results: list[Result] = field(default_factory=list)  # of the last measurement
    is_just_solved: bool = False  # true until the page has said so

    @property
    def task(self) -> Task:
        return self.worksheet.tasks[self.number]

    @property
    def is_solved(self) -> bool:
        return self.number in self.answers

    def take(self, scene: Scene, is_tried: bool = True) -> list[Result]:
        """Measure a scene against the goals of the task in hand, and keep it as its answer.

        The scene counts as a try unless the page, rather than the pupil, made it.
        """
        self.results = [measured(goal, scene) for goal in self.task.goals]
        this = self.number, sorted(scene.choices.items())
        is_new, is_first = this != self.last, self.last[:1] != (self.number,)
        self.last = this
        if not self.is_solved:
            if all(result.reached for result in self.results):
                self.answers[self.number] = {PAGE: scene.page.key, **scene.choices}
                self.is_just_solved = True
            # The scene in which a task begins does not count as a try.
            self.tries[self.number] += is_tried and is_new and not is_first
        return self.results

    def kept(self) -> str | None:
        """Return what the browser's tab keeps; None as long as nothing was tried."""
        done = [self.worksheet.digest, self.answers, self.tries]
        return json.dumps(done) if self.answers or self.tries.total() else None

    def take_up(self, kept: str) -> None:
        """Take up the answers and tries that the tab has kept, if they are of this worksheet."""
        try:
            digest, answers, tries = json.loads(kept)
            check_characters(json.dumps(answers, ensure_ascii=False))
            read = {int(number): dict(choices) for number, choices in answers.items()}
            tried = {int(number): int(count) for number, count in tries.items()}
        except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
            return
        known = {*range(len(self.worksheet.tasks))}
        if digest == self.worksheet.digest and {*read, *tried} <= known:
            self.answers = read | self.answers
            self.tries |= Counter(tried)

    def hand_in(self) -> str:
        """Return the tasks, tries and answers as a text that ends with its checksum."""
        lines = [f"Headlight worksheet {self.worksheet.digest}: {self.worksheet.title}"]
        for number, task in enumerate(self.worksheet.tasks):
            line = f"{number + 1}. {task.title}: {'done' if number in self.answers else 'open'}"
            line += f", tries: {self.tries[number]}"
            if number in self.answers:
                line += f", {json.dumps(self.answers[number], ensure_ascii=False)}"
            lines.append(line)
        text = "\n".join(lines) + "\n"
        return f"{text}{CHECKSUM}{checksum(text)}\n"


def checksum(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def verify(text: str, worksheet: Worksheet) -> list[str]:
    """Return a sentence for each task of a text that was handed in; raises ValueError.

    The answers are measured again. The checksum shows that nobody changed the text by accident; it
    shows neither who solved the tasks nor that nobody helped.
    """
    text = text.strip().replace("\r\n", "\n") + "\n"
    body, _, given = text.rpartition(CHECKSUM)
    if len(text) > LONGEST_HANDED_IN or not body.startswith("Headlight worksheet "):
        raise ValueError(NO_HAND_IN)
    if given.strip() != checksum(body):
        raise ValueError(CHANGED)
    if not body.startswith(f"Headlight worksheet {worksheet.digest}: "):
        raise ValueError(OTHER_SHEET)
    lines = body.split("\n")[1:-1]
    if len(lines) != len(worksheet.tasks):
        raise ValueError(NO_HAND_IN)
    said, ends = [], monotonic() + LONGEST_CHECK
    for number, (task, line) in enumerate(zip(worksheet.tasks, lines, strict=True), start=1):
        name = f"{number}. {task.title}: "
        match = ANSWER.fullmatch(line.removeprefix(name))
        if not match:
            raise ValueError(NO_HAND_IN)
        words = verdict(task, match[2]) if monotonic() < ends else TOO_LONG
        said.append(f"{name}{words}, tries: {match[1]}")
    return said


def verdict(task: Task, answer: str | None) -> str:
    """Return in words whether an answer, as JSON, reaches the goals of a task."""
    if answer is None:
        return "open"
    goals = [goal for goal in task.goals if MEASURES[goal.measure].again]
    try:
        read = json.loads(answer, parse_int=str).items()
        choices = {str(key): str(text) for key, text in read}
        check_characters("".join(choices.values()))
        page = PAGES.get(choices.pop(PAGE, ""), PAGES[task.page])
        scene = scene_from(page, choices)
        if goals and scene.values[MODEL.key] != choices.get(MODEL.key, MODEL.default):
            raise ValueError(NO_MODEL)
        results = [measured(goal, scene) for goal in goals]
    except (json.JSONDecodeError, RecursionError):
        return NO_ANSWER
    except ValueError as error:
        return f"cannot be measured here ({error})"
    missed = [result.words for result in results if not result.reached]
    if missed:
        return f"not reached here ({'; '.join(missed)})"
    return "done" if goals == [*task.goals] else "done, but a training is not repeated here"
