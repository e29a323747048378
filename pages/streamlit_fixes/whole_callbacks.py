"""Runs every callback to its end, however soon the next click comes.

Streamlit checks for the next click whenever a session's state is read or written, and ends the run
there. A callback that is ended in this way has done half of its work, and does not run again: a
typed text would be in its box and nowhere else. `runner.fastReruns` makes no difference.

Upstream: https://github.com/streamlit/streamlit/issues/10578
Relies on: `SafeSessionState.on_script_will_rerun`, which runs the callbacks, and its
`_yield_callback`, which checks for the next click.
"""

from collections.abc import Callable

from streamlit.runtime.state.safe_session_state import SafeSessionState

from headlight.pages.streamlit_fixes.replace import replace


def run_callbacks_whole() -> None:
    """Have Streamlit check for the next click before and after callbacks, not during them."""
    replace(SafeSessionState, "on_script_will_rerun", _run_whole)


def _run_whole(
    run: Callable[..., None], state: SafeSessionState, *values: object, **more: object
) -> None:
    look = state._yield_callback
    look()
    object.__setattr__(state, "_yield_callback", lambda: None)
    try:
        run(state, *values, **more)
    finally:
        object.__setattr__(state, "_yield_callback", look)
