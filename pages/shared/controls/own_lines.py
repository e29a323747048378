"""Lines of the visitor's own text, one sentence per line: the box for them, and the job's bar."""

from collections.abc import Callable

import streamlit as st

from headlight.model.jobs import Job

MOST_TYPED = 200_000  # characters
KINDS_OF_FILE = ("txt", "tsv", "gz")
REFUSED = "{key}_refused"


def box_for_lines(key: str, button: str, begin: Callable[[bytes], None]) -> None:
    """Draw a box for lines and a button that hands them to `begin`.

    `begin` raises ValueError with a sentence for a text that cannot be taken, which `refusal` has.
    """
    typed, file = st.columns(2, gap="medium")
    with typed:
        bounds = {"max_chars": MOST_TYPED, "height": 140, "persist_state": "session"}
        st.text_area("Text, a sentence a line", key=f"{key}_typed", **bounds)
    with file:
        label = "Or a file of lines, taken in place of it"
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
    """Return once why a text was refused; otherwise nothing."""
    return st.session_state.pop(REFUSED.format(key=key), "")


def progress_of(job: Job, key: str, cancel: Callable[[], None], stage: str = "") -> None:
    """Draw how far a job over lines is, or its last `stage`, and the button that cancels it."""
    words = f"Line {job.done:,} of {job.total:,}"
    if waiting := job.state().place:
        words = f"Waiting for other visitors' texts: place {waiting} in line"
    elif stage:
        words = stage
    elif (seconds := job.seconds_left()) is not None:
        words += f", about {seconds:.0f} s left"
    st.progress(job.done / job.total, words)
    st.button("Cancel", on_click=cancel, key=f"{key}_cancel")
