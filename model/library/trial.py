"""Trying a model in a process of its own, so that it can break nothing else.

Its folder is loaded there as it is in a server, its tokenizer is given odd and long texts, and it
reads a short one. That process is limited in memory and time; see trial_process.py. One is kept
ready while somebody thinks of loading a model, as importing the transformers library takes seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from threading import Lock

from model.library.hub import LoadingError

ROOT = Path(__file__).parents[2]
MEANWHILE = "transformers.models.auto.tokenization_auto"  # what this process imports, in seconds
LOOK = 0.05  # seconds between two looks at a trial
LONGEST_ANSWER = 2_000  # characters
SLOW = (
    "{name} was not ready after {seconds} seconds, so it was stopped. Choose a smaller model, or "
    "load it where there is more time."
)
BROKEN = (
    "{name} broke down where it was tried, or asked for more memory than a model of its size "
    "needs. Choose another model."
)


class StoppedError(Exception):
    """Nobody waits for the model any more."""


@dataclass(frozen=True)
class Request:
    """A model to be tried."""

    name: str  # that a sentence calls it by
    folder: str
    longest: int  # characters of a text that it may be given
    seconds: int


class Trials:
    """Processes in which models are tried, and one that is ready for the next; threads share it."""

    def __init__(self) -> None:
        self._ready: subprocess.Popen[str] | None = None
        self._lock = Lock()

    def get_ready(self) -> None:
        """Start a process that waits for a model, if there is none; it ends after a while."""
        with self._lock:
            if self._ready is None or self._ready.poll() is not None:
                self._ready = start()

    def begin(self, request: Request) -> subprocess.Popen[str]:
        """Give a model to the process that is ready, or to a new one; return the process."""
        for process in (self._take(), None):
            process = process or start()
            with suppress(BrokenPipeError):  # it had waited long enough and ended
                process.stdin.write(json.dumps(asdict(request)) + "\n")
                process.stdin.flush()
                return process
        raise LoadingError(BROKEN.format(name=request.name))

    def _take(self) -> subprocess.Popen[str] | None:
        with self._lock:
            process, self._ready = self._ready, None
        return process if process and process.poll() is None else None

    def run(
        self,
        name: str,
        folder: Path,
        *,
        longest: int,
        seconds: int,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """Try the model in a folder; return if it may be loaded.

        Texts of `longest` characters may be given to it. Raises LoadingError with the reason if it
        may not, and StoppedError once `is_stopped`.
        """
        request = Request(name, str(folder.resolve()), longest, seconds)
        process = self.begin(request)
        import_module(MEANWHILE)
        try:
            why = answer(process, request, is_stopped)
        finally:
            process.kill()
            process.communicate()
        if why is not None:
            raise LoadingError(why.replace(request.folder, name))


def start() -> subprocess.Popen[str]:
    """Start a process that waits for a model; it knows no network and no GPU."""
    alone = {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "model.library.trial_process"],
        cwd=ROOT,
        env=os.environ | alone,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def answer(
    process: subprocess.Popen[str], request: Request, is_stopped: Callable[[], bool]
) -> str | None:
    """Return why a model that is being tried may not be loaded, or None; see `Trials.run`."""
    end = time.monotonic() + request.seconds
    while process.poll() is None:
        if is_stopped():
            raise StoppedError
        if time.monotonic() > end:
            return SLOW.format(name=request.name, seconds=request.seconds)
        with suppress(subprocess.TimeoutExpired):
            process.wait(LOOK)
    try:
        why = json.loads(process.stdout.read())
    except ValueError:  # it ended without an answer
        return BROKEN.format(name=request.name)
    return why if why is None else why[:LONGEST_ANSWER]
