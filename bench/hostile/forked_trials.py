"""Tries the folders that come in, one a line, each in a copy of one process that has imported all.

It answers as a trial of the app does, where a new process is started for each; as JSON, with the
signal that ended the copy and the bytes that it took.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from model.library.trial import Request
from model.library.trial_process import prepare, tried

ROOT = Path(__file__).parents[2]
SECONDS = 60  # of one trial on a busy computer, most of which take a tenth of one


class ForkedTrials:
    """Trials of many folders, one after the other, which takes a tenth of the time of `Trials`."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.hostile.forked_trials"],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __call__(self, folder: Path) -> tuple[str | None, int, int]:
        """Return why a folder is refused if it is, the signal that ended its trial, and the bytes.

        The signal is 0 if the trial ended by itself.
        """
        self.process.stdin.write(f"{folder}\n")
        self.process.stdin.flush()
        why, signal, taken = json.loads(self.process.stdout.readline())
        return why, signal, taken

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()


def try_in_a_copy(folder: str) -> tuple[str | None, int, int]:
    """Try a folder in a copy of this process; see `ForkedTrials`."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, json.dumps(tried(Request("The model", folder, 4_000, SECONDS))).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answers:
        answer = answers.read()
    _, status, usage = os.wait4(child, 0)
    signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return json.loads(answer) if answer else None, signal, usage.ru_maxrss * 1024


def main() -> None:
    """Answer every line."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    prepare()
    for line in sys.stdin:
        print(json.dumps(try_in_a_copy(line.rstrip("\n"))), file=answers, flush=True)


if __name__ == "__main__":
    main()
