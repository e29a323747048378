"""The queue to the models: few at once, in turns, and those alike in one batch."""

import gc
import weakref
from threading import Event

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headlight.pages.shared.runs.queue import BATCH_CELLS, Queue, Work
from tests.pages.shared.runs.asking import Asked, waiters


class Written:
    """Something that can be watched while it is kept."""


class TurnedAway(BaseException):
    """What stops a script whose visitor has turned away."""


class Slow:
    """A computation that says that it has begun, and ends when it is told to."""

    def __init__(self, *outcomes):
        self.begun, self.go, self.outcomes = Event(), Event(), list(outcomes)
        self.times = 0

    def __call__(self):
        self.times += 1
        outcome = self.outcomes.pop(0)
        self.begun.set()
        assert self.go.wait(20)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


@pytest.fixture
def queue():
    return Queue(1)


@pytest.fixture
def waiting():
    with waiters() as count:
        yield count


def ask(queue, question, function):
    return Asked(lambda: queue.answer(question, Work.alone(function)))


def both(queue, slow, waiting):
    """One who asks, and another who asks the same before the answer is there."""
    first = ask(queue, "question", slow)
    assert slow.begun.wait(20)
    second = ask(queue, "question", slow)
    assert waiting.acquire(timeout=20)
    slow.go.set()
    return first.join(), second.join()


def test_it_is_computed_once_and_nothing_is_kept(queue, waiting):
    slow = Slow(Written())
    first, second = both(queue, slow, waiting)
    assert slow.times == 1
    assert isinstance(first.got, Written)
    assert first.got is second.got
    assert len(queue) == 0
    kept = weakref.ref(first.got)
    first.got = second.got = None
    gc.collect()
    assert kept() is None


def test_a_failure_reaches_both_and_is_not_kept(queue, waiting):
    first, second = both(queue, Slow(ValueError("There is nothing to read.")), waiting)
    assert str(first.raised) == str(second.raised) == "There is nothing to read."
    assert queue.answer("question", Work.alone(lambda: "an answer")) == "an answer"


def test_who_turns_away_does_not_take_the_answer_from_others(queue, waiting):
    slow = Slow(TurnedAway(), "an answer")
    first, second = both(queue, slow, waiting)
    assert isinstance(first.raised, TurnedAway)
    assert second.got == "an answer"
    assert slow.times == 2
    assert len(queue) == 0


def test_as_many_run_as_there_are_turns_and_the_others_wait(waiting):
    queue, slow = Queue(2), [Slow("one"), Slow("two"), Slow("three")]
    asked = [ask(queue, each, each) for each in slow[:2]]
    assert all(each.begun.wait(20) for each in slow[:2])
    asked.append(ask(queue, slow[2], slow[2]))
    assert waiting.acquire(timeout=20)
    assert not slow[2].begun.is_set()
    slow[0].go.set()
    assert slow[2].begun.wait(20)
    for each in slow:
        each.go.set()
    assert [each.join().got for each in asked] == ["one", "two", "three"]


def test_a_call_within_a_call_does_not_wait_for_its_own_turn(queue):
    inner = Work.alone(lambda: "inner")
    assert queue.answer("outer", Work.alone(lambda: queue.answer("inner", inner))) == "inner"


@st.composite
def visitors(draw):
    """Visitors who ask: a question, what it can be computed with, its length, and their stay."""
    several = draw(st.lists(st.integers(0, 9), min_size=1, max_size=12))
    alike = draw(st.lists(st.sampled_from([None, "en-fr", "own"]), min_size=10, max_size=10))
    lengths = draw(st.lists(st.sampled_from([8, 64, 200]), min_size=10, max_size=10))
    leave = draw(st.lists(st.booleans(), min_size=len(several), max_size=len(several)))
    stays = zip(several, leave, strict=True)
    return [(question, alike[question], lengths[question], gone) for question, gone in stays]


@settings(max_examples=40, deadline=None)
@given(visitors=visitors(), failing=st.sets(st.integers(0, 9), max_size=3))
def test_each_gets_their_own_answer_or_error_whoever_computes_and_leaves(visitors, failing):
    queue, batches, hold = Queue(1), [], Slow("held")

    def work(question, alike, length, leaves):
        def compute(requests):
            batches.append(requests)
            for number, (asked, *_) in enumerate(requests):
                if leaves and number == len(requests) // 2:
                    raise TurnedAway
                if asked in failing:
                    raise ValueError(asked)
                yield f"the answer to {asked}"

        return Work(compute, (question, alike, length), alike, length)

    with waiters() as waiting:
        holder = ask(queue, "holder", hold)
        assert hold.begun.wait(20)
        asked = []
        for visitor in visitors:  # one after the other, as they stand in the queue
            asked.append(Asked(lambda v=visitor: queue.answer(v[0], work(*v))))
            assert waiting.acquire(timeout=20)
        hold.go.set()
        assert holder.join().got == "held"
        for answer, (question, _, _, leaves) in zip(asked, visitors, strict=True):
            answer.join()
            if isinstance(answer.raised, TurnedAway):
                assert leaves
            elif question in failing:
                assert answer.raised.args == (question,)
            else:
                assert answer.got == f"the answer to {question}"
    assert len(queue) == 0
    for batch in batches:
        assert len({alike for _, alike, _ in batch}) == 1
        assert len(batch) == 1 or batch[0][1] is not None
        assert len(batch) == 1 or len(batch) * max(at[2] for at in batch) ** 2 <= BATCH_CELLS


def test_those_who_wait_for_the_same_are_one_batch_in_the_order_in_which_they_came(queue, waiting):
    hold, batches = Slow("held"), []

    def compute(requests):
        batches.append(requests)
        return [request.upper() for request in requests]

    holder = ask(queue, "holder", hold)
    assert hold.begun.wait(20)
    asked = []
    for text, alike in [("a", 1), ("b", 2), ("c", 1), ("d", None), ("e", 1)]:
        work = Work(compute, text, alike, 8)
        asked.append(Asked(lambda text=text, work=work: queue.answer(text, work)))
        assert waiting.acquire(timeout=20)
    hold.go.set()
    assert [each.join().got for each in (holder, *asked)] == ["held", *"ABCDE"]
    assert batches == [["a", "c", "e"], ["b"], ["d"]]
