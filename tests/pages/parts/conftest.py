"""The fixtures of the tests of models and calls, for pages with maths and calls of their own."""

from tests.model.insight.conftest import model, reader, trace
from tests.pages.shared.runs.conftest import loaded, one_session

__all__ = ["loaded", "model", "one_session", "reader", "trace"]
