"""Lets a box look up its value in the session's state without copying the whole state.

Streamlit copies all values for each select box, text box and number box. With some 50 values, this
takes 5 % of the time of a page.

Upstream: https://github.com/streamlit/streamlit/pull/8529, whose comments report the slowdown.
Relies on: `SafeSessionState.filtered_state`, in which these boxes look up their key.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

from streamlit.runtime.state.safe_session_state import SafeSessionState


class Values(Mapping[str, Any]):
    """The values of a session's state, each read from the state when it is used."""

    def __init__(
        self, state: SafeSessionState, copied: Callable[[SafeSessionState], dict[str, Any]]
    ) -> None:
        self.state = state
        self.copied = copied

    def __getitem__(self, key: str) -> Any:
        with self.state._lock:
            return self.state._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.copied(self.state))

    def __len__(self) -> int:
        return len(self.copied(self.state))


def look_up_one_value() -> None:
    """Have Streamlit's boxes look up only their own value."""
    owner: Any = SafeSessionState
    copied = owner.filtered_state.fget
    if hasattr(copied, "__wrapped__"):
        return  # the property was replaced before

    @wraps(copied)
    def values(state: SafeSessionState) -> Values:
        return Values(state, copied)

    owner.filtered_state = property(values)
