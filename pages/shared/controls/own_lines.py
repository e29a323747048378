"""The box for a visitor's own sentences, one per line, and the progress of the work on them."""

from collections.abc import Callable

import streamlit as st

from headlight.model.jobs import Job

MOST_TYPED = 200_000  # characters
KINDS_OF_FILE = ("txt", "tsv", "gz")
REFUSED = "{key}_refused"


def box_for_lines(key: str, button: str, begin: Callable[[bytes], None]) -> None:
    """Draw a box for lines, an upload of a file, and a button that calls `begin` with the text.

    If `begin` raises ValueError, `refusal` returns the error's message later.
    """
    typed, file = st.columns(2, gap="medium")
    with typed:
        bounds = {"max_chars": MOST_TYPED, "height": 140, "persist_state": "session"}
        st.text_area("Text, one sentence per line", key=f"{key}_typed", **bounds)
    with file:
        label = "Or a file, used instead of the text"
        st.file_uploader(label, KINDS_OF_FILE, key=f"{key}_file")

    def hand_over() -> None:
        uploaded = st.session_state.get(f"{key}_file")
        text = st.session_state.get(f"{key}_typed", "")
        try:
            begin(uploaded.getvalue() if uploaded else text.encode("utf-8"))
        except ValueError as error:
            st.session_state[REFUSED.format(key=key)] = str(error)

    st.button(button, on_click=hand_over, key=f"{key}_begin")


def refusal(key: str) -> str:
    """Return why the last text was refused, but only once; otherwise an empty text."""
    return st.session_state.pop(REFUSED.format(key=key), "")


def progress_of(job: Job, key: str, cancel: Callable[[], None], stage: str = "") -> None:
    """Draw how many lines a job has done, or its current `stage`, and a button to cancel it."""
    words = f"Line {job.done:,} of {job.total:,}"
    if waiting := job.state().place:
        words = f"Waiting for other visitors' texts: place {waiting} in line"
    elif stage:
        words = stage
    elif (seconds := job.seconds_left()) is not None:
        words += f", about {seconds:.0f} s left"
    st.progress(job.done / job.total, words)
    st.button("Cancel", on_click=cancel, key=f"{key}_cancel")
