import gc
import threading
import tracemalloc
import weakref
from dataclasses import replace

import numpy as np
import pytest
import torch

from headlight.model.training.step import learning_rate
from headlight.wings.training.jobs import POINTS, TrainingJob, thinned, training_queue
from headlight.wings.training.small_models import SNAPSHOTS, SmallModel, TrainingOptions
from tests.matrix import first_of
from tests.model.test_jobs import wait_until

SMALL = TrainingOptions(
    shortest=2, longest=3, layers=1, heads=2, d_model=16, d_ff=32, steps=12, batch_size=4, warmup=4
)
LONG = replace(SMALL, steps=10_000)


def wait_for(job, *names):
    wait_until(lambda: job.look().status in names)
    return job.progress()


def started(queue, options):
    job = TrainingJob(queue, options)
    job.resume()
    return job


def training_threads():
    return [thread for thread in threading.enumerate() if thread.name == "training"]


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def trainings():
    made = []

    def make(**options):
        made.append(training_queue(**options))
        return made[-1]

    yield make
    for each in made:
        for job in each.jobs[:]:
            job.stop()
    wait_until(lambda: not training_threads())


@pytest.mark.parametrize("at_once", first_of([2, 1]))
def test_a_job_trains_exactly_as_the_plain_generator(at_once, trainings, one_thread):
    toys = [SmallModel(replace(SMALL, seed=seed)) for seed in range(3)]
    expected = [list(toy.train()) for toy in toys]
    line = trainings(at_once=at_once)
    jobs = [started(line, toy.options) for toy in toys]
    for job, toy, progress in zip(jobs, toys, expected, strict=True):
        state = wait_for(job, "finished")
        assert state.losses.tolist() == [each.loss for each in progress]
        matches = [(each.number, each.score) for each in progress if each.score is not None]
        assert list(zip(state.match_steps, state.matches, strict=True)) == matches
        for kind, weights in toy.snapshots().weights[0].items():
            assert torch.equal(state.snapshots.weights[0][kind], weights)
        assert (state.step, state.steps, state.seconds_left, state.note) == (12, 12, 0.0, "")


def test_the_others_wait_in_line_and_are_told_their_place(trainings):
    line = trainings(at_once=1, waiting=3)
    first, second, third, fourth = (started(line, LONG) for _ in range(4))
    places = [job.progress().place for job in (first, second, third, fourth)]
    assert places == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="3 trainings are already waiting"):
        started(line, LONG)
    third.stop()
    assert (third.progress().status, third.progress().step) == ("stopped", 0)
    assert fourth.progress().place == 2
    first.stop()
    assert second.progress().status == "running"
    assert fourth.progress().place == 1
    assert len(training_threads()) == 1


@pytest.mark.matrix
def test_pausing_gives_the_place_up_and_resuming_changes_nothing(trainings, one_thread):
    expected = [each.loss for each in SmallModel(replace(SMALL, steps=200)).train()]
    line = trainings(at_once=1)
    job = started(line, replace(SMALL, steps=200))
    wait_until(lambda: job.look().step >= 5)
    job.pause()
    paused = job.progress()
    assert (paused.status, paused.note) == ("paused", "")
    assert not training_threads()
    assert 5 <= paused.step < 200
    other = started(line, SMALL)
    job.resume()
    assert job.progress().status in ("waiting", "running")
    assert wait_for(other, "finished").step == SMALL.steps
    assert wait_for(job, "finished").losses.tolist() == expected
    job.resume()
    job.pause()
    assert job.progress().status == "finished"


@pytest.mark.matrix
def test_a_stopped_job_keeps_what_it_learned_and_the_attention_of_its_last_step(trainings):
    job = started(trainings(), LONG)
    wait_until(lambda: job.look().step >= 100)
    job.stop()
    assert not training_threads()
    state = job.progress()
    assert state.status == "stopped"
    assert state.snapshots.steps[-1] == state.step
    assert len(state.snapshots.steps) <= SNAPSHOTS + 1
    history = state.snapshots
    trace = job.reader().trace(
        history.sentences[0], "".join(token for token in history.target_tokens[0][1:])
    )
    for kind, weights in history.weights[0].items():
        # lay_out computes query, key and value as one product.
        torch.testing.assert_close(weights[-1], trace.weights(kind), atol=1e-5, rtol=1e-4)
    job.resume()
    assert job.progress().status == "stopped"


def test_a_paused_job_can_be_stopped(trainings):
    job = started(trainings(), LONG)
    wait_until(lambda: job.look().step >= 3)
    job.pause()
    job.stop()
    assert job.progress().status == "stopped"
    assert job.progress().snapshots.steps[-1] == job.progress().step


def test_what_nobody_looks_at_is_paused_and_can_go_on(trainings):
    line = trainings(patience=0.3)
    job = started(line, LONG)
    wait_until(lambda: not training_threads())
    assert job.progress().status == "paused"
    assert "was not open for" in job.progress().note
    step = job.progress().step
    line.patience = 300
    job.resume()
    assert job.progress().note == ""
    wait_until(lambda: job.look().step > step)


