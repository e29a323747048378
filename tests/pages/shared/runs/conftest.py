import pytest

from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.state.models import LIBRARY
from tests.pages.sessions import end, session


@pytest.fixture
def one_session():
    """A session of the test's own, which ends with it."""
    with session("one"):
        yield
    end("one")


@pytest.fixture
def loaded():
    """A function that has a folder's model in memory, and returns the key that pages know it by."""

    def load(folder):
        if shelf().get(str(folder)) is None:
            shelf().ask(str(folder)).join()
        return LIBRARY + str(folder)

    return load
