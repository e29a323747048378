"""Uses every entry and runs its callback to the end, however soon the next click comes.

Streamlit checks for the next click whenever a session's state is read or written, and ends the run
there. A callback that is ended in this way has done half of its work, and does not run again: a
typed text would be in its box and nowhere else. `runner.fastReruns` makes no difference.

If the next click comes before the callbacks, the run is ended without them. The next run makes up
for that only if its request has all values again. A click on a link to another page has none: the
typed text would be lost.

Upstream: https://github.com/streamlit/streamlit/issues/10578
Relies on: `SafeSessionState.on_script_will_rerun`, which runs the callbacks, and its
`_yield_callback`, which checks for the next click; `ScriptRequests`, whose `_rerun_data` is the
newest request of a runner, and in whose state RERUN no run has begun with it;
`AppSession.request_rerun`, which stops the session's runner, unless the request is of a fragment.
"""

from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import (
    ScriptRequest,
    ScriptRequests,
    ScriptRequestType,
)
from streamlit.runtime.state.safe_session_state import SafeSessionState

from headlight.pages.streamlit_fixes.replace import replace


@dataclass
class Entries:
    """The values of widgets with which a run has begun, until the run uses them."""

    unused: WidgetStates | None = None
    handed_on: bool = False  # true if the next run is to use them


ENTRIES: WeakKeyDictionary[ScriptRequests, Entries] = WeakKeyDictionary()


def run_callbacks_whole() -> None:
    """Have Streamlit check for the next click after callbacks, and hand on what was not used."""
    replace(ScriptRequests, "on_scriptrunner_ready", _begin)
    replace(SafeSessionState, "on_script_will_rerun", _run_whole)
    replace(AppSession, "request_rerun", _hand_on)


def _begin(
    ready: Callable[[ScriptRequests], ScriptRequest], requests: ScriptRequests
) -> ScriptRequest:
    request = ready(requests)
    begins = request.type is ScriptRequestType.RERUN
    ENTRIES[requests] = Entries(request.rerun_data.widget_states if begins else None)
    return request


def _run_whole(
    run: Callable[..., None], state: SafeSessionState, *values: object, **more: object
) -> None:
    requests = (context := get_script_run_ctx()) and context.script_requests
    look = state._yield_callback
    with state._lock:  # so that the next run, which may have begun, waits for the callbacks
        if requests and not _use(requests):
            raise StopException
        object.__setattr__(state, "_yield_callback", lambda: None)
        try:
            run(state, *values, **more)
        finally:
            object.__setattr__(state, "_yield_callback", look)


def _use(requests: ScriptRequests) -> bool:
    """Note a run's values as used; return False if they were handed on to the next run."""
    with requests._lock:
        entries = ENTRIES.setdefault(requests, Entries())
        entries.unused = None
        return not entries.handed_on


def _hand_on(
    request: Callable[[AppSession, ClientState | None], None],
    session: AppSession,
    sent: ClientState | None,
) -> None:
    """Add to a request the values that were sent before it, if no run has used them."""
    if sent and not sent.fragment_id and session._scriptrunner:
        requests = session._scriptrunner._requests
        with requests._lock:
            entries = ENTRIES.setdefault(requests, Entries())
            unused = [entries.unused]
            if requests._state is ScriptRequestType.RERUN:
                unused.append(requests._rerun_data.widget_states)
            entries.unused, entries.handed_on = None, True
        if any(unused):
            every = [*filter(None, unused), sent.widget_states]  # in the order of sending
            widgets = {widget.id: widget for each in every for widget in each.widgets}
            sent.widget_states.CopyFrom(WidgetStates(widgets=widgets.values()))
    request(session, sent)
