"""What a slide does when the tab's own models have come back."""

from tests.pages.shared.frame.test_browser_tab import answered, left

__all__ = ["answered", "left"]


def test_a_slide_is_drawn_anew_with_what_came_back(answered, left):
    state, _ = answered(left.key, slide_drawn=True)
    assert "slide_drawn" not in state
