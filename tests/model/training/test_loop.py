import itertools

import pytest
import torch
from torch.testing import assert_close

from headlight.model.training.data import Batch, EncodedPair, collate
from headlight.model.training.loop import (
    Settings,
    batch_loss,
    learning_rate,
    make_optimizer,
    train,
    validation_loss,
)

BATCH = collate([EncodedPair([5, 6, 7], [8, 9, 10, 11]), EncodedPair([12], [13])])
SHORT = collate([EncodedPair([5], [14]), EncodedPair([6], [15])])


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


def test_the_loss_is_the_mean_over_expected_tokens_and_leaves_padding_out(make_model):
    ours = make_model()
    log_probabilities = ours(BATCH.source_ids, BATCH.target_ids).log_softmax(-1)
    expected = [
        -log_probabilities[row, column, index]
        for row, ids in enumerate([[8, 9, 10, 11, 3], [13, 3]])
        for column, index in enumerate(ids)
    ]
    assert len(expected) == 7
    assert_close(batch_loss(ours, BATCH), sum(expected) / 7)


def test_label_smoothing_spreads_its_share_over_the_vocabulary(make_model):
    ours = make_model()
    log_probabilities = ours(BATCH.source_ids, BATCH.target_ids).log_softmax(-1)
    expected = [
        -0.8 * log_probabilities[row, column, index] - 0.2 * log_probabilities[row, column].mean()
        for row, ids in enumerate([[8, 9, 10, 11, 3], [13, 3]])
        for column, index in enumerate(ids)
    ]
    assert_close(batch_loss(ours, BATCH, label_smoothing=0.2), sum(expected) / 7)


def test_more_padding_does_not_change_the_loss(make_model):
    ours = make_model()
    ids = (BATCH.source_ids, BATCH.target_ids, BATCH.next_ids)
    wider = Batch(*(torch.nn.functional.pad(item, (0, 3)) for item in ids))
    assert_close(batch_loss(ours, wider, 0.1), batch_loss(ours, BATCH, 0.1))


def test_the_validation_loss_weighs_tokens_and_not_batches(make_model):
    ours = make_model(dropout=0.5).train()
    together = collate(
        [
            EncodedPair([5, 6, 7], [8, 9, 10, 11]),
            EncodedPair([12], [13]),
            EncodedPair([5], [14]),
            EncodedPair([6], [15]),
        ]
    )
    split = validation_loss(ours, [BATCH, SHORT])
    assert split == pytest.approx(validation_loss(ours, [together]), rel=1e-5)
    ours.eval()
    mean_of_means = (batch_loss(ours, BATCH).item() + batch_loss(ours, SHORT).item()) / 2
    assert split != pytest.approx(mean_of_means, rel=1e-4)


def test_steps_are_numbered_and_stop_at_the_settings_or_with_the_batches(make_model):
    ours = make_model()
    settings = Settings(steps=5, warmup=2, cooldown=1)
    optimizer = make_optimizer(ours)
    assert [step.number for step in train(ours, optimizer, [BATCH] * 9, settings)] == [
        1,
        2,
        3,
        4,
        5,
    ]
    assert [step.number for step in train(ours, optimizer, [BATCH] * 2, settings)] == [1, 2]
    assert [step.number for step in train(ours, optimizer, [BATCH] * 9, settings, 4)] == [4, 5]


def test_training_draws_no_batch_that_it_does_not_use(make_model):
    ours = make_model()
    batches = iter([BATCH] * 5)
    list(train(ours, make_optimizer(ours), batches, Settings(steps=3)))
    assert len(list(batches)) == 2


def test_a_step_reports_its_loss_and_follows_the_schedule(make_model):
    ours = make_model(dropout=0.0)
    settings = Settings(steps=9, warmup=3, cooldown=2, label_smoothing=0.2)
    expected = batch_loss(ours, BATCH, 0.2).item()
    optimizer = make_optimizer(ours)
    for step in train(ours, optimizer, [BATCH] * 9, settings):
        assert step.learning_rate == learning_rate(step.number, 16, settings)
        assert {group["lr"] for group in optimizer.param_groups} == {step.learning_rate}
        if step.number == 1:
            assert step.loss == pytest.approx(expected, rel=1e-6)


def test_gradients_are_clipped_to_the_given_norm(make_model):
    ours = make_model(dropout=0.0)
    before = torch.cat([parameter.detach().flatten() for parameter in ours.parameters()])
    plain = torch.optim.SGD(ours.parameters(), lr=0.0)
    [step] = train(ours, plain, [BATCH], Settings(warmup=4, clip=0.01))
    after = torch.cat([parameter.detach().flatten() for parameter in ours.parameters()])
    assert (after - before).norm() == pytest.approx(0.01 * step.learning_rate, rel=1e-2)


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
    steps = train(ours, make_optimizer(ours), [BATCH] * 2, Settings(warmup=4), first_step=7)
    with pytest.raises(FloatingPointError, match=r"At step 7 the training diverged \(its numbers"):
        next(steps)
    for name, parameter in ours.named_parameters():
        assert torch.equal(parameter, before[name]), name


def test_each_step_drops_afresh_even_after_an_evaluation(make_model):
    ours = make_model(dropout=0.5)
    modes = []
    ours.register_forward_pre_hook(lambda module, _: modes.append(module.training))
    for _ in train(ours, make_optimizer(ours), [BATCH] * 2, Settings(steps=2)):
        ours.eval()
    assert modes == [True, True]


def test_half_precision_trains_weights_that_stay_float32(make_model):
    ours = make_model(dropout=0.0)
    settings = Settings(steps=30, warmup=10, cooldown=5, precision="bfloat16")
    losses = [step.loss for step in train(ours, make_optimizer(ours), [BATCH] * 30, settings)]
    assert losses[-1] < losses[0] - 1
    assert {parameter.dtype for parameter in ours.parameters()} == {torch.float32}


def test_a_tiny_model_learns_eight_pairs_by_heart(translator, learned_batches, pairs):
    assert validation_loss(translator.model, learned_batches) < 0.05
    for source, target in pairs:
        assert translator.translate(source).text == target
