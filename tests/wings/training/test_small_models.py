import itertools
from dataclasses import replace

import pytest
import torch

from headlight.model.training.step import batch_loss
from headlight.model.transformer.trace import KINDS
from headlight.model.translator import Translator
from headlight.wings.training.small_models import (
    BOUNDS,
    DEFAULTS,
    SmallModel,
    TrainingOptions,
    default_options,
    early_steps,
)
from headlight.wings.training.tasks import TASKS, is_unseen

SMALL = TrainingOptions(
    shortest=2, longest=3, layers=1, heads=2, d_model=16, d_ff=32, steps=12, batch_size=4, warmup=4
)


@pytest.mark.parametrize("name", [name for name in TASKS if not TASKS[name].decoder_only])
def test_every_task_has_options_within_bounds_and_room_for_its_longest_source(name):
    options = default_options(name)
    assert options.task == name
    assert DEFAULTS.keys() == TASKS.keys()
    longest = TASKS[name].lengths[1]
    toy = SmallModel(replace(options, shortest=longest and 1, longest=longest))
    translator = Translator(toy.model, toy.tokenizer)
    for source, target in toy.unseen:
        assert max(len(source), len(target)) < translator.max_tokens


@pytest.mark.parametrize("name", [name for name in TASKS if not TASKS[name].decoder_only])
def test_nothing_unseen_is_trained_on(name):
    toy = SmallModel(replace(default_options(name), batch_size=256))
    trained = {
        toy.tokenizer.decode(row.tolist())
        for batch in itertools.islice(toy.batches(), 5)
        for row in batch.source_ids
    }
    assert len(trained) > 200
    assert not any(map(is_unseen, trained))
    assert all(is_unseen(source) for source, _ in toy.unseen)
    assert (toy.source, toy.target) in toy.unseen


def test_batches_are_what_the_translator_reads_and_the_task_asks_for():
    toy = SmallModel(SMALL)
    batch = next(toy.batches())
    rows = zip(batch.source_ids, batch.target_ids, batch.next_ids, strict=True)
    for source_ids, target_ids, next_ids in rows:
        source = toy.tokenizer.decode(source_ids.tolist())
        target = toy.tokenizer.decode(next_ids.tolist())
        assert target == source[::-1] == toy.tokenizer.decode(target_ids.tolist())
        read = Translator(toy.model, toy.tokenizer).read(source)
        assert [token.id for token in read] == [index for index in source_ids.tolist() if index]


@pytest.mark.parametrize("name", BOUNDS)
def test_the_bounds_themselves_may_be_chosen_and_nothing_beyond(name):
    least, most = BOUNDS[name]
    alone = {"heads": 1} if name == "d_model" else {"d_model": 64} if name == "heads" else {}
    for bound in (least, most):
        replace(SMALL, **{**alone, name: bound})
    for value in (least - 1, most + 1, float("nan")):
        with pytest.raises(ValueError, match=f"^{name} has to be .*\\.$"):
            replace(SMALL, **{**alone, name: value})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"longest": 17}, "longest has to be from 3 to 16"),
        ({"shortest": 4}, "shortest has to be from 1 to 3"),
        ({"shortest": 0}, "shortest has to be from 1 to 3"),
        ({"heads": 3}, "not a multiple"),
        ({"positions": "rotary"}, "positions has to be one of"),
        ({"task": "dates"}, "longest has to be from 0 to 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(SMALL, **options)


@pytest.mark.matrix
def test_a_seed_decides_everything_and_touches_no_other_chance():
    runs = [list(SmallModel(SMALL).train()) for _ in range(2)]
    assert runs[0] == runs[1]
    assert runs[0] != list(SmallModel(replace(SMALL, seed=1)).train())
    toy = SmallModel(SMALL)
    before = torch.get_rng_state()
    for _ in toy.train():
        pass
    assert torch.equal(torch.get_rng_state(), before)


def test_the_first_loss_is_that_of_the_first_batch():
    toy = SmallModel(replace(SMALL, label_smoothing=0.1))
    expected = batch_loss(toy.model, next(toy.batches()), 0.1).item()
    assert next(toy.train()).loss == pytest.approx(expected)


@pytest.mark.matrix
def test_exact_match_counts_what_the_translator_writes():
    options = replace(SMALL, task="copy", longest=3, shortest=1, d_model=32, steps=150, rate=2.0)
    toy = SmallModel(replace(options, warmup=40, batch_size=32))
    shares = [progress.score for progress in toy.train()]
    translator = Translator(toy.model, toy.tokenizer)
    right = [translator.translate(source).text == target for source, target in toy.unseen]
    assert shares[-1] == sum(right) / len(right)
    assert shares[-1] > 0


def test_snapshots_are_the_attention_of_the_model_at_their_steps():
    toy = SmallModel(SMALL)
    models = {0: SmallModel(SMALL).model.state_dict()}
    for progress in toy.train():
        models[progress.number] = {
            name: tensor.clone() for name, tensor in toy.model.state_dict().items()
        }
    history = toy.snapshots()
    assert history.steps == early_steps(12, 59) == list(range(13))
    assert history.sentences == [toy.source]
    other = SmallModel(replace(SMALL, seed=3))
    for place, step in enumerate(history.steps):
        other.model.load_state_dict(models[step])
        trace = Translator(other.model, toy.tokenizer).trace(toy.source, toy.target)
        for kind in KINDS:
            assert torch.equal(history.weights[0][kind][place], trace.weights(kind))
            queries, keys = history.tokens(0, kind)
            assert history.weights[0][kind].shape[-2:] == (len(queries), len(keys))
    assert history.target_tokens[0] == ["<start>", *toy.target]
    assert history.source_tokens[0] == [*toy.source, "<end>"]


@pytest.mark.parametrize("steps", [1, 10, 100, 10_000])
def test_snapshots_are_few_and_close_together_at_first(steps):
    chosen = early_steps(steps, 59)
    assert len(chosen) <= 59
    assert chosen[0] == 0
    assert chosen[-1] == steps
    gaps = [later - earlier for earlier, later in itertools.pairwise(chosen)]
    assert all(later >= earlier - 1 for earlier, later in itertools.pairwise(gaps))


def test_a_loss_that_is_no_number_ends_the_training_with_a_sentence():
    toy = SmallModel(SMALL)
    with torch.no_grad():
        toy.model.output.weight.fill_(torch.nan)
    with pytest.raises(FloatingPointError, match=r"step 1 .* smaller learning rate"):
        next(toy.train())


def test_weights_drawn_from_a_generator_are_as_spread_as_torchs_own(make_model):
    for options in ({}, {"tie_embeddings": False, "positions": "learned"}):
        plain, drawn = make_model(d_model=64, **options), make_model(d_model=64, **options)
        drawn.draw_weights(torch.Generator().manual_seed(5))
        again = make_model(seed=9, d_model=64, **options)
        again.draw_weights(torch.Generator().manual_seed(5))
        for name, parameter in drawn.named_parameters():
            if parameter.dim() == 2:
                assert torch.equal(parameter, dict(again.named_parameters())[name]), name
                twin = dict(plain.named_parameters())[name]
                assert not torch.equal(parameter, twin)
                assert parameter.std().item() == pytest.approx(twin.std().item(), rel=0.15)
