import pytest

from tests.model.insight.recording import reader_of, record


@pytest.fixture(scope="module")
def model(make_model):
    return make_model(seed=1)


@pytest.fixture(scope="module")
def reader(model):
    return reader_of(model)


@pytest.fixture(scope="module")
def trace(model):
    return record(model)
