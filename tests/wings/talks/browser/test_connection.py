"""A slide whose server is lost for a while."""

from tests.browser.test_connection import expect_told, proxy

__all__ = ["proxy"]


def test_a_lost_server_is_told_quietly_on_a_slide_until_it_is_back(page, proxy):
    expect_told(page, proxy, "/?talk=10")
