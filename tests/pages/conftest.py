import pytest
import streamlit as st

from headlight.model import load, load_bert
from tests.model.library.conftest import transformers_folders

__all__ = ["bert", "bert_folder", "shipped", "transformers_folders"]


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


@pytest.fixture
def state(monkeypatch):
    """An empty session."""

    class State(dict):
        __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__

    monkeypatch.setattr(st, "session_state", State())
    return st.session_state
