import ast
import io
import json
import pickle
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from headlight.model import checkpoint
from headlight.model.checkpoint import (
    CONFIG,
    copy_weights,
    load_checkpoint,
    load_config,
    pack_checkpoint,
    replacing,
    save_checkpoint,
    save_tensors,
)
from headlight.model.tokenizer import Tokenizer
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.transformer import Transformer

IDS = torch.tensor([[4, 5, 6, 3]])


@pytest.fixture
def folder(make_model, tokenizer, tmp_path):
    size = tokenizer.vocab_size
    model = make_model(source_vocab_size=size, target_vocab_size=size, positions="learned")
    save_checkpoint(tmp_path / "saved", model, tokenizer, torch.float32)
    return tmp_path / "saved"


def change_weights(folder, change):
    path = folder / "weights.safetensors"
    weights = load_file(path)
    change(weights)
    save_file(weights, path)


@pytest.mark.parametrize("tie_embeddings", [True, False])
def test_float32_weights_come_back_exactly(tie_embeddings, make_model, tokenizer, tmp_path):
    size = tokenizer.vocab_size
    ours = make_model(
        source_vocab_size=size, target_vocab_size=size, tie_embeddings=tie_embeddings, norm="post"
    )
    save_checkpoint(tmp_path / "new" / "folder", ours, tokenizer, torch.float32)
    again, read_tokenizer = load_checkpoint(tmp_path / "new" / "folder")
    assert again.config == ours.config
    assert not again.training
    assert torch.equal(again(IDS, IDS), ours(IDS, IDS))
    assert read_tokenizer.encode("I love my cat.") == tokenizer.encode("I love my cat.")


def test_a_packed_model_is_a_checkpoint_folder_when_unzipped(folder, tmp_path):
    ours, tokenizer = load_checkpoint(folder)
    packed = pack_checkpoint(ours, tokenizer)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(tmp_path / "unzipped")
    again, read_tokenizer = load_checkpoint(tmp_path / "unzipped")
    assert torch.equal(again(IDS, IDS), ours(IDS, IDS))
    assert pack_checkpoint(again, read_tokenizer) == packed


def test_float16_weights_come_back_rounded_as_float32(make_model, tokenizer, tmp_path):
    ours = make_model(
        source_vocab_size=tokenizer.vocab_size, target_vocab_size=tokenizer.vocab_size
    )
    save_checkpoint(tmp_path, ours, tokenizer)
    stored = load_file(tmp_path / "weights.safetensors")
    assert {tensor.dtype for tensor in stored.values()} == {torch.float16}
    again = dict(load_checkpoint(tmp_path)[0].named_parameters())
    for name, parameter in ours.named_parameters():
        assert again[name].dtype == torch.float32
        assert torch.equal(again[name], parameter.half().float()), name


def test_tied_embeddings_are_stored_once_and_come_back_tied(folder, tokenizer):
    shapes = [tuple(t.shape) for t in load_file(folder / "weights.safetensors").values()]
    assert shapes.count((tokenizer.vocab_size, 16)) == 1
    again, _ = load_checkpoint(folder)
    assert again.output.weight is again.encoder.embedding.tokens.weight


def test_weights_that_a_file_gives_are_not_drawn_first(folder):
    before = torch.get_rng_state()
    model, _ = load_checkpoint(folder)
    assert torch.get_rng_state().equal(before)
    tensors = [*model.parameters(), *model.buffers()]
    assert all(tensor.isfinite().all() for tensor in tensors)


def test_a_checkpoint_folder_holds_three_files_and_no_pickle(folder):
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["config.json", "tokenizer.json", "weights.safetensors"]


def test_no_code_of_the_model_reads_or_writes_pickles():
    for path in Path(checkpoint.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert (node.value.id, node.attr) not in {("torch", "load"), ("torch", "save")}
            if isinstance(node, ast.Import):
                assert "pickle" not in {alias.name for alias in node.names}


def test_a_pickle_is_refused_and_not_run(folder, tmp_path):
    class Bomb:
        def __reduce__(self):
            return Path.touch, (tmp_path / "exploded",)

    (folder / "weights.safetensors").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match="is not a safetensors file"):
        load_checkpoint(folder)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("name", ["weights.safetensors", "config.json", "tokenizer.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=rf"saved has no {name}, so it is not"):
        load_checkpoint(folder)


@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.99])
def test_a_truncated_file_of_weights_is_named(folder, share):
    path = folder / "weights.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ValueError, match=r"weights\.safetensors is not a safetensors file"):
        load_checkpoint(folder)


