import io
import json
import struct
import zipfile
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load, save

from headlight.model import checkpoint
from headlight.model.archive import CONFIG_BOUNDS, pack_checkpoint, unpack_checkpoint
from headlight.model.checkpoint import load_checkpoint
from headlight.model.memory_layout import lay_out
from headlight.model.training.small_models import SmallModel, TrainingOptions
from headlight.model.translator import PRETRAINED, Translator
from tests import archives
from tests.archives import pack

NAMES = ("weights.safetensors", "config.json", "tokenizer.json")
TOY = SmallModel(TrainingOptions(shortest=2, longest=3, layers=1, heads=2, d_model=8, d_ff=8))
PACKED = pack_checkpoint(TOY.model, TOY.tokenizer)


def files_of(packed=PACKED):
    return archives.unpack(packed)


def changed(name, change):
    """The archive with one of its JSON files changed."""
    files = files_of()
    entries = json.loads(files[name])
    change(entries)
    return pack({**files, name: json.dumps(entries)})


def with_config(**entries):
    return changed("config.json", lambda config: config.update(entries))


def with_vocabulary(change):
    return changed("tokenizer.json", lambda tokenizer: change(tokenizer["model"]["vocab"]))


def with_weights(change):
    files = files_of()
    weights = load(files["weights.safetensors"])
    change(weights)
    return pack({**files, "weights.safetensors": save(weights)})


def refused(data, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        unpack_checkpoint(data)
    message = str(caught.value)
    assert message.endswith(".")
    assert len(message) < 400


def assert_same(ours, theirs, source, target):
    assert torch.equal(ours.trace(source, target).logits, theirs.trace(source, target).logits)


def test_a_model_comes_back_exactly_and_is_a_checkpoint_folder_when_unzipped(tmp_path):
    translator = unpack_checkpoint(PACKED)
    assert translator.model.config == TOY.model.config
    for name, parameter in translator.model.named_parameters():
        assert torch.equal(parameter, dict(TOY.model.named_parameters())[name])
    (tmp_path / "toy").mkdir()
    with zipfile.ZipFile(io.BytesIO(PACKED)) as archive:
        assert tuple(archive.namelist()) == NAMES
        archive.extractall(tmp_path / "toy")
    model, tokenizer = load_checkpoint(tmp_path / "toy")
    assert_same(translator, Translator(lay_out(model), tokenizer), "123", "321")
    assert pack_checkpoint(TOY.model, TOY.tokenizer) == PACKED


@pytest.mark.parametrize("tie_embeddings", [True, False])
def test_a_finished_model_can_be_packed_again(tie_embeddings, make_model):
    size = TOY.tokenizer.vocab_size
    model = make_model(
        source_vocab_size=size, target_vocab_size=size, tie_embeddings=tie_embeddings
    )
    first = unpack_checkpoint(pack_checkpoint(model, TOY.tokenizer))
    again = unpack_checkpoint(pack_checkpoint(first.model, first.tokenizer))
    assert_same(first, again, "123", "321")


def test_a_shipped_model_and_one_in_a_folder_are_read():
    folder = PRETRAINED / "en-fr-unmasked"
    files = {f"en-fr/{name}": (folder / name).read_bytes() for name in NAMES}
    translator = unpack_checkpoint(pack({"en-fr/": b"", **files}))
    model, tokenizer = load_checkpoint(folder)
    assert_same(translator, Translator(lay_out(model), tokenizer), "I love my cat.", "J'aime")


def test_what_is_no_zip_file_is_refused():
    for data in (
        b"",
        b"PK",
        b"hello" * 100,
        PACKED[:-1],
        PACKED[: len(PACKED) // 2],
    ):
        refused(data, "not a complete zip file")
    refused(bytes(25 * 1024**2 + 1), "larger than 25 MB")


def test_other_files_and_other_places_are_refused():
    files = files_of()
    without = {name: data for name, data in files.items() if name != "config.json"}
    refused(pack(without), "exactly weights.safetensors, config.json, tokenizer.json")
    refused(pack({**files, "model.pkl": b""}), "exactly")
    refused(pack({**without, "Config.json": b"{}"}), "exactly")
    refused(pack({**files, "../evil": b""}), "one folder")
    for folder in ("../", "/", "a/b/", "a/../"):
        refused(pack({folder + name: data for name, data in files.items()}), "one folder|exactly")
    renamed = {"config.jso_": files["config.json"], **without, "config.json": b"{}"}
    refused(pack(renamed).replace(b"config.jso_", b"config.json"), "exactly")


def test_what_grows_when_unpacked_is_refused():
    files = files_of()
    refused(pack({**files, "weights.safetensors": bytes(65 * 1024**2)}), "weights.* is larger")
    refused(pack({**files, "config.json": b" " * 20_000}), "config.json is larger than 16 KB")
    refused(pack({**files, "tokenizer.json": b" " * 5_000_000}), "tokenizer.json is larger")
    refused(pack({**files, **{f"{number:0100}": b"" for number in range(500)}}), "exactly")
    lying = bytearray(pack({**files, "config.json": b" " * 15_000}))
    directory = struct.unpack("<I", lying[-6:-2])[0]
    place = lying.index(b"config.json", directory) - 46 + 24
    lying[place : place + 4] = struct.pack("<I", 100)
    refused(bytes(lying), "config.json is damaged")


def test_unusual_compression_is_refused():
    refused(pack(files_of(), zipfile.ZIP_BZIP2), "unusual way")
    refused(pack(files_of(), zipfile.ZIP_LZMA), "unusual way")


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"\xff", b"[" * 10_000, b"{} {}", b"NaN"])
def test_what_is_no_json_object_is_refused(data):
    for name in ("config.json", "tokenizer.json"):
        refused(pack({**files_of(), name: data}), f"{name} is not")


