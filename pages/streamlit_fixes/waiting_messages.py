"""Sends everything drawn so far to the browser before a model starts to run.

Streamlit sends the elements of a page from another thread, which gets no turn while a model keeps
Python busy.

Upstream: no issue was found; streamlit/streamlit#14985 shortened the time between two checks.
Relies on: Streamlit, which checks for new elements more often than LONG_ENOUGH.
"""

import time

LONG_ENOUGH = 0.03  # seconds that a run sleeps, so that the other thread can send


def send_what_is_drawn() -> None:
    """Wait until everything drawn so far is on its way to the browser."""
    time.sleep(LONG_ENOUGH)
