"""Whatever a folder asks for is loaded right, or refused in a sentence before it takes much."""

import json
import os
import random
import shutil
import struct

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from torch.testing import assert_close

from headlight.model.checkpoint import save_checkpoint
from headlight.model.library import bounds, files
from headlight.model.library.hub import LoadingError
from headlight.model.library.loading import load_model
from headlight.model.translator import PRETRAINED
from tests.model.library.absurd import change_json, opener

WEIGHTS, TEXT = "model.safetensors", "I love my cat."
KINDS = ("GPT-2", "Llama", "DistilBERT", "classes", "spans", "Marian", "T5")


@pytest.fixture(scope="module")
def opened():
    with opener() as said_of:
        yield said_of


def refused(folder):
    with pytest.raises(LoadingError) as refusal:
        load_model(folder)
    why = str(refusal.value)
    assert why.endswith(".")
    assert "\n" not in why
    assert len(why) < 700
    return why


def loaded(folder):
    """The model in a folder, or None if it is refused in a sentence."""
    try:
        return load_model(folder)
    except LoadingError as error:
        why = str(error)
    assert why.endswith(".")
    return None


@pytest.fixture
def copied(transformers_folders, tmp_path):
    """A function from the name of a model to a copy of its folder."""

    def copy(name, to="copy"):
        shutil.rmtree(tmp_path / to, ignore_errors=True)
        return shutil.copytree(transformers_folders[name], tmp_path / to)

    return copy


def header_of(path):
    """The header of a file of weights as JSON, and the numbers after it."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def with_header(header, numbers=b"", size=None):
    """A file of weights with this header; `size` is what it says of the header's length."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if size is None else size) + text + numbers


def empty(count):
    return {str(n): {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for n in range(count)}


@pytest.mark.parametrize(
    "content",
    [
        with_header(empty(bounds.MOST_TENSORS + 1)),
        with_header(b'{"__metadata__":{"a":"' + b" " * bounds.LARGEST_HEADER + b'"}}'),
        with_header(b"{}", size=2**63),
    ],
    ids=["tensors", "length", "length alone"],
)
def test_a_header_beyond_its_bounds_is_not_read(content, copied, monkeypatch):
    folder = copied("GPT-2")
    (folder / WEIGHTS).write_bytes(content)
    monkeypatch.setattr(files, "safe_open", None)
    assert "names more than 30,000 tensors, so it is not read" in refused(folder)


OFFSETS = st.integers(-5, 5_000) | st.sampled_from([2**31, 2**63, 2**64, 10**30])
ENTRY = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from(["F32", "F16", "BF16", "F64", "I8", "BOOL", "F8_E4M3", "X"])
        | st.integers(),
        "shape": st.lists(st.integers(-1, 64) | st.sampled_from([2**40, 10**30]), max_size=70),
        "data_offsets": st.lists(OFFSETS, max_size=3),
    },
)
CHANGES = st.fixed_dictionaries(
    {
        "entries": st.lists(st.tuples(st.integers(0, 27), ENTRY), max_size=3),
        "others": st.dictionaries(st.text(max_size=5), ENTRY | st.none(), max_size=3),
        "length": st.none() | st.integers(0, 5_000) | st.integers(0, 2**64 - 1),
        "cut": st.none() | st.integers(0, 40_000),
    }
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(changes=CHANGES)
def test_any_header_is_refused_in_a_sentence_or_read_right(changes, copied, transformers_folders):
    folder = copied("GPT-2")
    header, numbers = header_of(folder / WEIGHTS)
    names = sorted(name for name in header if name != "__metadata__")
    for index, entry in changes["entries"]:
        header[names[index % len(names)]] |= entry
    content = with_header(header | changes["others"], numbers, changes["length"])
    (folder / WEIGHTS).write_bytes(content[: changes["cut"]])
    reader = loaded(folder)
    if reader is None:
        return
    with safe_open(folder / WEIGHTS, framework="pt") as file:  # as saved, whatever is beside it
        saved = {name: file.get_tensor(name) for name in file.keys() if name in names}  # noqa: SIM118
    ours = dict(reader.model.named_parameters())
    for name, tensor in saved.items():
        assert_close(ours[name], tensor.to(ours[name].dtype))
    assert reader.trace(TEXT).logits.isfinite().all()


def whole_numbers(entries):
    return [name for name, value in entries.items() if type(value) is int]


def test_random_absurd_configurations_take_neither_long_nor_much(copied, opened):
    chance = random.Random(0)
    for _ in range(40):
        folder = copied(chance.choice(KINDS))
        entries = json.loads((folder / "config.json").read_bytes())
        names = [*whole_numbers(entries), "num_labels", "num_hidden_layers"]
        absurd = {chance.choice(names): 10 ** chance.randint(4, 15) for _ in range(2)}
        (folder / "config.json").write_text(json.dumps(entries | absurd), encoding="utf-8")
        said = opened(folder)
        assert said == "loaded" or said.endswith("."), absurd


ABSURD = {
    "layers": ("GPT-2", {"n_layer": 10**6}),
    "many layers": ("GPT-2", {"n_layer": 10**12}),
    "layers within the bound": ("GPT-2", {"n_layer": bounds.MOST_LISTED}),
    "layers of a BERT": ("spans", {"num_hidden_layers": bounds.MOST_LISTED}),
    "labels": ("classes", {"num_labels": 10**9}),
    "vocabulary": ("Llama", {"vocab_size": 10**12}),
    "width": ("GPT-2", {"n_embd": 10**9}),
    "positions that are computed": ("Marian", {"max_position_embeddings": 10**9}),
    "layers of a part": ("GPT-2", {"text_config": {"num_hidden_layers": 10**12}}),
    "a number too large to write": ("GPT-2", {"n_layer": 10**400}),
}


@pytest.mark.parametrize("name", ABSURD)
def test_what_is_absurd_is_refused(name, copied, opened):
    model, entries = ABSURD[name]
    folder = copied(model)
    change_json(folder / "config.json", lambda old: old.update(entries))
    said = opened(folder)
    assert "larger model than its weights fill" in said or "30,000 are allowed" in said


def nested(opening, closing, depth):
    return f'{{"model_type": "gpt2", "x": {opening * depth}1{closing * depth}}}'


@pytest.mark.parametrize("depth", [50, 300, 900, 100_000])
@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "tokenizer.json"])
@pytest.mark.parametrize("signs", ["[]", ('{"a":', "}")], ids=["lists", "objects"])
def test_json_of_any_depth_is_a_sentence_or_a_model(depth, name, signs, copied):
    folder = copied("GPT-2")
    (folder / name).write_text(nested(*signs, depth), encoding="utf-8")
    loaded(folder)


