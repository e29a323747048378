"""A section of a page stays the same one wherever it stands.

Streamlit names a section by its function and by its place among the elements of the page. If a line
appears above it, a click that the browser makes before it knows is for a section that is gone, and
is lost.

Upstream: no issue was found.
Relies on: `fragment._make_fragment_identity`, which is called by name, and sections that are drawn
at one place of a page only.
"""

from collections.abc import Callable

from streamlit.runtime import fragment

from headlight.pages.streamlit_fixes.replace import replace


def name_sections_without_place() -> None:
    """Have Streamlit name sections by their functions alone."""
    replace(fragment, "_make_fragment_identity", _name_without_place)


def _name_without_place(
    name: Callable[..., fragment._FragmentIdentity],
    function: Callable[..., object],
    *,
    delta_path: str,
    **more: str,
) -> fragment._FragmentIdentity:
    return name(function, delta_path="", **more)
