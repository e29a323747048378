"""Rooms of phones that guess the answer to a question, kept in memory until they are closed."""

import secrets
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from headlight.pages.server.open_paths import leads_here

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # without letters and digits that look alike
LENGTH = 5  # letters of a code: enough that nobody guesses one during a lecture
MOST_ROOMS = 100
MOST_PHONES = 2_000  # phones in a room
MOST_POLLS = 60  # questions whose guesses a room keeps
AWAY = 15.0  # seconds without a request after which a phone is no longer counted as present
FORGOTTEN = 6 * 3600.0  # seconds without a request from the lecturer after which a room is closed
FULL = f"This room is full: it takes {MOST_PHONES:,} phones."
TOO_MANY = f"There are {MOST_ROOMS} rooms already: close one, or try again later."
NOT_IN_ROOM = "This phone is not in the room: reload the page."
CHANGED = "The question has changed meanwhile."
CLOSED = "The guesses are closed."
NO_OPTION = "The question has no such answer."


@dataclass(frozen=True)
class Question:
    """A question that a room is asked; two with equal fields are the same question."""

    asks: str
    options: tuple[str, ...]
    sentence: str = ""  # the sentence that the question is about
    boards: tuple[tuple[str, int, int], ...] = ()  # if the options are heads; see `Riddle`
    scene: str = ""  # tells apart questions of the same words on different pages or choices


NO_QUESTION = Question("", ())


@dataclass
class Poll:
    """A question, and what the phones have guessed so far."""

    question: Question
    number: int  # counts the questions of its room
    guesses: dict[str, int] = field(default_factory=dict)  # by phone: the index of its option
    is_closed: bool = False  # True once no more guesses are taken and all are shown
    right: tuple[int, ...] = ()  # indices of the right options, once the answer is shown

    def result(self) -> dict[str, Any]:
        """Return data for phones and lecturer; it has counts only once the guesses are closed."""
        of_option = Counter(self.guesses.values())
        counts = [of_option[option] for option in range(len(self.question.options))]
        return {
            "number": self.number,
            "closed": self.is_closed,
            "counts": counts if self.is_closed else [],
            "right": self.right,
        }


NOTHING_ASKED = Poll(NO_QUESTION, -1)


@dataclass
class Room:
    """The phones of a lecture and the question that they are asked.

    The lecturer's page may replace the poll while another thread answers phones, so each method
    reads `poll` only once.
    """

    code: str
    key: str = field(default_factory=secrets.token_urlsafe, repr=False)  # the lecturer's secret
    poll: Poll = field(default_factory=lambda: Poll(NO_QUESTION, 0))
    polls: dict[Question, Poll] = field(default_factory=dict)  # the newest is the last
    asked: int = 0  # how many polls there have been
    seen: dict[str, float] = field(default_factory=dict)  # the time of each phone's last request
    is_shown: bool = True  # True if the lecturer's screen shows the question
    lecturer_seen: float = field(default_factory=time.monotonic)

    def pose(self, question: Question, *, again: bool = False) -> None:
        """Ask a question. If it was asked before, its guesses are kept, unless `again` is True."""
        if again or question != self.poll.question:
            if again or question not in self.polls:
                self.asked += 1
                self.polls[question] = Poll(question, self.asked)
            self.poll = self.polls[question]
            if len(self.polls) > MOST_POLLS:
                del self.polls[next(iter(self.polls))]

    def close_guesses(self, right: tuple[int, ...] = ()) -> None:
        """Refuse further guesses, show the counts of guesses, and mark the `right` options."""
        self.poll.is_closed = True
        self.poll.right = right or self.poll.right

    def show(self) -> None:
        """Let phones show the question, because the lecturer's screen shows it."""
        self.is_shown = True

    def hide(self) -> None:
        """Make phones wait, because the lecturer's screen does not show the question."""
        self.is_shown = False

    def enter(self) -> str:
        """Add a new phone and return its name; raises ValueError if the room is full."""
        if len(self.seen) >= MOST_PHONES:
            raise ValueError(FULL)
        phone = secrets.token_urlsafe()
        self.seen[phone] = time.monotonic() - AWAY  # counted as present after its next request
        return phone

    def guess(self, phone: str, number: int, option: int) -> None:
        """Take a phone's guess on the question with this number, in place of its earlier guess.

        Raises ValueError, with a sentence for the phone, if the guess does not count.
        """
        poll = self.poll
        if phone not in self.seen:
            raise ValueError(NOT_IN_ROOM)
        if number != poll.number:
            raise ValueError(CHANGED)
        if poll.is_closed:
            raise ValueError(CLOSED)
        if not 0 <= option < len(poll.question.options):
            raise ValueError(NO_OPTION)
        poll.guesses[phone] = option

    def shown_to_phone(self, phone: str) -> dict[str, Any]:
        """Return what a phone shows; raises ValueError for a phone that is not in the room."""
        if phone not in self.seen:
            raise ValueError(NOT_IN_ROOM)
        self.seen[phone] = time.monotonic()
        poll = self.poll if self.is_shown else NOTHING_ASKED
        question = poll.question
        asked = {"sentence": question.sentence, "asks": question.asks, "options": question.options}
        asked |= {"boards": question.boards, "guess": poll.guesses.get(phone)}
        return asked | poll.result()

    def shown_to_lecturer(self) -> dict[str, Any]:
        """Return how many phones are present, how many have guessed, and the result."""
        self.lecturer_seen = now = time.monotonic()
        poll = self.poll
        present = {phone for phone, last in self.seen.items() if now - last < AWAY}
        phones = len(present | poll.guesses.keys())
        return {"phones": phones, "guesses": len(poll.guesses)} | poll.result()


ROOMS: dict[str, Room] = {}  # by code


def open_room() -> Room:
    """Open a room with a new code; raises ValueError if there are too many rooms."""
    for room in list(ROOMS.values()):
        if time.monotonic() - room.lecturer_seen > FORGOTTEN:
            close_room(room)
    if len(ROOMS) >= MOST_ROOMS:
        raise ValueError(TOO_MANY)
    while (code := leads_here("".join(secrets.choice(LETTERS) for _ in range(LENGTH)))) in ROOMS:
        pass
    return ROOMS.setdefault(code, Room(code))


def close_room(room: Room) -> None:
    """Forget a room with all its guesses."""
    ROOMS.pop(room.code, None)


def lecturers_room(code: str, key: str) -> Room | None:
    """Return the room with this code if `key` is its lecturer's key; otherwise None."""
    room = ROOMS.get(code)
    return room if room and secrets.compare_digest(key.encode(), room.key.encode()) else None
