"""What the training command refuses, and what it never loses."""

import csv
import gzip
import json
import random
import resource
import struct
from contextlib import contextmanager

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from headlight.model import train
from headlight.model.checkpoint import load_checkpoint
from headlight.model.training.resuming import read_training

STATE = "training.safetensors"


def rows(folder):
    with (folder / "log.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def refused(command, *arguments, **options):
    """The sentence with which a command ends."""
    with pytest.raises(SystemExit) as ended:
        command(*arguments, **options)
    said = str(ended.value)
    assert said.startswith("python -m headlight.model.train: ")
    assert said.endswith(".")
    assert "\n" not in said
    return said


@contextmanager
def files_of_at_most(size):
    """No file can grow beyond `size` bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        ({"seed": 5}, "--seed 0"),
        ({"batch_tokens": 90, "warmup": 3}, "--warmup 4 --batch-tokens 60"),
        ({"label_smoothing": 0.3}, "--label-smoothing 0.1"),
    ],
)
def test_a_resumed_training_refuses_changed_settings(change, advice, command):
    folder = command("run", steps=4)
    with pytest.raises(SystemExit, match=rf"To go on with .*run, start with {advice}\.$"):
        command("run", "--resume", **change)
    assert len(load_file(folder / "training.safetensors")) > 10


def test_a_resumed_training_may_go_on_for_longer(command):
    command("run", steps=4)
    folder = command("run", "--resume", steps=7, cooldown=2)
    assert rows(folder)[-1]["step"] == "7"


def test_a_resume_without_a_training_says_so(command):
    with pytest.raises(SystemExit, match="has no training to go on with; leave --resume out"):
        command("empty", "--resume")


def test_a_training_is_not_overwritten(command):
    folder = command("run", steps=4)
    before = (folder / "training.safetensors").read_bytes()
    with pytest.raises(SystemExit, match="holds a training; add --resume, or choose another"):
        command("run", steps=4)
    assert (folder / "training.safetensors").read_bytes() == before


def test_a_model_is_not_overwritten(command):
    folder = command("run", steps=4)
    (folder / STATE).unlink()
    before = contents(folder)
    assert "holds a model; choose another --output" in refused(command, "run", steps=4)
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("flag", "change", "advice"),
    [
        ("--no-tie-embeddings", {}, "--tie-embeddings"),
        ("--no-look-ahead-mask", {}, "--look-ahead-mask"),
        ("--resume", {"vocabulary": 500}, "--vocabulary 600"),
    ],
)
def test_the_advice_is_an_option_that_there_is(flag, change, advice, command):
    command("run", steps=4)
    said = refused(command, "run", "--resume", flag, **change)
    assert said.endswith(f"start with {advice}.")
    command("run", "--resume", *advice.split(), steps=5)


@pytest.mark.parametrize("name", ["pairs", "valid"])
def test_a_resumed_training_refuses_other_pairs_by_name(name, command, tmp_path, pairs):
    folder = command("run", steps=4)
    before = contents(folder)
    other = tmp_path / "other.tsv"
    other.write_text("".join(f"{source}\t{target}\n" for source, target in pairs[3:]), "utf-8")
    said = refused(command, "run", "--resume", **{name: other})
    assert said.endswith(f"use the --{name} it began with, not {other}.")
    assert contents(folder) == before


def test_the_same_pairs_may_be_packed_or_lie_elsewhere(command, tmp_path):
    command("run", steps=4)
    packed = tmp_path / "moved.tsv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "pairs.tsv").read_bytes()))
    assert rows(command("run", "--resume", pairs=packed, steps=5))[-1]["step"] == "5"


def test_a_resumed_training_refuses_another_vocabulary_by_name(command, tmp_path):
    folder, other = command("run", steps=4), command("other", steps=1, vocabulary=500)
    given = other / "tokenizer.json"
    said = refused(command, "run", f"--tokenizer={given}", "--resume")
    assert said.endswith(f"use the tokenizer.json it began with, not {given}.")
    (folder / "tokenizer.json").write_bytes(given.read_bytes())
    said = refused(command, "run", "--resume")
    assert said.endswith(f"use the tokenizer.json it began with, not {folder / 'tokenizer.json'}.")


def test_a_training_begun_with_a_tokenizer_goes_on_with_and_without_naming_it(command):
    given = f"--tokenizer={command('first', steps=1) / 'tokenizer.json'}"
    command("run", given, steps=4)
    command("run", given, "--resume", steps=5)
    assert rows(command("run", "--resume", steps=6))[-1]["step"] == "6"


def test_fewer_steps_than_are_done_are_refused_and_as_many_are_told(command, capsys):
    folder = command("run", steps=4)
    before = contents(folder)
    assert "has done 4 steps already" in refused(command, "run", "--resume", steps=3)
    command("run", "--resume", steps=4)
    assert "has done its 4 steps: to go on, give more --steps." in capsys.readouterr().out
    assert contents(folder) == before


def cut(data):
    return data[: len(data) // 2]


def of_another_kind(data):
    header = json.dumps({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(4)


DAMAGES = {
    "cut": cut,
    "empty": lambda data: b"",
    "random": lambda data: random.Random(0).randbytes(2_000),
    "of another kind": of_another_kind,
    "no numbers": lambda data: data[:-20_000] + b"\xff" * 20_000,
}


def test_a_damaged_checkpoint_is_told_and_nothing_is_lost(command):
    folder = command("run", steps=4)
    whole = (folder / STATE).read_bytes()
    for name, damage in DAMAGES.items():
        (folder / STATE).write_bytes(damage(whole))
        before = contents(folder)
        said = refused(command, "run", "--resume")
        assert f"{folder / STATE} is damaged, or not of a training" in said, name
        assert contents(folder) == before, name
    (folder / STATE).write_bytes(whole)
    assert rows(command("run", "--resume"))[-1]["step"] == "11"


def test_a_checkpoint_of_another_shape_is_told(command):
    folder = command("run", steps=4)
    with safe_open(folder / STATE, framework="pt") as file:
        metadata = file.metadata()
    tensors = load_file(folder / STATE)
    for name in ("optimizer.exp_avg.encoder.norm.weight", "model.encoder.norm.weight"):
        save_file({**tensors, name: torch.zeros(3)}, folder / STATE, metadata)
        assert "another model" in (said := refused(command, "run", "--resume")) or "shape" in said
    save_file({**tensors, "random.cpu": torch.zeros(3)}, folder / STATE, metadata)
    assert "has no state of random numbers" in refused(command, "run", "--resume")


def test_a_damaged_tokenizer_is_told(command):
    path = command("run", steps=4) / "tokenizer.json"
    whole = path.read_bytes()
    for name in ("cut", "empty", "random"):
        path.write_bytes(DAMAGES[name](whole))
        assert f"{path} is not a tokenizer" in refused(command, "run", "--resume")


@pytest.mark.matrix
@pytest.mark.parametrize("left", ["4,0,1.5", "\0\0\0\0", "4,0,a,b,c,d,e,f\n"])
def test_a_log_with_half_a_last_row_goes_on(left, command):
    folder = command("run", steps=4, score_every=2)
    lines = (folder / "log.csv").read_text("utf-8").splitlines(keepends=True)
    assert len(lines) == 4
    (folder / "log.csv").write_text("".join(lines[:-1]) + left, "utf-8")
    command("run", "--resume", steps=6, score_every=2)
    assert [row["step"] for row in rows(folder)] == ["2", "3", "6"]
    assert rows(folder)[0] == dict(
        zip(*(line.strip().split(",") for line in lines[:2]), strict=True)
    )


@pytest.mark.matrix
@pytest.mark.parametrize("data", [b"\xff" * 900, b"a,b\n1,2\n"])
def test_a_log_of_another_kind_is_begun_anew(data, command):
    folder = command("run", steps=4)
    (folder / "log.csv").write_bytes(data)
    command("run", "--resume", steps=6)
    assert [row["step"] for row in rows(folder)] == ["6"]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        (
            "a.tsv.gz",
            cut(gzip.compress(b"a\tb\n" * 999, mtime=0)),
            "a.tsv.gz is cut, damaged or not gzipped",
        ),
        ("a.tsv.gz", b"a\tb\n", "a.tsv.gz is cut, damaged or not gzipped"),
        ("a.tsv.gz", gzip.compress(b"a\tb\n" * 99, mtime=0)[:-12] + b"\xff" * 12, "a.tsv.gz is "),
        ("a.tsv", gzip.compress(b"a\tb\n" * 99, mtime=0), "a.tsv is not text in UTF-8"),
        ("a.tsv", b"a\tb\na\n", "a.tsv, line 2: expected source<TAB>target"),
        ("a.tsv", b"", "a.tsv has no sentence pairs"),
    ],
)
def test_damaged_pairs_are_told(name, data, words, command, tmp_path):
    (tmp_path / name).write_bytes(data)
    for option in ("pairs", "valid"):
        assert words in refused(command, "run", **{option: tmp_path / name})


def test_files_that_are_not_there_are_named(command, tmp_path):
    missing = tmp_path / "missing.tsv"
    assert refused(command, "run", pairs=missing).endswith(f"{missing}: No such file or directory.")
    assert refused(command, "run", pairs=tmp_path).endswith(f"{tmp_path}: Is a directory.")
    assert "is not a tokenizer" in refused(command, "run", tokenizer=missing)
    (tmp_path / "file").touch()
    assert refused(command, "file").endswith("File exists.")


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("d_model", 10_000_000, "--d-model has to be from 1 to 16384"),
        ("d_model", 0, "--d-model has to be from 1"),
        ("d_model", -4, "--d-model has to be from 1"),
        ("d_model", 15, "not a multiple of heads"),
        ("heads", 0, "--heads has to be from 1"),
        ("d_ff", 0, "--d-ff has to be from 1"),
        ("d_ff", 10**9, "--d-ff has to be from 1"),
        ("encoder_layers", 0, "--encoder-layers has to be from 1"),
        ("decoder_layers", 10**6, "--decoder-layers has to be from 1"),
        ("vocabulary", 0, "--vocabulary has to be from 300"),
        ("vocabulary", 10**12, "--vocabulary has to be from 300"),
        ("dropout", "nan", "--dropout has to be from 0.0"),
        ("dropout", 1, "--dropout has to be from 0.0"),
        ("label_smoothing", 5, "--label-smoothing has to be from 0.0"),
        ("rate", "inf", "--rate has to be from 0.0"),
        ("rate", "nan", "--rate has to be from 0.0"),
        ("rate", 1e30, "--rate has to be from 0.0"),
        ("clip", 0, "--clip has to be from 1e-06"),
        ("warmup", 0, "--warmup has to be from 1"),
        ("cooldown", -1, "--cooldown has to be from 0"),
        ("steps", 0, "--steps has to be from 1"),
        ("checkpoint_every", 0, "--checkpoint-every has to be from 1"),
        ("score_every", -1, "--score-every has to be from 0"),
        ("snapshots", -1, "--snapshots has to be from 0"),
        ("batch_tokens", 0, "--batch-tokens has to be from 1"),
        ("seed", -1, "--seed has to be from 0"),
        ("precision", "float8", "--precision is one of float32, bfloat16"),
        ("optimizer", "sgd", "--optimizer is one of adam, muon"),
        ("norm", "middle", "--norm is one of pre, post"),
        ("positions", "rotary", "--positions is one of sinusoidal"),
        ("activation", "swish", "--activation is one of relu"),
    ],
)
def test_an_option_out_of_bounds_is_refused_before_anything_is_read(
    option, value, words, command, tmp_path, monkeypatch
):
    monkeypatch.setattr("headlight.model.train.read_pairs", None)
    assert words in refused(command, "run", **{option: value})
    assert not (tmp_path / "run").exists()


def test_a_model_that_memory_cannot_hold_is_refused_before_any_is_taken(command, monkeypatch):
    monkeypatch.setattr("headlight.model.train.read_pairs", None)
    shape = {"d_model": 16_384, "d_ff": 131_072, "encoder_layers": 50, "decoder_layers": 50}
    said = refused(command, "run", **shape)
    assert "GB of memory, of which there are" in said
    said = refused(command, "run", batch_tokens=10_000_000, vocabulary=1_000_000)
    assert "GB of memory, of which there are" in said


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory"),
     torch.OutOfMemoryError("CUDA out of memory.")],
)  # fmt: skip
def test_too_little_memory_is_told(error, command, monkeypatch):
    def fail(*arguments):
        raise error

    monkeypatch.setattr("headlight.model.train.train", fail)
    assert "There is too little memory" in refused(command, "run")


@pytest.mark.parametrize("every", [1, 3])
def test_a_diverged_training_stops_and_keeps_the_last_good_checkpoint(every, command):
    folder = command("run", steps=4, rate=1_000, warmup=1, checkpoint_every=every)
    good = contents(folder)
    state = load_file(folder / STATE)
    state[
        "model.output.weight"
        if "model.output.weight" in state
        else next(name for name in state if name.startswith("model.") and name.endswith("weight"))
    ].fill_(1e38)
    with safe_open(folder / STATE, framework="pt") as file:
        save_file(state, folder / STATE, file.metadata())
    good = contents(folder)
    said = refused(command, "run", "--resume", rate=1_000, warmup=1, checkpoint_every=every)
    assert "At step 5 the training diverged" in said
    assert f"What was saved in {folder} before stays as it was." in said
    assert contents(folder) == good


def test_weights_that_became_no_numbers_do_not_replace_good_ones(command, tmp_path, monkeypatch):
    steps_of = train.train

    def ruin(ours, *arguments):
        for step in steps_of(ours, *arguments):
            if step.number == 8:
                with torch.no_grad():
                    next(ours.parameters()).fill_(torch.nan)
            yield step

    monkeypatch.setattr("headlight.model.train.train", ruin)
    assert "At step 8 the training diverged" in refused(command, "run", checkpoint_every=2)
    assert read_training(tmp_path / "run" / STATE).place.step == 6
    assert load_checkpoint(tmp_path / "run")[0].output.weight.isfinite().all()


@pytest.mark.matrix
def test_a_full_disk_is_told_and_the_training_goes_on_from_its_last_checkpoint(command):
    through = command("through")
    for size in (10_000, 150_000):
        name = f"run-{size}"
        folder = command(name, steps=4)
        before = contents(folder)
        assert max(map(len, before.values())) > size
        with files_of_at_most(size):
            said = refused(command, name, "--resume")
        assert "could not be written, and is as it was: " in said
        assert "File too large" in said
        after = contents(folder)
        assert after[STATE] == before[STATE]
        assert not [path for path in after if path.endswith(".part")]
        load_checkpoint(folder)
        resumed = command(name, "--resume")
        assert load_file(resumed / STATE).keys() == load_file(through / STATE).keys()
        assert rows(resumed)[-1]["step"] == "11"
