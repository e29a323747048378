"""Stop strings and token healing of a model's configuration, against the library's own texts."""

import shutil

import pytest
import torch
import transformers

from headlight.model.decoding.strategies import Strategy
from headlight.model.library.transformers_loading import load_transformers_reader
from headlight.model.library.writing import Writer

pytestmark = pytest.mark.usefixtures("one_thread")
LONGEST = 12
TEXT = "I love my c"
STRATEGIES = (Strategy(), Strategy("beam", beam_size=3))
NAMES = {"GPT-2": "AutoModelForCausalLM", "Llama": "AutoModelForCausalLM",
         "T5": "AutoModelForSeq2SeqLM", "BART": "AutoModelForSeq2SeqLM"}  # fmt: skip


@pytest.fixture
def saved(transformers_folders, tmp_path):
    """A function that saves a model again, with some options of its generation configuration."""

    def save(name, **options):
        folder = shutil.copytree(transformers_folders[name], tmp_path / name, dirs_exist_ok=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        tokenizer.bos_token, tokenizer.pad_token = "<s>", "<pad>"
        tokenizer.save_pretrained(folder)
        config = transformers.GenerationConfig.from_pretrained(folder)
        config.update(**options)
        config.save_pretrained(folder)
        return folder

    return save


@pytest.fixture
def theirs(transformers_folders):
    """A function that returns what the library writes, and the ids that its decoder read first."""

    models = {}

    def write(name, folder, strategy, **options):
        if name not in models:
            kind = getattr(transformers, NAMES[name])
            models[name] = kind.from_pretrained(transformers_folders[name])
        model = models[name]
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        inputs = tokenizer(TEXT, return_tensors="pt")
        ids = model.generate(
            input_ids=inputs.input_ids, attention_mask=torch.ones_like(inputs.input_ids),
            tokenizer=tokenizer, max_new_tokens=LONGEST, do_sample=False,
            num_beams=strategy.width, early_stopping="never" if strategy.width > 1 else None,
            **options,
        )  # fmt: skip
        begun = 1 if model.config.is_encoder_decoder else inputs.input_ids.size(1)
        return ids[0, :begun].tolist(), ids[0, begun:].tolist()

    return write


@pytest.fixture
def stopping(load, monkeypatch):
    """A function that returns a tiny model's reader whose configuration has a stop string."""

    def get(name, stop):
        reader = load(name)
        monkeypatch.setattr(reader.model.generation_config, "stop_strings", stop)
        writer = Writer(reader.model, reader.tokens, reader.attached)
        monkeypatch.setattr(reader, "writer", writer)
        return reader

    return get


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", NAMES)
def test_a_text_stops_where_the_librarys_does(name, strategy, saved, load, stopping, theirs):
    folder, stops = saved(name), 0
    text = load(name).write(TEXT, strategy, longest=LONGEST).writing.text.strip()
    for place in (0, 3, len(text) - 2):
        stop = ["never written", text[place : place + 2]]
        reader = stopping(name, stop)
        decoding = reader.write(TEXT, strategy, longest=LONGEST)
        _, expected = theirs(name, folder, strategy, stop_strings=stop)
        writing = decoding.writing
        assert [token.id for token in writing.target_tokens] == expected
        assert [step.token.id for step in decoding.steps] == expected
        trace = reader.trace(TEXT, writing)
        if writing.stopped:
            assert decoding.last_of(decoding.path).ended
            assert [token.id for token in trace.target_tokens][-len(expected) :] == expected
            assert reader.objective(trace).ids[-1] == expected[-1]
        stops += writing.stopped
    assert stops or strategy.width > 1, "otherwise nothing was compared"


def test_a_stop_string_of_the_configuration_is_met(saved):
    plain = load_transformers_reader(saved("GPT-2")).write(TEXT, longest=LONGEST).writing
    reader = load_transformers_reader(saved("GPT-2", stop_strings=plain.text[:3]))
    writing = reader.write(TEXT, longest=LONGEST).writing
    assert (writing.stopped, writing.finished) == (True, False)
    assert len(writing.target_tokens) < len(plain.target_tokens)


@pytest.mark.parametrize("name", ["GPT-2", "Llama"])
def test_the_last_token_of_a_prompt_is_healed_as_by_the_library(name, saved, theirs, monkeypatch):
    monkeypatch.setattr(__name__ + ".TEXT", "I love m")
    folder = saved(name, token_healing=True, stop_strings=["never written"])
    reader = load_transformers_reader(folder)
    begun, expected = theirs(name, folder, Strategy(), token_healing=True)
    decoding = reader.write(TEXT, longest=LONGEST)
    assert [token.id for token in decoding.begun] == begun
    assert [token.id for token in decoding.writing.target_tokens] == expected
    trace = reader.trace(TEXT, decoding.writing)
    assert [token.id for token in trace.target_tokens][: len(begun)] == begun
    typed = [token.id for token in reader.trace(TEXT).target_tokens]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert typed == tokenizer(TEXT).input_ids, "what is only read is not healed"


def test_what_the_library_cannot_heal_is_said(transformers_folders, tmp_path):
    folder = shutil.copytree(transformers_folders["GPT-2"], tmp_path / "GPT-2")
    config = transformers.GenerationConfig.from_pretrained(folder)
    config.token_healing = True
    config.save_pretrained(folder)
    reader = load_transformers_reader(folder)
    with pytest.raises(ValueError, match="Switch token_healing off"):
        reader.write(TEXT)
