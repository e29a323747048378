"""The limits that the operator of the app can set by environment variables."""

import os
from urllib.parse import urlsplit

from streamlit import config

BEHIND = "HEADLIGHT_BEHIND"  # the address of the proxy through which all visitors come
LOOPBACK = ("localhost", "127.0.0.1", "::1")
MOST = 1_000_000


def whole_number(name: str, default: int, lowest: int = 1) -> int:
    """Return an environment variable as a whole number; raise ValueError if it is not one."""
    text = os.environ.get(name, "").strip()[:40] or str(default)
    if not (text.isascii() and text.isdecimal() and lowest <= int(text) <= MOST):
        raise ValueError(f"{name} is {text!r}, but takes a whole number from {lowest} to {MOST}.")
    return int(text)


def patterns(name: str) -> tuple[str, ...]:
    """Return an environment variable split at commas; raise ValueError for a relative folder."""
    parts = tuple(filter(None, (part.strip() for part in os.environ.get(name, "").split(","))))
    if wrong := [part for part in parts if part[0] in "~."]:
        raise ValueError(
            f"{name} has {wrong[0]!r}, but folders are given from the root of the disk."
        )
    return parts


def open_to_others() -> bool:
    """Return whether the server, or the proxy before it, listens to other machines."""
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
WORKER = "HEADLIGHT_WORKER"  # the variable with the number of this process among them
NUMBER = whole_number(WORKER, 1)


def of_this_worker(of_all: int) -> int:
    """Return this process's share of a limit for the whole machine, rounded up."""
    return -(-of_all // WORKERS)


# Threads of one model call. Visitors share the cores, and if a core is busy, several threads that
# wait for each other take ten times as long for a sentence as one thread.
THREADS = whole_number("HEADLIGHT_THREADS", 1)
RUNS = whole_number("HEADLIGHT_RUNS", 4, lowest=2)  # results of each function kept for a visitor
RUN_MEGABYTES = whole_number("HEADLIGHT_RUN_MEGABYTES", 1_500)  # megabytes of results a visitor
# Megabytes of results kept for all visitors together.
ALL_RUNS_MEGABYTES = of_this_worker(whole_number("HEADLIGHT_ALL_RUNS_MEGABYTES", 2_000))
MODELS_ALLOWED = patterns("HEADLIGHT_MODELS_ALLOWED")  # models that visitors may open
MODELS = of_this_worker(whole_number("HEADLIGHT_MODELS", 3))  # opened models in memory
TRAININGS = of_this_worker(whole_number("HEADLIGHT_TRAININGS", 1))  # trainings that run at once
TRAINING_SECONDS = whole_number("HEADLIGHT_TRAINING_SECONDS", 600, lowest=10)  # for each training
COUNTS = whole_number("HEADLIGHT_COUNTS", 1)  # visitors' texts that are counted at the same time
COUNT_LINES = whole_number("HEADLIGHT_COUNT_LINES", 2_000)  # lines counted of each text
COUNT_SECONDS = whole_number("HEADLIGHT_COUNT_SECONDS", 600, lowest=10)  # to count each text
