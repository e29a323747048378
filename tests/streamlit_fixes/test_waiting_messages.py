from streamlit.runtime import runtime_util

from headlight.pages.streamlit_fixes.waiting_messages import LONG_ENOUGH


def test_streamlit_looks_for_what_is_drawn_within_that_time():
    """If it fails, wait for longer, or for as long as Streamlit says."""
    assert LONG_ENOUGH >= 5 * runtime_util.MESSAGE_FLUSH_INTERVAL_SECS
