"""The limits of the app, which its operator can set by environment variables."""

import os
from urllib.parse import urlsplit

from streamlit import config

BEHIND = "HEADLIGHT_BEHIND"  # the variable with the address of the proxy in front of the app
LOOPBACK = ("localhost", "127.0.0.1", "::1")
MOST = 1_000_000


def whole_number(name: str, default: int, lowest: int = 1) -> int:
    """Return an environment variable as a whole number; raise ValueError if it is not one."""
    text = os.environ.get(name, "").strip()[:40] or str(default)
    if not (text.isascii() and text.isdecimal() and lowest <= int(text) <= MOST):
        raise ValueError(f"{name} is {text!r}, but takes a whole number from {lowest} to {MOST}.")
    return int(text)


def patterns(name: str) -> tuple[str, ...]:
    """Return the patterns in an environment variable, which has commas between them.

    Raises ValueError for a folder that is not given from the root of the disk.
    """
    parts = tuple(filter(None, (part.strip() for part in os.environ.get(name, "").split(","))))
    if wrong := [part for part in parts if part[0] in "~."]:
        raise ValueError(
            f"{name} has {wrong[0]!r}, but folders are given from the root of the disk."
        )
    return parts


def open_to_others() -> bool:
    """Return whether other machines can connect to the server, or to the proxy in front of it."""
    return os.environ.get(BEHIND, config.get_option("server.address")) not in LOOPBACK


def is_shared() -> bool:
    """Return whether people other than the one who started the app can open it."""
    names = [
        *config.get_option("server.allowedHosts"),
        *(urlsplit(page).hostname for page in config.get_option("server.corsAllowedOrigins")),
    ]
    return BEHIND in os.environ or open_to_others() or not {*names} <= {*LOOPBACK}


GUEST = False  # true if the app runs inside another program, such as a notebook
WORKERS = whole_number("HEADLIGHT_WORKERS", 1)  # processes of the app on this machine
WORKER = "HEADLIGHT_WORKER"  # the variable with this process's number, from 1
NUMBER = whole_number(WORKER, 1)


def of_this_worker(of_all: int) -> int:
    """Return this process's share of a limit for the whole machine, rounded up."""
    return -(-of_all // WORKERS)


# How many threads a model call uses. With more than one, the threads wait for each other: on a
# machine whose cores are busy with other visitors, a sentence then takes ten times as long.
THREADS = whole_number("HEADLIGHT_THREADS", 1)
# How many results of each function are kept for a visitor.
RUNS = whole_number("HEADLIGHT_RUNS", 4, lowest=2)
# How many megabytes of results are kept for each visitor, and for all visitors together.
RUN_MEGABYTES = whole_number("HEADLIGHT_RUN_MEGABYTES", 1_500)
ALL_RUNS_MEGABYTES = of_this_worker(whole_number("HEADLIGHT_ALL_RUNS_MEGABYTES", 2_000))
MODELS_ALLOWED = patterns("HEADLIGHT_MODELS_ALLOWED")  # which models visitors may open
# How many of the models that visitors open are in memory.
MODELS = of_this_worker(whole_number("HEADLIGHT_MODELS", 3))
# How many trainings run at once, and how many seconds each may take.
TRAININGS = of_this_worker(whole_number("HEADLIGHT_TRAININGS", 1))
TRAINING_SECONDS = whole_number("HEADLIGHT_TRAINING_SECONDS", 600, lowest=10)
# When patterns are counted in visitors' texts: how many texts are counted at once, how many lines
# of each text, and how many seconds this may take.
COUNTS = whole_number("HEADLIGHT_COUNTS", 1)
COUNT_LINES = whole_number("HEADLIGHT_COUNT_LINES", 2_000)
COUNT_SECONDS = whole_number("HEADLIGHT_COUNT_SECONDS", 600, lowest=10)