def pipe(path):
    os.mkfifo(path)


def device(path):
    path.symlink_to("/dev/zero")


def large(path):
    path.touch()
    os.truncate(path, 10**11)  # takes no room on the disk


@pytest.mark.parametrize("put", [pipe, device, large])
@pytest.mark.parametrize(
    "name",
    ["config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "spiece.model",
     "model.safetensors.index.json", "generation_config.json", "chat_template.jinja"],
)  # fmt: skip
def test_what_is_no_plain_file_of_a_usual_size_is_not_opened(name, put, copied, opened):
    folder = copied("GPT-2")
    (folder / name).unlink(missing_ok=True)
    put(folder / name)
    said = opened(folder)
    assert f"{name} is " in said
    assert "not a plain file" in said or "larger than" in said


@pytest.mark.parametrize("place", ["../other/model.safetensors", "sub/model.safetensors", None])
def test_an_index_names_only_files_in_its_folder(place, copied, tmp_path):
    other, folder = copied("GPT-2", "other"), copied("GPT-2")
    shutil.copytree(other, folder / "sub")
    place = place or str(other / WEIGHTS)
    (folder / WEIGHTS).unlink()
    index = json.dumps({"metadata": {}, "weight_map": {"transformer.wte.weight": place}})
    (folder / "model.safetensors.index.json").write_text(index, encoding="utf-8")
    assert "or names some outside its folder" in refused(folder)


@pytest.mark.parametrize("name", ["x" * 5_000, "a\0b", "\ud800"])
def test_an_index_of_names_that_no_file_can_have_is_a_sentence(name, copied):
    folder = copied("GPT-2")
    (folder / WEIGHTS).unlink()
    index = json.dumps({"weight_map": {"transformer.wte.weight": f"{name}.safetensors"}})
    (folder / "model.safetensors.index.json").write_text(index, encoding="utf-8")
    refused(folder)


OWN = {
    "layers": {"encoder_layers": 10**9},
    "layers within the bound": {"decoder_layers": bounds.MOST_LISTED},
    "vocabulary": {"source_vocab_size": 10**12, "target_vocab_size": 10**12},
    "width": {"d_model": 2**40},
    "positions": {"max_positions": 10**9},
    "no heads": {"heads": 0},
    "a text": {"d_ff": "1"},
    "unknown": {"layers": [1]},
}


@pytest.mark.parametrize("name", OWN)
def test_a_checkpoint_of_this_project_is_held_to_them_too(name, translator, tmp_path, opened):
    save_checkpoint(tmp_path, translator.model, translator.tokenizer)
    change_json(tmp_path / "config.json", lambda old: old.update(OWN[name]))
    said = opened(tmp_path)
    refusals = "is not a checkpoint that can be read", "asks for", "larger model than its weights"
    assert any(words in said for words in refusals)


def test_a_checkpoint_within_its_bounds_is_read_as_it_is(shipped):
    reader = load_model(PRETRAINED / "en-fr")
    assert torch.equal(reader.trace(TEXT, "J'aime").logits, shipped.trace(TEXT, "J'aime").logits)


@pytest.mark.parametrize(
    "name", ["a\0b", "/a\0b", "/" + "x" * 5_000, "~nobody/x", "\ud800", "/\ud800"]
)
def test_a_name_that_no_folder_can_have_is_a_sentence(name, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(LoadingError):
        load_model(name)