@pytest.mark.parametrize("name", CONFIG_BOUNDS)
def test_configs_out_of_bounds_are_refused(name):
    for value in (10**400, -1, None, "8", True, float("nan")):
        refused(with_config(**{name: value}), name)


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"encoder_layers": 13}, "encoder_layers has to be from 0 to 12"),
        ({"d_model": 1024, "heads": 32}, "has the shape"),
        ({"encoder_layers": 2}, "lack"),
        ({"heads": 3}, "not a multiple"),
        ({"positions": "rotary"}, "positions has to be one of"),
        ({"norm": ["pre"]}, "norm has to be one of"),
        ({"activation": {}}, "activation has to be one of"),
        ({"tie_embeddings": 1}, "true or false"),
        ({"tie_embeddings": False}, "lack"),
        ({"source_vocab_size": 15, "target_vocab_size": 15}, "tokenizer.json has 14 tokens"),
        ({"tie_embeddings": False, "target_vocab_size": 15}, "asks for 15"),
        ({"<b>" * 1_000: 1}, "only the entries"),
    ],
)
def test_configs_that_make_no_sense_are_refused(entries, sentence):
    refused(with_config(**entries), sentence)


def test_a_large_config_takes_no_memory_before_the_weights_are_compared(monkeypatch):
    made = []
    transformer = checkpoint.Transformer

    def watched(config):
        made.append(transformer(config))
        return made[-1]

    monkeypatch.setattr("headlight.model.checkpoint.Transformer", watched)
    refused(with_config(d_model=1_024, d_ff=8_192, encoder_layers=12, decoder_layers=12), "lack")
    assert [item.device.type for item in made] == ["meta"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda weights: weights.popitem(), "lack 1 tensors"),
        (lambda weights: weights.update(extra=torch.zeros(1)), "1 unknown"),
        (lambda weights: weights["decoder.norm.weight"].fill_(torch.nan), "not a number"),
        (lambda weights: weights["decoder.norm.weight"].fill_(-torch.inf), "infinite"),
        (lambda weights: weights["decoder.norm.weight"].fill_(3e38), "cannot compute"),
        (lambda weights: weights.update({"decoder.norm.weight": torch.zeros(9)}), "the shape"),
        (lambda weights: weights.update({"decoder.norm.weight": torch.zeros(8).double()}), "type"),
        (lambda weights: weights.update({"decoder.norm.weight": torch.zeros(8).int()}), "type"),
        (lambda weights: weights.update({"decoder.norm.weight": torch.zeros(8).bool()}), "type"),
    ],
)
def test_other_weights_are_refused(change, sentence):
    refused(with_weights(change), sentence)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (archives.many_dimensions(520_000), "lack"),
        (archives.many_tensors(20_000), "lack"),
    ],
    ids=["520,000 dimensions", "20,000 tensors"],
)
def test_an_odd_header_is_refused_before_a_model_is_made(data, sentence, monkeypatch):
    monkeypatch.setattr("headlight.model.archive.assemble", None)
    refused(data, sentence)


def test_the_memory_of_a_model_is_asked_for_before_it_is_taken(monkeypatch):
    asked = []
    zeros = archives.zeros(replace(archives.SMALL, d_model=256, d_ff=1_024))
    translator = unpack_checkpoint(zeros, asked.append)
    parts = {*translator.model.parameters(), *translator.model.buffers()}
    held = sum(part.untyped_storage().nbytes() for part in parts)
    assert held < asked[0] < held + 100_000  # the tokenizer
    assert held > 100 * len(zeros)

    def no_room(size):
        raise ValueError(f"There is no room for {size} bytes.")

    monkeypatch.setattr("headlight.model.archive.assemble", None)
    with pytest.raises(ValueError, match=f"no room for {asked[0]} bytes"):
        unpack_checkpoint(zeros, no_room)


