"""The model behind a key, whichever it is."""

import pytest
import streamlit as st

from model.reader import ABILITIES
from model.translator import Translator
from pages.shared.runs.readers import entry_of, explained, loading, reader, translator
from pages.shared.runs.shelf import shelf
from pages.shared.state.catalog import LIBRARY, CatalogEntry
from pages.shared.state.workshop import Workshop

OWN = CatalogEntry("own-1", "Mine", ("a",), "input", "output")


@pytest.fixture
def state(monkeypatch):
    """An empty session."""

    class State(dict):
        __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__

    monkeypatch.setattr(st, "session_state", State())
    return st.session_state


def test_without_a_key_it_is_the_chosen_model_one_for_all(state, loaded, bert_folder):
    assert reader() is reader("en-fr") is translator("en-fr")
    state.model = "en-fr-learned"
    assert reader() is translator("en-fr-learned")
    assert reader() is not translator("en-fr")
    state.model = loaded(bert_folder)
    assert reader() is shelf().get(str(bert_folder)).reader


def test_a_model_of_ones_own_is_found_by_its_key_in_this_session_alone(state, translator):
    state.workshop = Workshop(models={OWN.key: (OWN, translator)})
    assert reader(OWN.key) is translator
    del state["workshop"]
    assert reader(OWN.key) is reader("en-fr"), "one that is gone gives way to the default"


def test_a_model_that_is_not_in_memory_is_an_error_that_names_it(state):
    name = "/some/where/else"
    with pytest.raises(ValueError, match=r"^…/where/else is not in memory\."):
        reader(LIBRARY + name)
    assert loading(LIBRARY + name) == 0


def test_loadings_are_numbered_and_those_of_shipped_models_are_not(state, loaded, bert_folder):
    assert loading(loaded(bert_folder)) == shelf().get(str(bert_folder)).number > 0
    assert loading("en-fr") == loading("en-fr-learned") == 0


def test_every_reader_says_what_it_cannot_do_in_known_words(state, loaded, transformers_folders):
    keys = ["en-fr", *(loaded(transformers_folders[name]) for name in ("T5", "GPT-2", "spans"))]
    for key in keys:
        missing = reader(key).missing
        assert set(missing) <= set(ABILITIES)
        assert all(words.endswith(".") for words in missing.values())
    assert isinstance(reader("en-fr"), Translator)


@pytest.mark.parametrize(
    ("name", "sides"), [("T5", ("source", "target")), ("GPT-2", ("text", "text"))]
)
def test_a_model_that_translates_has_two_sides(name, sides, state, loaded, transformers_folders):
    key = loaded(transformers_folders[name])
    entry = entry_of(str(transformers_folders[name]), reader(key))
    assert entry.key == key
    assert (entry.source, entry.target) == sides
    assert entry.is_library
    assert not entry.is_own


def test_errors_in_words_stay_and_others_get_some():
    said = ValueError("There is nothing to read.")
    assert explained(said) is said
    words = str(explained(RuntimeError("sizes do not match\nat line 3")))
    assert "sizes do not match" in words
    assert "line 3" not in words
    assert words.endswith("Change the text, or choose another model.")
