"""Damaged folders of models are refused in a sentence, and no code of theirs is run."""

import re

import pytest

from headlight.model.library.hub import LoadingError
from headlight.model.library.loading import load_from_library
from headlight.model.library.transformers_loading import load_transformers_reader
from tests.model.library.damage import IGNORED, RAN, REFUSED, SHOWN


@pytest.fixture
def folder(make_bert_folder):
    return make_bert_folder()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_damaged_is_refused_in_a_sentence(name, folder):
    REFUSED[name](folder)
    with pytest.raises(LoadingError) as refused:
        load_from_library(str(folder))
    why = str(refused.value)
    assert why.endswith((".", "!"))
    assert "\n" not in why
    assert len(why) < 700


@pytest.mark.parametrize("load", [load_from_library, load_transformers_reader])
@pytest.mark.parametrize("name", IGNORED)
def test_what_is_ignored_by_rule_does_not_keep_a_model_from_being_loaded(load, name, folder):
    (folder / "adapter_model.bin").write_bytes(b"no weights")
    IGNORED[name](folder)
    assert load(str(folder)).shape.kinds == {"encoder": (3, 4)}
    assert not (folder / RAN).exists()


@pytest.mark.parametrize("name", SHOWN)
def test_what_no_file_shows_is_said_of_a_text(name, folder):
    damage, text, said = SHOWN[name]
    damage(folder)
    with pytest.raises(ValueError, match=re.escape(said)):
        load_from_library(str(folder)).trace(text)


@pytest.mark.parametrize("load", [load_from_library, load_transformers_reader])
def test_weights_that_are_no_numbers_are_named(load, folder):
    REFUSED["weights no number"](folder)
    with pytest.raises(LoadingError, match=r"not a number, such as .*weight"):
        load(str(folder))
