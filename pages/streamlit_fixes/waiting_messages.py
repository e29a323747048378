"""What is drawn reaches the browser before long work begins.

Streamlit sends the drawings of a run from another thread, which gets no turn while a model keeps
Python busy.

Upstream: no issue was found; streamlit/streamlit#14985 shortened the time between two checks.
Relies on: a run that sleeps for longer than Streamlit waits between two checks for new drawings.
"""

import time

LONG_ENOUGH = 0.03  # seconds


def send_what_is_drawn() -> None:
    """Wait until everything drawn so far is on its way to the browser."""
    time.sleep(LONG_ENOUGH)
