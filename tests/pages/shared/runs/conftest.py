import pytest

from tests.pages.sessions import end, session


@pytest.fixture
def one_session():
    """A session of the test's own, which ends with it."""
    with session("one"):
        yield
    end("one")