def test_a_missing_tensor_is_named(folder):
    change_weights(folder, lambda weights: weights.pop("decoder.norm.bias"))
    with pytest.raises(
        ValueError, match=r"The weights lack 1 tensors, such as decoder\.norm\.bias"
    ):
        load_checkpoint(folder)


def test_an_unknown_tensor_is_named(folder):
    change_weights(folder, lambda weights: weights.update(stray=torch.ones(1)))
    with pytest.raises(ValueError, match="The weights have 1 unknown tensors, such as stray"):
        load_checkpoint(folder)


def test_a_wrong_shape_is_named_with_both_shapes(folder):
    change_weights(folder, lambda weights: weights.update({"decoder.norm.bias": torch.ones(17)}))
    sentence = r"decoder\.norm\.bias has the shape \(17,\), but the config asks for \(16,\)"
    with pytest.raises(ValueError, match=sentence):
        load_checkpoint(folder)


def test_a_tokenizer_of_another_size_than_the_config_is_refused(folder, pairs):
    Tokenizer.train_characters(text for pair in pairs for text in pair).save(
        folder / "tokenizer.json"
    )
    with pytest.raises(ValueError, match="260"):
        load_checkpoint(folder)


def test_a_file_that_is_no_tokenizer_raises_a_sentence(folder):
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match=r"tokenizer\.json"):
        load_checkpoint(folder)


def test_weights_that_do_not_fit_leave_the_embedding_alone(make_model):
    ours = make_model()
    before = ours.output.weight.clone()
    with pytest.raises(ValueError, match="lack"):
        copy_weights(ours, {"encoder.embedding.tokens.weight": torch.zeros(20, 16)})
    assert torch.equal(ours.output.weight, before)


def test_a_failed_save_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "weights.safetensors"
    save_tensors(path, {"a": torch.ones(3)})

    def fail(tensors, unfinished, metadata):
        Path(unfinished).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr("headlight.model.checkpoint.save_file", fail)
    with pytest.raises(KeyboardInterrupt):
        save_tensors(path, {"a": torch.zeros(3)})
    assert torch.equal(load_file(path)["a"], torch.ones(3))


def test_transposed_tensors_are_saved_as_they_look(tmp_path):
    tensor = torch.arange(6.0).view(2, 3).T
    save_tensors(tmp_path / "t.safetensors", {"t": tensor})
    assert torch.equal(load_file(tmp_path / "t.safetensors")["t"], tensor)


def test_a_file_takes_its_place_when_it_is_whole(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("before")
    with replacing(path) as unfinished:
        unfinished.write_text("after")
        assert path.read_text() == "before"
        assert unfinished.parent == path.parent
    assert path.read_text() == "after"
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (RuntimeError("the library gave up"), "the library gave up"),
    ],
)
def test_what_goes_wrong_is_a_sentence_and_leaves_the_file_as_it_was(error, why, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("before")

    def write():
        with replacing(path) as unfinished:
            unfinished.write_text("half")
            raise error

    with pytest.raises(
        OSError, match=rf"log.csv could not be written, so it is unchanged: {why}\.$"
    ):
        write()
    assert path.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with (
        pytest.raises(OSError, match="could not be written"),
        replacing(tmp_path / "no" / "log.csv") as unfinished,
    ):
        unfinished.write_text("after")


def test_a_saved_config_reads_back_equal(tmp_path, tokenizer):
    config = TransformerConfig(
        11,
        13,
        d_model=24,
        heads=3,
        encoder_layers=1,
        decoder_layers=4,
        d_ff=7,
        dropout=0.25,
        norm="post",
        activation="gelu",
        positions="learned",
        max_positions=99,
        tie_embeddings=False,
        pad_id=5,
    )
    save_checkpoint(tmp_path, Transformer(config), tokenizer)
    assert load_config(tmp_path / CONFIG) == config


def test_an_unknown_entry_is_named(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**asdict(TransformerConfig(10, 10)), "d_mdoel": 3}))
    with pytest.raises(ValueError, match=r"config\.json has unknown entries: d_mdoel\."):
        load_config(path)


def test_a_missing_entry_is_named(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"source_vocab_size": 10}))
    with pytest.raises(ValueError, match=r"config\.json lacks an entry: .*target_vocab_size"):
        load_config(path)


def test_entries_are_checked_when_read(tmp_path):
    path = tmp_path / "config.json"
    entries = {"source_vocab_size": 10, "target_vocab_size": 10, "d_model": 10, "heads": 3}
    path.write_text(json.dumps(entries))
    with pytest.raises(ValueError, match="d_model 10 is not a multiple of heads 3"):
        load_config(path)
