"""One name opens every model."""

import subprocess
import sys

import pytest
import torch
from torch.testing import assert_close

from headlight.model.checkpoint import save_checkpoint
from headlight.model.library.bert_reader import BertReader
from headlight.model.library.hub import LoadingError
from headlight.model.library.loading import load_model
from headlight.model.library.transformers_reader import TransformersReader
from headlight.model.shape import ABILITIES
from headlight.model.transformer.trace import Run
from headlight.model.translator import Translator


@pytest.fixture(scope="module")
def folders(make_bert_folder, transformers_folders, translator, tmp_path_factory):
    own = tmp_path_factory.mktemp("own")
    save_checkpoint(own, translator.model, translator.tokenizer, dtype=torch.float32)
    return {
        "own": own,
        "BERT": make_bert_folder("BertForSequenceClassification"),
        "BERT of other parts": make_bert_folder(hidden_act="gelu_new"),
        "GPT-2": transformers_folders["GPT-2"],
    }


KINDS = {
    "own": Translator,
    "BERT": BertReader,
    "BERT of other parts": TransformersReader,
    "GPT-2": TransformersReader,
}


@pytest.mark.matrix
@pytest.mark.parametrize("name", KINDS)
def test_a_folder_is_opened_by_what_it_holds(name, folders):
    reader = load_model(folders[name])
    assert type(reader) is KINDS[name]
    assert set(reader.missing) <= set(ABILITIES)
    trace = reader.trace("the cat sat.")
    assert {*trace.attention} == {*reader.shape.sites}
    if trace.logits is not None:
        with torch.inference_mode():
            assert_close(reader.rerun(trace, Run()), trace.logits, atol=1e-5, rtol=1e-4)


def test_a_shipped_model_opens_by_its_name():
    reader = load_model("en-fr-learned")
    assert (type(reader), reader.title) == (Translator, "en-fr-learned")


def test_what_is_no_model_is_said(tmp_path):
    with pytest.raises(LoadingError, match=r"has no config\.json"):
        load_model(tmp_path)


@pytest.mark.parametrize("name", ["", " ", None, 5])
def test_a_model_without_a_name_is_refused(name):
    with pytest.raises(LoadingError, match=r"^Give a name, such as en-fr, or a model's folder\.$"):
        load_model(name)


TWO_THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from headlight.model.library.files import read_config

with ThreadPoolExecutor() as threads:
    print(*(config.model_type for config in threads.map(read_config, sys.argv[1:])))
"""


def test_two_threads_may_load_the_first_models(folders):
    names = folders["BERT"], folders["GPT-2"]
    ran = subprocess.run(
        [sys.executable, "-c", TWO_THREADS, *map(str, names)], capture_output=True, text=True
    )
    assert ran.stdout.split() == ["bert", "gpt2"], ran.stderr
