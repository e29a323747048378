import itertools

import pytest
import torch
from torch.testing import assert_close

from headlight.model.training.data import Batch, EncodedPair, collate
from headlight.model.training.step import (
    Settings,
    batch_loss,
    learning_rate,
    make_optimizers,
    train_step,
)

BATCH = collate([EncodedPair([5, 6, 7], [8, 9, 10, 11]), EncodedPair([12], [13])])


def test_the_learning_rate_is_the_papers():
    paper = Settings(steps=100_000, warmup=4_000, cooldown=0)
    assert learning_rate(1, 512, paper) == pytest.approx(1.7469e-7, rel=1e-4)
    assert learning_rate(2_000, 512, paper) == pytest.approx(3.4939e-4, rel=1e-4)
    assert learning_rate(4_000, 512, paper) == pytest.approx(6.9877e-4, rel=1e-4)
    assert learning_rate(16_000, 512, paper) == pytest.approx(3.4939e-4, rel=1e-4)
    assert learning_rate(100_000, 512, paper) == pytest.approx(512**-0.5 * 100_000**-0.5, rel=1e-6)


def test_the_rate_multiplies_the_whole_schedule():
    one, two = Settings(rate=1.0), Settings(rate=2.0)
    for step in (1, 2_000, 7_000, 12_000):
        assert learning_rate(step, 64, two) == pytest.approx(2 * learning_rate(step, 64, one))


def test_the_learning_rate_rises_through_the_warm_up_and_ends_near_zero():
    settings = Settings(steps=1_000, warmup=100, cooldown=300)
    rates = [learning_rate(step, 256, settings) for step in range(1, 1_001)]
    assert all(earlier < later for earlier, later in itertools.pairwise(rates[:100]))
    assert all(earlier > later for earlier, later in itertools.pairwise(rates[99:]))
    assert rates[700] == pytest.approx(256**-0.5 * 701**-0.5)
    assert rates[850] == pytest.approx(256**-0.5 * 851**-0.5 / 2)
    assert 0 < rates[-1] < rates[700] / 200


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_loss_is_the_mean_over_expected_tokens_smoothed_over_the_vocabulary(
    smoothing, make_model
):
    ours = make_model()
    log_probabilities = ours(BATCH.source_ids, BATCH.target_ids).log_softmax(-1)
    expected = [
        -(1 - smoothing) * log_probabilities[row, column, index]
        - smoothing * log_probabilities[row, column].mean()
        for row, ids in enumerate([[8, 9, 10, 11, 3], [13, 3]])
        for column, index in enumerate(ids)
    ]
    assert len(expected) == 7
    assert_close(batch_loss(ours, BATCH, smoothing), sum(expected) / 7)


def test_more_padding_does_not_change_the_loss(make_model):
    ours = make_model()
    ids = (BATCH.source_ids, BATCH.target_ids, BATCH.next_ids)
    wider = Batch(*(torch.nn.functional.pad(item, (0, 3)) for item in ids))
    assert_close(batch_loss(ours, wider, 0.1), batch_loss(ours, BATCH, 0.1))


def test_a_step_returns_its_loss_and_follows_the_schedule(make_model):
    ours = make_model(dropout=0.0)
    settings = Settings(steps=9, warmup=3, cooldown=2, label_smoothing=0.2)
    optimizers = make_optimizers(ours, "muon")
    for step in range(1, 10):
        expected = batch_loss(ours, BATCH, 0.2).item()
        assert train_step(ours, optimizers, BATCH, step, settings) == pytest.approx(expected)
        rates = {group["lr"] for optimizer in optimizers for group in optimizer.param_groups}
        assert rates == {learning_rate(step, 16, settings)}


def test_gradients_are_clipped_to_the_given_norm(make_model):
    ours, settings = make_model(dropout=0.0), Settings(warmup=4, clip=0.01)
    before = torch.nn.utils.parameters_to_vector(ours.parameters()).detach()
    plain = torch.optim.SGD(ours.parameters(), lr=0.0)
    train_step(ours, [plain], BATCH, 1, settings)
    change = torch.nn.utils.parameters_to_vector(ours.parameters()).detach() - before
    assert change.norm() == pytest.approx(0.01 * learning_rate(1, 16, settings), rel=1e-2)


@pytest.mark.parametrize("ruined", ["loss", "gradient"])
def test_what_is_no_number_stops_a_training_before_the_weights_are_changed(ruined, make_model):
    ours = make_model(dropout=0.0)
    weight = ours.decoder.layers[0].feed_forward.output.weight
    if ruined == "loss":
        with torch.no_grad():
            weight[0, 0] = torch.inf
    else:
        weight.register_hook(lambda gradient: gradient * torch.inf)
    before = {name: parameter.clone() for name, parameter in ours.named_parameters()}
    with pytest.raises(FloatingPointError, match=r"At step 7 the training diverged \(its numbers"):
        train_step(ours, make_optimizers(ours), BATCH, 7, Settings(warmup=4))
    for name, parameter in ours.named_parameters():
        assert torch.equal(parameter, before[name]), name


def test_each_step_drops_even_after_an_evaluation(make_model):
    ours = make_model(dropout=0.5)
    modes = []
    ours.register_forward_pre_hook(lambda module, _: modes.append(module.training))
    for step in (1, 2):
        train_step(ours, make_optimizers(ours), BATCH, step, Settings())
        ours.eval()
    assert modes == [True, True]


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
def test_half_precision_trains_weights_that_stay_float32(optimizer, make_model):
    ours = make_model(dropout=0.0)
    settings = Settings(steps=30, warmup=10, cooldown=5, precision="bfloat16")
    optimizers = make_optimizers(ours, optimizer)
    losses = [train_step(ours, optimizers, BATCH, step, settings) for step in range(1, 31)]
    assert losses[-1] < losses[0] - 1
    assert {parameter.dtype for parameter in ours.parameters()} == {torch.float32}


def test_muon_takes_the_matrices_of_layers_and_adam_everything_else(make_model):
    model = make_model()
    adam, muon = make_optimizers(model, "muon")
    others, matrices = adam.param_groups[0]["params"], muon.param_groups[0]["params"]
    assert {*others, *matrices} == {*model.parameters()}
    assert not {*others} & {*matrices}
    assert all(parameter.ndim == 2 for parameter in matrices)
    assert any(parameter is model.output.weight for parameter in others)
    assert [len(each.param_groups[0]["params"]) for each in make_optimizers(model)] == [
        len(others) + len(matrices)
    ]


def test_an_update_of_muon_is_orthogonal_and_as_long_as_one_of_adam():
    torch.manual_seed(0)
    layer = torch.nn.Linear(64, 64)
    _, muon = make_optimizers(layer, "muon")
    muon.param_groups[0]["lr"] = 0.01
    before = layer.weight.detach().clone()
    layer(torch.randn(512, 64)).square().sum().backward()
    muon.step()
    change = layer.weight.detach() - before
    assert 0.001 < change.square().mean().sqrt() < 0.003
    values = torch.linalg.svdvals(change)
    assert values.max() < 3 * values.min()
