"""Training from the command line, also in several processes that torchrun starts."""

import csv
import math
import re
import shlex

import pytest
import torch
from safetensors.torch import load_file

from headlight.model import train
from headlight.model.checkpoint import load_checkpoint
from headlight.model.training.data import EncodedPair, collate
from headlight.model.training.step import Settings, batch_loss
from headlight.model.translator import PRETRAINED
from tests.matrix import first_of

STATE = "training.safetensors"
EXACT = {"dropout": 0.0, "steps": 9, "score_every": 3}
BATCH = collate([EncodedPair([5, 6, 7], [8, 9, 10, 11]), EncodedPair([12], [13])])
SHORT = collate([EncodedPair([5], [14]), EncodedPair([6], [15])])


def log_rows(folder):
    with (folder / "log.csv").open(newline="", encoding="utf-8") as file:
        return [{name: float(row[name]) for name in row} for row in csv.DictReader(file)]


def assert_same_files(ours, theirs):
    """Two trainings end with the same weights, optimizers and scores, bit by bit."""
    state, expected = load_file(ours / STATE), load_file(theirs / STATE)
    assert state.keys() == expected.keys()
    for name, tensor in expected.items():
        assert torch.equal(state[name], tensor), name
    weights = "weights.safetensors"
    assert (ours / weights).read_bytes() == (theirs / weights).read_bytes()
    rows, expected = ([row | {"seconds": 0} for row in log_rows(each)] for each in (ours, theirs))
    assert rows == expected


def test_the_commands_of_the_model_cards_have_options_that_there_are():
    cards = [path.read_text(encoding="utf-8") for path in PRETRAINED.glob("*/README.md")]
    commands = re.findall(r"headlight\.model\.train ((?:.*\\\n)*.*)", "\n".join(cards))
    assert len(commands) == 4
    for command in commands:
        options = train.make_parser().parse_args(shlex.split(command.replace("\\\n", " ")))
        assert options.precision == "bfloat16"


def test_every_epoch_holds_every_pair_once_in_another_order():
    pairs = [EncodedPair([5 + number], [5] * (1 + number % 3)) for number in range(9)]
    orders = {0: [], 1: [], 2: []}
    ends = []
    for epoch, is_last, batch in train.epochs(pairs, Settings(batch_tokens=6)):
        if epoch == 3:
            break
        orders[epoch] += [pair.source for pair in batch]
        ends += [epoch] * is_last
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(orders[2])
    assert len(orders[0]) == len(pairs)
    assert orders[0] != orders[1] != orders[2]
    assert ends == [0, 1, 2]


def test_the_validation_loss_weighs_tokens_and_not_batches(make_model):
    ours = make_model(dropout=0.5).train()
    pairs = [([5, 6, 7], [8, 9, 10, 11]), ([12], [13]), ([5], [14]), ([6], [15])]
    together = collate([EncodedPair(*pair) for pair in pairs])
    split = train.validation_loss(ours, [BATCH, SHORT])
    assert split == pytest.approx(train.validation_loss(ours, [together]), rel=1e-5)
    ours.eval()
    mean_of_means = (batch_loss(ours, BATCH).item() + batch_loss(ours, SHORT).item()) / 2
    assert split != pytest.approx(mean_of_means, rel=1e-4)


def test_a_tiny_model_learns_eight_pairs_by_heart(translator, learned_batches, pairs):
    assert train.validation_loss(translator.model, learned_batches) < 0.05
    for source, target in pairs:
        assert translator.translate(source).text == target


def test_a_training_writes_a_log_a_checkpoint_and_its_snapshots(command):
    folder = command("run", "--snapshots", "0", "3")
    names = sorted(path.name for path in (folder / "snapshots").iterdir())
    assert names == ["step-000000", "step-000003"]
    rows = log_rows(folder)
    assert rows[-1]["step"] == 11
    assert len(rows) > 2
    assert all(math.isfinite(value) for row in rows for value in row.values())
    start, early, last = (
        load_checkpoint(path)[0].output.weight
        for path in (folder / "snapshots/step-000000", folder / "snapshots/step-000003", folder)
    )
    assert not torch.equal(start, early)
    assert not torch.equal(early, last)
    exact = load_file(folder / STATE)
    assert torch.equal(last, exact["model.encoder.embedding.tokens.weight"].half().float())


@pytest.mark.parametrize(
    ("step", "options"),
    first_of(
        [(8, {"precision": "bfloat16", "optimizer": "muon", "score_every": 2})]
        + [(step, {}) for step in (4, 5, 8, 10)]
    ),
)
def test_a_killed_and_resumed_training_ends_bit_identical(
    step, options, command, killed_and_resumed
):
    through = command("through", **options)
    resumed = killed_and_resumed(step, **options)
    assert_same_files(resumed, through)
    kept = {"adam": "exp_avg_sq.", "muon": "momentum_buffer."}[options.get("optimizer", "adam")]
    assert any(name.startswith(kept) for name in load_file(through / STATE))


