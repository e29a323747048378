import pytest

from model import load


@pytest.fixture(scope="session")
def shipped():
    """The model that the pages load."""
    return load("en-fr")
