"""What the operator of the app may limit, by variables of the environment."""

from __future__ import annotations

import os


def whole_number(name: str, default: int, lowest: int = 1) -> int:
    """Return a variable as a whole number; raise ValueError, which says what it takes."""
    text = os.environ.get(name, "").strip() or str(default)
    if not (text.isascii() and text.isdecimal() and lowest <= int(text) <= 1_000_000):
        raise ValueError(f"{name} is {text!r}, but takes a whole number of at least {lowest}.")
    return int(text)


def switch(name: str, default: bool) -> bool:
    """Return a variable that is on or off; raise ValueError for anything else."""
    text = os.environ.get(name, "").strip().lower() or ("on" if default else "off")
    if text not in ("on", "off"):
        raise ValueError(f"{name} is {text!r}, but is either on or off.")
    return text == "on"


def patterns(name: str) -> tuple[str, ...]:
    """Return a variable as a list with commas between; raise ValueError for a folder of no root."""
    found = tuple(filter(None, (part.strip() for part in os.environ.get(name, "").split(","))))
    if wrong := [part for part in found if part[0] in "~."]:
        raise ValueError(
            f"{name} has {wrong[0]!r}, but folders are given from the root of the disk."
        )
    return found


WORKERS = whole_number("HEADLIGHT_WORKERS", 1)  # processes of the app on this machine


def of_this_worker(of_all: int) -> int:
    """Return the part that one process may take of what all of the machine may take together."""
    return -(-of_all // WORKERS)


# Of one model call. Several visitors share the cores; if a core is busy, threads that wait for each
# other take ten times as long for a sentence.
THREADS = whole_number("HEADLIGHT_THREADS", 1)
RUNS = whole_number("HEADLIGHT_RUNS", 4, lowest=2)  # results of each kind kept for a visitor
RUN_MEGABYTES = whole_number("HEADLIGHT_RUN_MEGABYTES", 1_500)  # results kept for a visitor
# And for all visitors.
ALL_RUNS_MEGABYTES = of_this_worker(whole_number("HEADLIGHT_ALL_RUNS_MEGABYTES", 2_000))
OTHER_MODELS = switch("HEADLIGHT_OTHER_MODELS", True)  # visitors load models by name or folder
MODELS_ALLOWED = patterns("HEADLIGHT_MODELS_ALLOWED")  # names and folders; all, if there is none
MODELS = of_this_worker(whole_number("HEADLIGHT_MODELS", 3))  # such models in memory
LOADING_SECONDS = whole_number("HEADLIGHT_LOADING_SECONDS", 60, lowest=5)  # a model is tried
TRAININGS = of_this_worker(whole_number("HEADLIGHT_TRAININGS", 1))  # at once
TRAINING_SECONDS = whole_number("HEADLIGHT_TRAINING_SECONDS", 600, lowest=10)  # of each at most
COUNTS = whole_number("HEADLIGHT_COUNTS", 1)  # visitors' texts counted at once
COUNT_LINES = whole_number("HEADLIGHT_COUNT_LINES", 2_000)  # of each
COUNT_SECONDS = whole_number("HEADLIGHT_COUNT_SECONDS", 600, lowest=10)  # for each
UPLOAD_MEGABYTES = whole_number("HEADLIGHT_UPLOAD_MEGABYTES", 400)  # models a visitor uploads
# And all visitors.
ALL_UPLOADS_MEGABYTES = of_this_worker(whole_number("HEADLIGHT_ALL_UPLOADS_MEGABYTES", 1_000))
