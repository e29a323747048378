"""Ignores clicks in sections of a page that the visitor has just left.

The first click of a double click may lead to another page. Streamlit handles the second one after
that page is drawn: it finds no such section, but has told the browser by then that the page with
the section is shown again. The browser removes the new page and is left with a blank one.

Upstream: no issue was found; https://github.com/streamlit/streamlit/issues/9921 is about the same
second click in a dialog.
Relies on: `ScriptRunner._run_script`, whose request names sections in `fragment_id_queue`, and the
runner's `_fragment_storage`.
"""

from collections.abc import Callable

from streamlit.runtime.scriptrunner import RerunData, ScriptRunner

from headlight.pages.streamlit_fixes.replace import replace


def ignore_left_sections() -> None:
    """Have Streamlit ignore a request to draw sections of which none is on the page."""
    replace(ScriptRunner, "_run_script", _run_if_there)


def _run_if_there(
    run: Callable[[ScriptRunner, RerunData], None], runner: ScriptRunner, request: RerunData
) -> None:
    sections = request.fragment_id_queue
    if not sections or any(map(runner._fragment_storage.contains, sections)):
        run(runner, request)
