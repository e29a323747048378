"""What can be saved of the page Training."""

from tests.pages.shared.show.test_saving import app, expect_offered

__all__ = ["app"]


def test_the_page_offers_its_pictures(app):
    expect_offered(app, "pages/training.py", ["Learning rate by step"])
