import csv
import math

import pytest
import torch
from safetensors.torch import load_file

from headlight.model import train
from headlight.model.checkpoint import load_checkpoint
from headlight.model.training.resuming import COLUMNS
from tests.matrix import first_of


def log_rows(folder, *without):
    with (folder / "log.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [{name: row[name] for name in row if name not in without} for row in rows]


def test_every_epoch_holds_every_pair_in_another_order(command, monkeypatch, pairs):
    orders, steps_of = [], train.train

    def spy(ours, optimizer, batches, *arguments):
        batches = list(batches)
        orders.append([row for batch in batches for row in batch.source_ids[:, :3].tolist()])
        return steps_of(ours, optimizer, batches, *arguments)

    monkeypatch.setattr("headlight.model.train.train", spy)
    command("run", steps=9)
    assert len(orders) >= 3
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(orders[2])
    assert len(orders[0]) == len(pairs)
    assert orders[0] != orders[1] != orders[2]


def test_a_training_writes_a_log_a_checkpoint_and_its_snapshots(command):
    folder = command("run", "--snapshots", "0", "3")
    assert sorted(path.name for path in (folder / "snapshots").iterdir()) == [
        "step-000000",
        "step-000003",
    ]
    rows = log_rows(folder)
    assert list(rows[0]) == list(COLUMNS)
    assert rows[-1]["step"] == "11"
    assert len(rows) > 2
    assert all(math.isfinite(float(value)) for row in rows for value in row.values())
    start, early, last = (
        load_checkpoint(path)[0].output.weight
        for path in (folder / "snapshots/step-000000", folder / "snapshots/step-000003", folder)
    )
    assert not torch.equal(start, early)
    assert not torch.equal(early, last)
    exact = load_file(folder / "training.safetensors")
    assert torch.equal(last, exact["model.encoder.embedding.tokens.weight"].half().float())


@pytest.mark.matrix
@pytest.mark.parametrize("step", first_of([8, 5, 10]))
def test_a_killed_and_resumed_training_ends_bit_identical(step, command, killed_and_resumed):
    through = command("through")
    resumed = killed_and_resumed(step)
    expected = load_file(through / "training.safetensors")
    actual = load_file(resumed / "training.safetensors")
    assert actual.keys() == expected.keys()
    assert any(name.startswith("optimizer.exp_avg_sq.") for name in expected)
    for name in expected:
        assert torch.equal(actual[name], expected[name]), name
    assert log_rows(resumed, "seconds") == log_rows(through, "seconds")
    weights = "weights.safetensors"
    assert (resumed / weights).read_bytes() == (through / weights).read_bytes()


def test_a_training_killed_between_its_log_and_its_checkpoint_logs_no_row_twice(
    command, monkeypatch
):
    through = command("through", checkpoint_every=3)
    assert log_rows(through)[0]["step"] == "3"

    def die(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("headlight.model.train.save_checkpoint", die)
        with pytest.raises(KeyboardInterrupt):
            command("killed", checkpoint_every=3)
    resumed = command("killed", "--resume", checkpoint_every=3)
    assert log_rows(resumed, "seconds") == log_rows(through, "seconds")


@pytest.mark.matrix
@pytest.mark.parametrize("step", first_of([5, 8]))
def test_a_training_in_bfloat16_with_muon_goes_on_bit_identical(step, command, killed_and_resumed):
    options = {"precision": "bfloat16", "optimizer": "muon", "score_every": 2}
    through = command("through", **options)

    resumed = killed_and_resumed(step, **options)
    expected = load_file(through / "training.safetensors")
    actual = load_file(resumed / "training.safetensors")
    assert actual.keys() == expected.keys()
    assert any(name.startswith("optimizer.momentum.") for name in expected)
    for name in expected:
        assert torch.equal(actual[name], expected[name]), name
    assert log_rows(resumed, "seconds") == log_rows(through, "seconds")
    assert {"2", "4", "6", "8", "10", "11"} <= {row["step"] for row in log_rows(through)}


def test_a_training_can_take_a_tokenizer_that_is_there(command, tmp_path):
    first = command("first", steps=1)
    second = command("second", f"--tokenizer={first / 'tokenizer.json'}", steps=1, vocabulary=300)
    name = "tokenizer.json"
    assert (second / name).read_bytes() == (first / name).read_bytes()


@pytest.mark.matrix
def test_another_seed_trains_another_model(command):
    first, second = command("first"), command("second", seed=1)
    name = "model.encoder.embedding.tokens.weight"
    weights = [load_file(folder / "training.safetensors")[name] for folder in (first, second)]
    assert not torch.equal(*weights)


def test_a_training_begins_with_the_weights_of_another(command):
    before = command("before")
    after = command("after", begin_with=before, snapshots=0)
    weights = load_file(before / "weights.safetensors")
    begun = load_file(after / "snapshots" / "step-000000" / "weights.safetensors")
    assert begun.keys() == weights.keys()
    for name, weight in begun.items():
        assert torch.equal(weight, weights[name]), name
    assert (after / "tokenizer.json").read_bytes() == (before / "tokenizer.json").read_bytes()
    assert log_rows(after)[-1]["step"] == "11"
    command("after", "--resume", begin_with=before, snapshots=0, steps=13)
    assert log_rows(after)[-1]["step"] == "13"


def test_a_training_refuses_to_begin_with_weights_of_another_shape(command):
    before = command("before")
    with pytest.raises(SystemExit, match="shape"):
        command("after", begin_with=before, d_ff=32)
