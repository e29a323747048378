"""What follows a click is done whole, however soon the next click comes."""

from __future__ import annotations

from functools import wraps

from streamlit.runtime.state.safe_session_state import SafeSessionState


def run_callbacks_whole() -> None:
    """Have Streamlit end a run for the next click before or after its callbacks, not in them.

    It looks for that click whenever a session's state is read or written. A callback that ends
    there has done half of its work, and is not run again: what was typed into a box would stand in
    it and nowhere else.
    """
    run = SafeSessionState.on_script_will_rerun
    if hasattr(run, "__wrapped__"):
        return  # it was done before

    @wraps(run)
    def run_whole(state: SafeSessionState, *values: object, **more: object) -> None:
        look = state._yield_callback
        look()
        object.__setattr__(state, "_yield_callback", lambda: None)
        try:
            run(state, *values, **more)
        finally:
            object.__setattr__(state, "_yield_callback", look)

    SafeSessionState.on_script_will_rerun = run_whole
