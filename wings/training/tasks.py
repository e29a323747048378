"""Small tasks with generated examples: reverse, copy, sort, add, dates, repeat."""

import calendar
import datetime
import random
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass

DIGITS = "0123456789"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MONTHS = tuple(calendar.month_name[1:])
YEARS = range(1900, 2100)
LONGEST_INPUT = 60  # characters of a typed source

ONE_IN = 10  # one source in this many is kept from training to test on


@dataclass(frozen=True)
class Task:
    """The task of a small model: how to draw a source, and how to compute its target.

    `lengths` are the bounds of the longest source, in units of `length_name`; a task without a
    length has (0, 0) and an empty name.
    """

    name: str
    title: str
    description: str
    example: str  # a source
    expectation: str  # what attention is likely to look like once the task is learned
    alphabet: str  # all characters of sources and targets
    length_name: str
    lengths: tuple[int, int]
    write: Callable[[random.Random, int, int], str]
    solve: Callable[[str], str]
    decoder_only: bool = False  # whether a decoder without an encoder learns it

    def pair(self, source: random.Random, shortest: int, longest: int) -> tuple[str, str]:
        """Return a random source with a length from `shortest` to `longest`, and its target."""
        text = self.write(source, shortest, longest)
        return text, self.solve(text)

    def prompt(self, source: str) -> str:
        """Return what a model reads; a decoder-only model reads the source one and a half times."""
        return source + source[: len(source) // 2] if self.decoder_only else source

    def asked(self, source: str) -> tuple[str, str]:
        """Return the text that a model should read for a typed source, and the expected text.

        A model with only a decoder reads the source and its first letter again, and should write
        the rest. Raises ValueError if the source does not fit the task.
        """
        answer = self.answer(source)
        return (source + source[0], source[1:]) if self.decoder_only else (source, answer)

    def answer(self, source: str) -> str:
        """Return the target for a typed source; raises ValueError if it does not fit the task."""
        if len(source) > LONGEST_INPUT:
            raise ValueError(f"Type at most {LONGEST_INPUT} characters.")
        return self.solve(source)


def is_unseen(source: str) -> bool:
    """Return whether a source is kept from training for tests, the same for every seed."""
    return zlib.crc32(source.encode()) % ONE_IN == 0


def digits(source: random.Random, shortest: int, longest: int) -> str:
    """Return a random number of random digits."""
    return "".join(source.choices(DIGITS, k=source.randint(shortest, longest)))


def on_digits(solve: Callable[[str], str]) -> Callable[[str], str]:
    """Return `solve` with a check: it raises ValueError for a text that is not all digits."""

    def solve_digits(text: str) -> str:
        if not re.fullmatch("[0-9]+", text):
            raise ValueError("Type digits only, such as 31415926.")
        return solve(text)

    return solve_digits


def write_sum(source: random.Random, shortest: int, longest: int) -> str:
    """Return two random numbers of independent lengths, without leading zeros."""
    numbers = []
    for _ in range(2):
        length = source.randint(shortest, longest)
        least = 0 if length == 1 else 10 ** (length - 1)
        numbers.append(source.randrange(least, 10**length))
    return f"{numbers[0]}+{numbers[1]}"


def solve_sum(text: str) -> str:
    """Return the sum of two numbers; raises ValueError for a text that is not a sum."""
    match = re.fullmatch(r"(0|[1-9][0-9]*)\+(0|[1-9][0-9]*)", text)
    if not match:
        raise ValueError("Type two whole numbers with a plus sign between them, such as 27+385.")
    return str(int(match[1]) + int(match[2]))


def write_date(source: random.Random, shortest: int, longest: int) -> str:
    """Return a random day in English notation; the lengths have no effect."""
    first, last = datetime.date(YEARS[0], 1, 1), datetime.date(YEARS[-1], 12, 31)
    day = datetime.date.fromordinal(source.randint(first.toordinal(), last.toordinal()))
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"


def solve_date(text: str) -> str:
    """Return a day as year, month and day in digits; raises ValueError for an unknown day."""
    match = re.fullmatch(rf"({'|'.join(MONTHS)}) ([1-9][0-9]?), ([0-9]{{4}})", text)
    if not match or int(match[3]) not in YEARS:
        raise ValueError(
            f"Type a date from {YEARS[0]} to {YEARS[-1]}, written such as March 3, 2021."
        )
    month, year = MONTHS.index(match[1]) + 1, int(match[3])
    last = calendar.monthrange(year, month)[1]
    if int(match[2]) > last:
        raise ValueError(f"{match[1]} {year} has {last} days.")
    return datetime.date(year, month, int(match[2])).isoformat()


def write_letters(source: random.Random, shortest: int, longest: int) -> str:
    """Return random letters, each at most once."""
    return "".join(source.sample(LETTERS, source.randint(shortest, longest)))


def solve_repeat(text: str) -> str:
    """Return different letters twice; raises ValueError for any other text."""
    if not re.fullmatch("[a-z]+", text) or len({*text}) < len(text):
        raise ValueError("Type small letters, each at most once, such as kxqmwb.")
    return text + text


TASKS = {
    task.name: task
    for task in (
        Task(
            name="reverse",
            title="Reverse digits",
            description="Write the digits from the last to the first.",
            example="31415926",
            expectation="Cross-attention on the anti-diagonal: the first digit to be written looks"
            " at the last one read, and so on back to the beginning.",
            alphabet=DIGITS,
            length_name="digits",
            lengths=(3, 16),
            write=digits,
            solve=on_digits(lambda text: text[::-1]),
        ),
        Task(
            name="copy",
            title="Copy digits",
            description="Write the same digits again.",
            example="31415926",
            expectation="Cross-attention on the diagonal: each digit to be written looks at the"
            " digit at the same place.",
            alphabet=DIGITS,
            length_name="digits",
            lengths=(3, 16),
            write=digits,
            solve=on_digits(str),
        ),
        Task(
            name="sort",
            title="Sort digits",
            description="Write the digits from the smallest to the largest.",
            example="31415926",
            expectation="Cross-attention by value, not by place: each digit to be written looks at"
            " this digit in the source, wherever it is.",
            alphabet=DIGITS,
            length_name="digits",
            lengths=(3, 16),
            write=digits,
            solve=on_digits(lambda text: "".join(sorted(text))),
        ),
        Task(
            name="add",
            title="Add two numbers",
            description="Write the sum of two whole numbers.",
            example="27+385",
            expectation="Cross-attention to the two digits of the same column, and to the columns"
            " on their right, which decide what is carried.",
            alphabet=DIGITS + "+",
            length_name="digits of each number",
            lengths=(2, 6),
            write=write_sum,
            solve=solve_sum,
        ),
        Task(
            name="dates",
            title="Translate dates",
            description="Write an English date as year, month and day in figures.",
            example="March 3, 2021",
            expectation="Cross-attention to the year first, then to the letters that tell the"
            " month, then to the day.",
            alphabet="".join(sorted({*"".join(MONTHS), *DIGITS, *" ,-"})),
            length_name="",
            lengths=(0, 0),
            write=write_date,
            solve=solve_date,
        ),
        Task(
            name="repeat",
            title="Repeat a random sequence",
            description="A decoder without an encoder reads random letters again and again, and has"
            " to say what comes next from the second reading on.",
            example="kxqmwb",
            expectation="Nothing for a while. Then two heads appear together: one of layer 1 looks"
            " one letter back, and one of layer 2 at the letter that followed the same letter"
            " before, on lines parallel to the diagonal: induction.",
            alphabet=LETTERS,
            length_name="letters",
            lengths=(3, 20),
            write=write_letters,
            solve=solve_repeat,
            decoder_only=True,
        ),
    )
}
