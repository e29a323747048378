"""Fixtures of tests in Firefox and WebKit."""

from tests.browsers.conftest import browser, pytest_runtest_makereport, server, started, translator

__all__ = ["browser", "pytest_runtest_makereport", "server", "started", "translator"]
