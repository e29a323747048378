import threading
import time

import pytest

from model.job_queue import JobQueue, QueueFullError


class Gate:
    """Work that goes on until it is let through."""

    def __init__(self, result=None):
        self.began, self.open, self.result = threading.Event(), threading.Event(), result

    def __call__(self):
        self.began.set()
        assert self.open.wait(60)
        return self.result


@pytest.fixture
def gates():
    made = []

    def make(count):
        made.extend(Gate(number) for number in range(count))
        return made

    yield make
    for gate in made:
        gate.open.set()


def threads(name):
    return [thread for thread in threading.enumerate() if thread.name == name]


def wait_until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.002)


def test_jobs_run_in_order_and_give_their_results(gates):
    queue, work = JobQueue("in order", 1, 10), gates(3)
    jobs = [queue.submit(gate) for gate in work]
    for number, (gate, job) in enumerate(zip(work, jobs, strict=True)):
        assert gate.began.wait(60)
        assert [queue.place(each) for each in jobs[number:]] == list(range(3 - number))
        assert not any(later.began.is_set() for later in work[number + 1 :])
        gate.open.set()
        assert job.result(60) == number


@pytest.mark.parametrize("at_once", [1, 3])
def test_no_more_run_at_once_than_may(gates, at_once):
    queue, work = JobQueue(f"at once {at_once}", at_once, 10), gates(5)
    jobs = [queue.submit(gate) for gate in work]
    assert [job.running() for job in jobs] == [True] * at_once + [False] * (5 - at_once)
    assert len(threads(f"at once {at_once}")) == at_once
    for gate in work:
        gate.open.set()
    assert [job.result(60) for job in jobs] == [0, 1, 2, 3, 4]


def test_a_full_line_refuses_more(gates):
    queue, work = JobQueue("full", 1, 2), gates(4)
    jobs = [queue.submit(gate) for gate in work[:3]]
    with pytest.raises(QueueFullError, match=r"^2 jobs are waiting already") as caught:
        queue.submit(work[3])
    assert caught.value.waiting == 2
    assert jobs[1].cancel()
    assert queue.place(queue.submit(work[3])) == 2


def test_a_job_that_leaves_the_line_never_runs_and_lets_the_others_forward(gates):
    queue, work = JobQueue("leaving", 1, 10), gates(3)
    first, second, third = (queue.submit(gate) for gate in work)
    assert second.cancel()
    assert (queue.place(second), queue.place(third)) == (0, 1)
    assert not first.cancel()
    for gate in work:
        gate.open.set()
    assert third.result(60) == 2
    assert not work[1].began.is_set()
    assert second.cancelled()


def test_what_fails_stops_no_other(gates):
    queue, (gate,) = JobQueue("failing", 1, 10), gates(1)
    failing = queue.submit(lambda: 1 / 0)
    following = queue.submit(gate)
    gate.open.set()
    with pytest.raises(ZeroDivisionError):
        failing.result(60)
    assert following.result(60) == 0


def test_the_next_has_begun_when_a_result_is_there(gates):
    queue, work = JobQueue("next", 1, 10), gates(2)
    first, second = (queue.submit(gate) for gate in work)
    work[0].open.set()
    first.result(60)
    assert second.running()


def test_a_job_that_is_joined_has_no_thread(gates):
    queue, (gate,) = JobQueue("joined", 1, 10), gates(1)
    job = queue.submit(gate)
    assert threads("joined")[0].daemon
    gate.open.set()
    job.join()
    assert not threads("joined")
    assert job.work is None
