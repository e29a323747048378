"""Processes that torchrun starts train as one does with the same whole batches."""

import csv

import pytest
import torch
from safetensors.torch import load_file

from headlight.model.training.data import EncodedPair, collate
from headlight.model.training.loop import batch_loss
from headlight.model.training.together import share

EXACT = {"dropout": 0.0, "steps": 9, "score_every": 3}


def rows(folder):
    with (folder / "log.csv").open(newline="", encoding="utf-8") as file:
        return [{name: float(row[name]) for name in row} for row in csv.DictReader(file)]


def assert_same_training(found, expected):
    ours, theirs = (load_file(folder / "training.safetensors") for folder in (found, expected))
    # A key's bias changes no softmax: its gradient is only rounding, of which Adam makes steps.
    weights = [
        name for name in theirs if name.startswith("model.") and not name.endswith("key.bias")
    ]
    assert weights
    assert ours.keys() == theirs.keys()
    for name in weights:
        torch.testing.assert_close(ours[name], theirs[name], rtol=1e-3, atol=1e-5)
    assert len(rows(found)) == len(rows(expected)) > 2
    for ours, theirs in zip(rows(found), rows(expected), strict=True):
        assert ours["step"] == theirs["step"]
        for name in ("train_loss", "valid_loss"):
            assert ours[name] == pytest.approx(theirs[name], abs=2e-4)


@pytest.mark.matrix
@pytest.mark.parametrize("processes", [2, 3])
def test_several_processes_train_as_one_with_the_same_whole_batches(processes, command):
    whole = command("whole", **EXACT)
    assert_same_training(command("shared", processes=processes, **EXACT), whole)


@pytest.mark.matrix
def test_dropout_of_several_processes_is_the_same_when_they_go_on(command):
    options = {"dropout": 0.3, "cooldown": 1, "processes": 2}
    through = load_file(command("through", steps=9, **options) / "training.safetensors")
    command("halves", steps=6, **options)
    resumed = load_file(command("halves", "--resume", steps=9, **options) / "training.safetensors")
    assert resumed.keys() == through.keys()
    for name, tensor in through.items():
        assert torch.equal(resumed[name], tensor), name


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_shares_of_a_batch_have_its_gradients(count, make_model, monkeypatch):
    model = make_model()
    pairs = [EncodedPair([5] * (1 + n), [6 + n] * (2 * n)) for n in range(4)]
    batch_loss(model, collate(pairs)).backward()
    whole = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    model.zero_grad()
    monkeypatch.setattr("headlight.model.training.together.processes", lambda: count)
    for rank in range(count):
        monkeypatch.setattr("headlight.model.training.together.rank", lambda rank=rank: rank)
        part = share(pairs)
        (batch_loss(model, part) * part.weight / count).backward()
    for name, weight in model.named_parameters():
        torch.testing.assert_close(weight.grad, whole[name], rtol=1e-4, atol=1e-6)