@pytest.mark.parametrize("error", [RuntimeError("only 64 dims"), MemoryError(), OverflowError()])
def test_whatever_a_library_stumbles_over_is_a_sentence(error, monkeypatch):
    def stumble(*arguments):
        raise error

    monkeypatch.setattr("headlight.model.archive.assemble", stumble)
    refused(PACKED, "^No model can be made of what the file holds.$")


def test_weights_that_are_no_safetensors_are_refused(tmp_path):
    path = tmp_path / "weights.safetensors"
    torch.save(TOY.model.state_dict(), path)
    whole = files_of()["weights.safetensors"]
    for data in (path.read_bytes(), b"", whole[:-1], whole[:100], struct.pack("<Q", 2**63)):
        refused(pack({**files_of(), "weights.safetensors": data}), "not a safetensors file")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda words: words.update({"0": 99}), "not numbered"),
        (lambda words: words.update({"0": True}), "not numbered"),
        (lambda words: words.update({"0": "4"}), "not numbered"),
        (lambda words: words.update({"<pad>": 1, "<unk>": 0}), "first tokens"),
        (lambda words: words.update({"x" * 101: words.pop("0")}), "too long"),
        (lambda words: words.update({"": words.pop("0")}), "empty"),
        (lambda words: words.update({"\ud800": words.pop("0")}), "not text"),
        (lambda words: words.update({"\0": words.pop("0")}), "not text"),
        (lambda words: words.clear(), "first tokens"),
        (lambda words: words.update({str(i): i for i in range(60_000)}), "too large"),
    ],
)
def test_other_vocabularies_are_refused(change, sentence):
    refused(with_vocabulary(change), sentence)


@pytest.mark.parametrize(
    "entries",
    [
        {
            "pre_tokenizer": {
                "type": "Split",
                "pattern": {"Regex": "(a+)+$"},
                "behavior": "Isolated",
            }
        },
        {"normalizer": {"type": "Lowercase"}},
        {"added_tokens": [{"id": 0, "content": "x"}]},
        {"model": {"type": "Unigram", "vocab": [["a", 0.0]]}},
        {"model": []},
        {"version": None},
        {"another": 1},
    ],
)
def test_tokenizers_with_rules_of_their_own_are_refused(entries):
    data = changed("tokenizer.json", lambda tokenizer: tokenizer.update(entries))
    refused(data, "splits text in a way|no model")


@pytest.mark.parametrize(
    "merges",
    [None, "t h", [["t"]], [["t", 1]], [[["t"], "h"]], [["zzz", "q"]], [["a", "b"]] * 9_999],
)
def test_merges_of_what_is_no_token_are_refused(merges):
    folder = PRETRAINED / "en-fr-unmasked"
    files = {name: (folder / name).read_bytes() for name in NAMES}
    entries = json.loads(files["tokenizer.json"])
    entries["model"]["merges"] = merges
    refused(pack({**files, "tokenizer.json": json.dumps(entries)}), "merges|splits text")


def survives(data):
    """Either a working translator, or one sentence."""
    try:
        translator = unpack_checkpoint(data)
    except ValueError as error:
        sentence = str(error)
    else:
        assert translator.trace("123", "321").logits.isfinite().all()
        return
    assert sentence.endswith(".")
    assert len(sentence) < 400


FLIPS = st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 255)), min_size=1, max_size=4)


def flipped(data, flips):
    data = bytearray(data)
    for place, bits in flips:
        data[place % len(data)] ^= bits
    return bytes(data)


@settings(max_examples=50)
@given(flips=FLIPS, cut=st.none() | st.integers(0, len(PACKED)))
def test_damaged_archives_raise_nothing_but_sentences(flips, cut):
    survives(flipped(PACKED, flips)[:cut])


@settings(max_examples=50)
@given(name=st.sampled_from(NAMES), flips=FLIPS)
def test_damaged_files_raise_nothing_but_sentences(name, flips):
    files = files_of()
    # The beginning of the weights is a header, where most damage does something.
    size = 1_500 if name == NAMES[0] else len(files[name])
    files[name] = flipped(files[name][:size], flips) + files[name][size:]
    survives(pack(files))


@settings(max_examples=50)
@given(
    name=st.sampled_from(["config.json", "tokenizer.json"]),
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=5,
    ),
    data=st.data(),
)
def test_hostile_json_raises_nothing_but_sentences(name, value, data):
    entries = json.loads(files_of()[name])
    entries[data.draw(st.sampled_from(sorted(entries)))] = value
    survives(pack({**files_of(), name: json.dumps(entries)}))
