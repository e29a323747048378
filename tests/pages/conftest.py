import pytest
import streamlit as st

from tests.model.library.conftest import mixed_folder, transformers_folders

__all__ = ["mixed_folder", "transformers_folders"]


@pytest.fixture
def state(monkeypatch):
    """An empty session."""

    class State(dict):
        __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__

    monkeypatch.setattr(st, "session_state", State())
    return st.session_state
