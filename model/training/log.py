"""The log of a training on the command line: a CSV file with one row for each scoring."""

import csv
import math
import time
from pathlib import Path

from model.checkpoint import replacing

COLUMNS = (
    "step", "epoch", "train_loss", "valid_loss", "bleu", "chrf", "learning_rate", "seconds",
)  # fmt: skip


class Log:
    """The rows of earlier steps when a training resumes, and its new rows."""

    def __init__(self, path: Path, goes_on_at: int) -> None:
        self.path = path
        rows = read_rows(path) if goes_on_at else []
        self.rows: list[dict] = [row for row in rows if int(row["step"]) <= goes_on_at]
        self.seconds_before = float(self.rows[-1]["seconds"]) if self.rows else 0.0
        self.started = time.monotonic()

    def write(self, **values: float) -> None:
        """Add a row, or replace the row of the same step; losses are in nats a token."""
        values["seconds"] = round(self.seconds_before + time.monotonic() - self.started)
        self.rows = [row for row in self.rows if int(row["step"]) != values["step"]] + [values]
        with replacing(self.path) as path, path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(self.rows)


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the complete rows of a log; none if there is no log."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.endswith("\n") and "\0" not in line]
        return [row for row in csv.DictReader(lines) if is_whole(row)]


def is_whole(row: dict[str, str]) -> bool:
    """Return whether a row has a number in every column, and nothing else."""
    if row.keys() != set(COLUMNS):
        return False
    try:
        numbers = [float(row[name]) for name in COLUMNS]
    except (TypeError, ValueError):
        return False
    return all(map(math.isfinite, numbers)) and row["step"].isdecimal()