def test_who_has_left_the_line_is_not_waited_for(trainings):
    line = trainings()
    _, left, last = started(line, LONG), started(line, LONG), started(line, LONG)
    assert (left.progress().place, last.progress().place) == (1, 2)
    left.last_look -= line.patience
    assert last.progress().place == 1
    assert (left.progress().status, left.progress().step) == ("paused", 0)
    assert "was not open for" in left.progress().note


def test_no_training_takes_longer_than_allowed(trainings):
    job = started(trainings(longest=0.3), LONG)
    state = wait_for(job, "stopped")
    assert "the most a training may take" in state.note
    assert state.seconds > 0.3
    wait_until(lambda: not training_threads())


@pytest.mark.matrix
def test_an_error_is_told_and_the_next_in_line_begins(trainings, monkeypatch, caplog):
    line = trainings()
    job = started(line, LONG)
    following = started(line, SMALL)
    monkeypatch.setattr(job._model, "score", lambda: 1 / 0)
    state = wait_for(job, "failed")
    assert state.note == "The training failed: division by zero"
    assert "ZeroDivisionError" in caplog.text
    assert wait_for(following, "finished").step == SMALL.steps


def test_weights_that_are_no_numbers_end_the_training_and_are_shown_nowhere(trainings):
    line = trainings()
    first = started(line, LONG)
    job = started(line, SMALL)
    with torch.no_grad():
        job._model.model.output.weight.fill_(torch.nan)
    first.stop()
    state = wait_for(job, "failed")
    assert "smaller learning rate" in state.note
    assert state.snapshots.steps == [0]
    with pytest.raises(ValueError, match="not finite numbers"):
        job.reader()


def test_a_copy_of_the_model_stays_as_it_was_while_training_goes_on(trainings):
    job = started(trainings(), LONG)
    wait_until(lambda: job.look().step >= 3)
    translator = job.reader()
    before = translator.trace("123", "321").logits
    step = job.progress().step
    wait_until(lambda: job.look().step > step + 3)
    assert torch.equal(translator.trace("123", "321").logits, before)
    assert not torch.equal(job.reader().trace("123", "321").logits, before)


@pytest.mark.matrix
def test_training_leaves_other_threads_and_their_chance_as_they_were(trainings):
    threads = torch.get_num_threads()
    job = started(trainings(), SMALL)
    random = torch.get_rng_state()
    wait_for(job, "finished")
    seen = []
    other = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    other.start()
    other.join()
    assert torch.equal(torch.get_rng_state(), random)
    assert torch.get_num_threads() == seen[0] == threads


def open_and_close(line):
    """Visitors who start a training and leave in one way or another; returns what must go."""
    kept = []
    for number in range(4):
        job = started(line, LONG)
        kept.extend(map(weakref.ref, (job, job._model, job._model.model)))
        wait_until(lambda job=job: job.look().status != "running" or job.look().step >= 2)
        if number == 0:
            job.stop()
        elif number == 1:
            job.pause()
        elif number == 2:
            job.pause()
            job.resume()
            job.stop()
        # else the tab is closed: nobody looks any more
    return kept


@pytest.mark.matrix
def test_twenty_trainings_leave_neither_threads_nor_memory_behind():
    line = training_queue(at_once=2, patience=0.2)
    open_and_close(line)  # what is loaded once stays
    wait_until(lambda: not training_threads())
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.take_snapshot()
    references = [reference for _ in range(5) for reference in open_and_close(line)]
    wait_until(lambda: not training_threads())
    gc.collect()
    after = tracemalloc.take_snapshot()
    tracemalloc.stop()
    assert len(references) == 3 * 20
    assert not any(reference() for reference in references)
    grown = sum(entry.size_diff for entry in after.compare_to(before, "filename"))
    assert grown < 500_000
    assert not line.jobs


@pytest.mark.matrix
def test_the_learning_rate_stands_at_the_step_of_its_point(trainings):
    options = replace(SMALL, steps=310)
    state = wait_for(started(trainings(), options), "finished")
    assert len(state.losses) <= POINTS < state.steps
    rates = [learning_rate(int(step), 16, options.settings) for step in state.loss_steps]
    assert state.learning_rates.tolist() == rates


@pytest.mark.parametrize("count", [0, 1, POINTS, POINTS + 1, 10_000])
def test_thinned_points_are_means_of_all_values(count):
    values = np.random.default_rng(0).random(count)
    ends, means = thinned(values, POINTS)
    assert len(ends) == len(means) <= POINTS
    starts = [0, *ends][: len(ends)]
    for start, end, mean in zip(starts, ends, means, strict=True):
        assert mean == pytest.approx(values[start:end].mean())
    assert count == (ends[-1] if count else 0)
