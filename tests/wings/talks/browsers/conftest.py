"""Fixtures of tests in Firefox and WebKit."""

from tests.browsers.conftest import browser, pytest_runtest_makereport, server, started, translator
from tests.wings.together.browser.test_deck_live import address

__all__ = ["address", "browser", "pytest_runtest_makereport", "server", "started", "translator"]
