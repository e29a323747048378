"""Gives a section of a page (a fragment) the same name wherever it is on the page.

Streamlit names a section by its function and by its place among the elements of the page. If a line
appears above it, the name changes; a click that the browser sent under the old name is lost.

Upstream: no issue was found.
Relies on: `fragment._make_fragment_identity`, which Streamlit looks up in its module at each call,
and on pages that draw each section only once.
"""

from collections.abc import Callable

from streamlit.runtime import fragment

from headlight.pages.streamlit_fixes.replace import replace


def name_sections_without_place() -> None:
    """Have Streamlit name each section by its function only."""
    replace(fragment, "_make_fragment_identity", _name_without_place)


def _name_without_place(
    name: Callable[..., fragment._FragmentIdentity],
    function: Callable[..., object],
    *,
    delta_path: str,
    **more: str,
) -> fragment._FragmentIdentity:
    return name(function, delta_path="", **more)
