"""Texts read by models of the transformers library: they stay with the session that typed them."""

import gc
import weakref

import pytest
import torch

from model import load_bert
from model.edits import Edits
from model.library.transformers_model import load_transformers_model
from pages.shared.runs import library
from pages.shared.runs.library import (
    BertRun,
    attended,
    measured_parity,
    probabilities,
)
from pages.shared.runs.shelf import Loaded, numbered
from tests.model.library.test_transformers_model import KINDS, save_tokenizer
from tests.pages.sessions import end, session

pytestmark = pytest.mark.usefixtures("one_session")
FIRST, SECOND = "the cat was playing.", "unbelievable dogs!"


@pytest.fixture(scope="module")
def bert(make_bert_folder):
    return Loaded("tiny", load_bert(make_bert_folder()))


@pytest.fixture(scope="module")
def other(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("t5")
    model, config, options = KINDS["T5"]
    torch.manual_seed(2)
    model(config(**options)).save_pretrained(folder)
    save_tokenizer(folder, [text for pair in pairs for text in pair], spaces="sign", end=True)
    return Loaded("t5", load_transformers_model(folder))


def read(loaded, *texts, **more):
    return BertRun(loaded.number, *texts, **more).trace


def test_a_reading_is_kept_for_its_session_and_for_no_other(bert):
    reading = read(bert, FIRST, SECOND)
    assert read(bert, FIRST, SECOND) is reading
    run = BertRun(bert.number, FIRST, SECOND)
    assert library._read.kept(run) is reading
    with session("two"):
        assert library._read.kept(run) is None
        assert read(bert, FIRST, SECOND) is not reading
    end("two")


def test_the_end_of_a_session_frees_what_it_read(bert):
    seen = weakref.ref(read(bert, FIRST, SECOND))
    gc.collect()
    assert seen() is not None
    end("one")
    gc.collect()
    assert seen() is None


def test_so_it_is_with_any_other_model(other):
    found = attended(other.number, "I love my cat.", None)
    assert attended(other.number, "I love my cat.", None) is found
    assert attended(other.number, "I love my cat.", "J'aime mon chat.") is not found
    with session("two"):
        assert attended.kept(other.number, "I love my cat.", None) is None
    seen = weakref.ref(found)
    del found
    end("one")
    gc.collect()
    assert seen() is None


def test_what_a_model_stumbles_over_is_told_in_words(other, monkeypatch):
    def stumble(text, target):
        raise RuntimeError("shape mismatch\nand more")

    monkeypatch.setattr(other.model, "attentions", stumble)
    with pytest.raises(ValueError, match=r"could not run this model .*: shape mismatch\. Change"):
        attended(other.number, "I love my cat.", None)


def test_masks_and_switched_heads_are_part_of_what_is_kept(bert):
    edits = Edits(gates={("encoder", 0, 1): 0.0})
    plain, switched = read(bert, FIRST, ""), read(bert, FIRST, "", edits=edits)
    masked = read(bert, FIRST, "", (2,))
    assert len({id(one) for one in (plain, switched, masked)}) == 3
    assert (plain.outputs["encoder"] - switched.outputs["encoder"]).abs().max() > 1e-3
    run = BertRun(bert.number, FIRST, "", (2,))
    expected = bert.model.probabilities(masked, [2])[0]
    assert (probabilities(run, 2) == expected).all()


def test_the_same_name_loaded_again_is_another_model(bert, make_bert_folder):
    again = Loaded(bert.name, load_bert(make_bert_folder(seed=1)))
    first, second = (read(one, FIRST, "").outputs["encoder"] for one in (again, bert))
    assert first.shape == second.shape
    assert (first != second).any()


def test_a_result_does_not_keep_its_model_in_memory(make_bert_folder):
    loaded = Loaded("tiny", load_bert(make_bert_folder()))
    read(loaded, FIRST, "")
    number, seen = loaded.number, weakref.ref(loaded.model)
    del loaded
    gc.collect()
    assert seen() is None
    with pytest.raises(ValueError, match="not in memory"):
        numbered(number)


def test_a_comparison_with_transformers_is_measured_once_for_a_text(bert):
    assert measured_parity.kept(bert.number, FIRST, "") is None
    found = measured_parity(bert.number, FIRST, "")
    assert max(found) < 1e-4
    assert measured_parity.kept(bert.number, FIRST, "") is found
    assert measured_parity.kept(bert.number, SECOND, "") is None