def test_a_training_killed_between_its_log_and_its_checkpoint_logs_no_row_twice(
    command, monkeypatch
):
    through, save = command("through"), train.save_training

    def die_with_rows(path, model, optimizers, progress):
        if progress.rows:
            raise KeyboardInterrupt
        save(path, model, optimizers, progress)

    with monkeypatch.context() as patch:
        patch.setattr("headlight.model.train.save_training", die_with_rows)
        with pytest.raises(KeyboardInterrupt):
            command("killed", checkpoint_every=2)
    killed = through.parent / "killed"
    assert log_rows(killed)[0]["step"] == log_rows(through)[0]["step"] == 3
    assert_same_files(command("killed", "--resume"), through)


def test_a_resumed_training_may_go_on_for_longer(command):
    command("run", steps=4)
    assert log_rows(command("run", "--resume", steps=7, cooldown=2))[-1]["step"] == 7


def test_a_resumed_training_names_the_options_and_pairs_that_differ(command, tmp_path):
    before = (command("run", steps=4) / STATE).read_bytes()
    other = {"pairs": tmp_path / "valid.tsv", "batch_tokens": 90, "d_ff": 32}
    with pytest.raises(SystemExit, match="was begun with other values of: ") as refused:
        command("run", "--resume", "--no-look-ahead-mask", **other)
    names = str(refused.value).rstrip(".").partition(": ")[2].split(", ")
    assert {*names} == {"pairs", "batch_tokens", "d_ff", "look_ahead_mask"}
    assert (tmp_path / "run" / STATE).read_bytes() == before


@pytest.mark.parametrize("left", [STATE, "weights.safetensors"])
def test_a_model_is_not_overwritten(left, command):
    folder = command("run", steps=4)
    for name in {STATE, "weights.safetensors"} - {left}:
        (folder / name).unlink()
    before = (folder / left).read_bytes()
    with pytest.raises(SystemExit, match="has a model: choose another --output"):
        command("run", steps=4)
    assert (folder / left).read_bytes() == before


def test_a_diverged_training_keeps_its_last_checkpoint(command, tmp_path, monkeypatch):
    step_of = train.train_step

    def ruin(ours, optimizers, batch, step, settings):
        loss = step_of(ours, optimizers, batch, step, settings)
        if step == 9:  # the last of an epoch
            next(ours.parameters()).data.fill_(torch.nan)
        return loss

    monkeypatch.setattr("headlight.model.train.train_step", ruin)
    with pytest.raises(FloatingPointError, match="At step 9 the training diverged"):
        command("run")
    assert load_checkpoint(tmp_path / "run")[0].output.weight.isfinite().all()
    assert all(tensor.isfinite().all() for tensor in load_file(tmp_path / "run" / STATE).values())


def test_a_training_can_take_a_tokenizer_that_is_there(command):
    first, name = command("first", steps=1), "tokenizer.json"
    second = command("second", f"--tokenizer={first / name}", steps=1, vocabulary=300)
    assert (second / name).read_bytes() == (first / name).read_bytes()


@pytest.mark.matrix
def test_another_seed_trains_another_model(command):
    first, second = (load_file(command(f"{seed}", seed=seed) / STATE) for seed in (0, 1))
    name = "model.encoder.embedding.tokens.weight"
    assert not torch.equal(first[name], second[name])


def test_a_training_begins_with_the_weights_of_another(command):
    before = command("before")
    after = command("after", begin_with=before, snapshots=0)
    weights = load_file(before / "weights.safetensors")
    begun = load_file(after / "snapshots/step-000000/weights.safetensors")
    assert begun.keys() == weights.keys()
    for name, weight in begun.items():
        assert torch.equal(weight, weights[name]), name
    assert (after / "tokenizer.json").read_bytes() == (before / "tokenizer.json").read_bytes()
    command("after", "--resume", begin_with=before, snapshots=0, steps=13)
    assert log_rows(after)[-1]["step"] == 13


@pytest.mark.matrix
@pytest.mark.parametrize("processes", [2, 3])
def test_several_processes_train_as_one_with_the_same_whole_batches(processes, command):
    whole, shared = command("whole", **EXACT), command("shared", processes=processes, **EXACT)
    ours, theirs = load_file(shared / STATE), load_file(whole / STATE)
    assert ours.keys() == theirs.keys()
    for name in theirs:
        # A key's bias changes no softmax: its gradient is only rounding, of which Adam makes steps.
        if name.startswith("model.") and not name.endswith("key.bias"):
            torch.testing.assert_close(ours[name], theirs[name], rtol=1e-3, atol=1e-5)
    for ours, theirs in zip(log_rows(shared), log_rows(whole), strict=True):
        assert ours["step"] == theirs["step"]
        for name in ("train_loss", "valid_loss"):
            assert ours[name] == pytest.approx(theirs[name], abs=2e-4)


@pytest.mark.matrix
def test_dropout_of_several_processes_is_the_same_when_they_go_on(command):
    options = {"dropout": 0.3, "cooldown": 1, "processes": 2}
    through = load_file(command("through", steps=9, **options) / STATE)
    command("halves", steps=6, **options)
    resumed = load_file(command("halves", "--resume", steps=9, **options) / STATE)
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
    monkeypatch.setattr("headlight.model.train.processes", lambda: count)
    for rank in range(count):
        monkeypatch.setattr("headlight.model.train.rank", lambda rank=rank: rank)
        part = train.share(pairs)
        (batch_loss(model, part) * part.weight).backward()
    for name, weight in model.named_parameters():
        torch.testing.assert_close(weight.grad, whole[name], rtol=1e-4, atol=1e-6)
