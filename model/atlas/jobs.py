"""Visitors' own texts, counted in the background: a few at a time, the others in a queue."""

import logging
import time
from collections.abc import Iterable, Iterator
from typing import Literal, TypeVar

from model.atlas.corpus import WINDOW, OwnText, in_words
from model.atlas.counting import Count, count_window, merge
from model.atlas.figures import as_data
from model.atlas.files import Atlas, about_of, as_atlas
from model.atlas.looking import examples
from model.job_queue import Job, JobQueue, QueueFullError, keep_in_the_background
from model.reader import Reader

Step = TypeVar("Step")
Status = Literal["waiting", "counting", "collecting", "finished", "failed"]
MOST_NUMBERS = 2**23  # weights of all heads in one sentence: 32 MB, and some copies
OWN = "own text"  # its name in a count
BUSY = "{count} texts wait to be counted already: try again in a few minutes."
TOO_LONG = (
    "Stopped after {seconds:.0f} seconds, the most a count may take: {done:,} of {all:,} lines."
)
FAILED = "The count failed ({error}): try a shorter text or another model."


class UnwantedError(Exception):
    """The count was cancelled."""


class CountJob:
    """A count of one visitor's text; made by `Counts.start`.

    When it is finished, `count` and `atlas` are its results, and `notes` say what was left out.
    """

    def __init__(self, reader: Reader, model: str, text: OwnText, longest: float) -> None:
        self.count: Count | None = None
        self.atlas: Atlas | None = None
        self.notes = list(text.notes)
        self.status: Status = "waiting"
        self.queued: Job[None] | None = None
        self.done, self.lines = 0, sum(window.read for window in text.windows)
        self._what: tuple[Reader, str, OwnText] | None = (reader, model, text)
        self._began = 0.0
        self._longest = longest
        self._cancelled = False

    @property
    def is_active(self) -> bool:
        """Whether the count is waiting or running."""
        return self.status not in ("finished", "failed")

    def cancel(self) -> None:
        """End the count after the current window, or before it begins; it has no result then."""
        self._cancelled = True
        self.queued.cancel()

    def run(self) -> None:
        """Count in this thread, and record a failure."""
        reader, model, text = self._what
        self.status, self._began = "counting", time.monotonic()
        try:
            keep_in_the_background()
            count = self.counted(reader, model, text)
            if not count.sentences:
                raise ValueError(f"No line of this text can be counted: {in_words(count.lines)}.")
            self.status = "collecting"
            sentences = list(self.unless_cancelled(examples(reader, count)))
            self.count, self.atlas = count, as_atlas(as_data(count), sentences)
            self.status = "finished"
        except UnwantedError:
            self.status = "failed"
        except ValueError as error:
            self.status, self.notes = "failed", [str(error)]
        except Exception as error:  # whose log entry could hold a visitor's text
            name = type(error).__name__
            logging.getLogger(__name__).error("A count failed: %s", name)
            self.status, self.notes = "failed", [FAILED.format(error=name)]
        finally:
            self._what = None

    def counted(self, reader: Reader, model: str, text: OwnText) -> Count:
        """Return the count of as many windows as the time limit allows."""
        about = about_of(reader, model, OWN, WINDOW)
        count = Count(about)
        for window in self.unless_cancelled(text.windows):
            if self.seconds > self._longest:
                part = {"seconds": self._longest, "done": self.done, "all": self.lines}
                self.notes = [TOO_LONG.format(**part)]
                break
            count = merge(count, count_window(reader, window, about, MOST_NUMBERS))
            self.done += window.read
        return count

    def unless_cancelled(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield steps; raises UnwantedError before the next one if the count was cancelled."""
        for step in steps:
            if self._cancelled:
                raise UnwantedError
            yield step

    @property
    def seconds(self) -> float:
        """The seconds since the count began."""
        return time.monotonic() - self._began

    @property
    def seconds_left(self) -> float | None:
        """The seconds left at the speed so far; None if not yet known."""
        if not self.done or self.status != "counting":
            return None
        left = self.seconds * (self.lines - self.done) / self.done
        return max(0.0, min(left, self._longest - self.seconds))


class Counts:
    """The counts of all visitors: `at_once` of them run, the others wait in a queue.

    A count takes at most `longest` seconds, and then shows what it has. At most `waiting` may wait.
    """

    def __init__(self, at_once: int = 1, *, longest: float = 600.0, waiting: int = 5) -> None:
        self.longest = longest
        self._queue = JobQueue("counting", at_once, waiting)

    def start(self, reader: Reader, model: str, text: OwnText) -> CountJob:
        """Start to count a text, or queue it; raises ValueError if too many wait."""
        job = CountJob(reader, model, text, self.longest)
        try:
            job.queued = self._queue.submit(job.run)
        except QueueFullError as error:
            raise ValueError(BUSY.format(count=error.waiting)) from None
        return job

    def place(self, job: CountJob) -> int:
        """Return a job's place in the queue, from 1; 0 if it does not wait."""
        return self._queue.place(job.queued)
