import pytest

from model import load, load_bert
from model.library.trial import Trials
from tests.model.library.conftest import transformers_folders

__all__ = ["bert", "bert_folder", "shipped", "transformers_folders", "untried"]


@pytest.fixture(scope="session")
def shipped():
    """The model that the pages load."""
    return load("en-fr")


@pytest.fixture(scope="session")
def bert_folder(make_bert_folder):
    """The folder of a tiny BERT that predicts masked words."""
    return make_bert_folder()


@pytest.fixture(scope="session")
def bert(bert_folder):
    """What pages read with that BERT."""
    return load_bert(bert_folder)


@pytest.fixture(scope="module", autouse=True)
def untried():
    """The models that tests make are not tried in a process of their own, which takes its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trials, "run", lambda *_, **__: None)
        patch.setattr(Trials, "get_ready", lambda _: None)
        yield
