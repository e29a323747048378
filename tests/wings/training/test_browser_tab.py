"""What the page Training says when the tab's own models are gone."""

from headlight.pages.shared.frame import frame
from tests.pages.shared.frame.test_browser_tab import answered

__all__ = ["answered"]


def test_what_is_gone_is_told_on_its_page_alone_with_the_reason(answered):
    state, _ = answered("stale", page="training")
    assert state["workshop"].refused == frame.RESTARTED
    assert not answered("stale")[0]["workshop"].refused
