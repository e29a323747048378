import pytest


@pytest.fixture(scope="session")
def translator(shipped):
    """The model that the app loads."""
    return shipped
