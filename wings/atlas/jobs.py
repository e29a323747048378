"""Visitors' own texts, counted in the background."""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from headlight.model.corpus import WINDOW, OwnText, in_words
from headlight.model.jobs import Job, JobQueue, keep_in_the_background
from headlight.model.reader import Reader
from headlight.wings.atlas.counting import Count, count_window, merge
from headlight.wings.atlas.figures import as_data
from headlight.wings.atlas.files import Atlas, about_of, as_atlas
from headlight.wings.atlas.looking import examples

Step = TypeVar("Step")
MOST_NUMBERS = 2**23  # the most weights of a sentence, in all heads: 32 MB, plus copies
OWN = "own text"  # the name of a visitor's text in a count
BUSY = "{count} texts are already waiting to be counted: try again in a few minutes."
TOO_LONG = "Stopped after {seconds:.0f} seconds, the limit: {done:,} of {all:,} lines were counted."
FAILED = "The count failed ({error}): try a shorter text or another model."


@dataclass(frozen=True)
class Counted:
    """A count, and the atlas made of it."""

    count: Count
    atlas: Atlas


def count_queue(at_once: int = 1, *, longest: float = 600.0, waiting: int = 5) -> JobQueue:
    """Return a queue for the counts of all visitors; after `longest` seconds a count ends early."""
    return JobQueue("counting", at_once, waiting, full=BUSY, longest=longest)


class CountJob(Job[Counted]):
    """A count of one visitor's text; `notes` say what was left out."""

    def __init__(self, queue: JobQueue, reader: Reader, model: str, text: OwnText) -> None:
        super().__init__(queue)
        self.notes = list(text.notes)
        self.total = sum(window.read for window in text.windows)  # lines
        self.collecting = False  # True at the end, while examples are traced
        self._what: tuple[Reader, str, OwnText] | Any = (reader, model, text)  # None once closed

    def work(self) -> Counted:
        """Count, and trace the examples; raises ValueError if no line can be counted."""
        keep_in_the_background()
        reader, model, text = self._what
        count = self.counted(reader, model, text)
        if not count.sentences:
            raise ValueError(f"No line of this text can be counted: {in_words(count.lines)}.")
        self.collecting = True
        sentences = list(self.checked(examples(reader, count)))
        return Counted(count, as_atlas(as_data(count), sentences))

    def counted(self, reader: Reader, model: str, text: OwnText) -> Count:
        """Count what heads do in one window after another, until the time limit."""
        about = about_of(reader, model, OWN, WINDOW)
        count = Count(about)
        longest = self.queue.longest
        for window in self.checked(text.windows):
            if self.seconds > longest:
                self.notes = [TOO_LONG.format(seconds=longest, done=self.done, all=self.total)]
                break
            count = merge(count, count_window(reader, window, about, MOST_NUMBERS))
            self.done += window.read
        return count

    def checked(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield the steps; before each one, end the job if it was stopped."""
        for step in steps:
            self.check()
            yield step

    def close(self) -> None:
        """Drop the model and the text."""
        self._what = None

    def explain(self, error: BaseException) -> str:
        """Return a sentence on a failed count; nothing that could contain the text is logged."""
        if isinstance(error, ValueError):
            return str(error)
        name = type(error).__name__
        logging.getLogger(__name__).error("A count failed: %s", name)
        return FAILED.format(error=name)
