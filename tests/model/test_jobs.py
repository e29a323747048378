import threading
import time

import pytest

from headlight.model.jobs import Job, JobQueue


class Gate(Job):
    """A job that takes steps until it is let through."""

    def __init__(self, queue, result=None):
        super().__init__(queue)
        self.began, self.open, self.value = threading.Event(), threading.Event(), result
        self.unwanted, self.closed = "", 0

    def work(self):
        self.began.set()
        while not self.open.wait(0.005):
            self.check()
            self.done += 1
        return self.value

    def close(self):
        self.closed += 1

    def neglected(self):
        return self.unwanted


class Failing(Job):
    def work(self):
        raise MemoryError("too little memory")


@pytest.fixture
def gates():
    made = []

    def make(queue, count):
        made.extend(Gate(queue, number) for number in range(count))
        return made

    yield make
    for gate in made:
        gate.open.set()
        gate.stop()


def started(jobs):
    for job in jobs:
        job.resume()
    return jobs


def result(job):
    job.join(60)
    assert job.status == "finished", job.note
    return job.result


def places(jobs):
    return [job.state().place for job in jobs]


def threads(name):
    return [thread for thread in threading.enumerate() if thread.name == name]


def wait_until(true, seconds=300):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.002)


def test_jobs_run_in_order_and_give_their_results(gates):
    jobs = started(gates(JobQueue("in order", 1, 10), 3))
    for number, job in enumerate(jobs):
        assert job.began.wait(60)
        assert places(jobs[number:]) == list(range(3 - number))
        assert not any(later.began.is_set() for later in jobs[number + 1 :])
        job.open.set()
        assert result(job) == number


@pytest.mark.parametrize("at_once", [1, 3])
def test_no_more_run_at_once_than_may(gates, at_once):
    jobs = started(gates(JobQueue(f"at once {at_once}", at_once, 10), 5))
    statuses = [job.status for job in jobs]
    assert statuses == ["running"] * at_once + ["waiting"] * (5 - at_once)
    assert len(threads(f"at once {at_once}")) == at_once
    for job in jobs:
        job.open.set()
    assert [result(job) for job in jobs] == [0, 1, 2, 3, 4]


def test_a_full_line_refuses_more(gates):
    jobs = gates(JobQueue("full", 1, 2), 4)
    started(jobs[:3])
    with pytest.raises(ValueError, match=r"^2 jobs are waiting already"):
        jobs[3].resume()
    assert jobs[3].status == "paused"
    jobs[1].stop()
    jobs[3].resume()
    assert places(jobs) == [0, 0, 1, 2]


@pytest.mark.parametrize("leave", [Job.stop, Job.pause])
def test_a_job_that_leaves_the_line_never_runs_and_lets_the_others_forward(gates, leave):
    jobs = started(gates(JobQueue("leaving", 1, 10), 3))
    leave(jobs[1])
    assert places(jobs) == [0, 0, 1]
    assert not jobs[1].is_active
    jobs[0].open.set()
    jobs[2].open.set()
    assert result(jobs[2]) == 2
    assert not jobs[1].began.is_set()


def test_a_paused_job_goes_on_where_it_was_after_those_in_line(gates):
    queue = JobQueue("pausing", 1, 10)
    first, second = gates(queue, 2)
    first.resume()
    wait_until(lambda: first.done > 2)
    first.pause()
    assert (first.state(), threads("pausing")) == (("paused", "", 0), [])
    done, seconds = first.done, first.seconds
    assert seconds > 0
    second.resume()
    first.resume()
    assert places([second, first]) == [0, 1]
    assert (first.seconds, first.closed) == (seconds, 0)
    second.open.set()
    wait_until(lambda: first.done > done)
    first.open.set()
    assert result(first) == 0
    wait_until(lambda: first.seconds > seconds)
    first.resume()
    first.pause()
    assert first.status == "finished"


def test_a_stopped_job_ends_for_good_and_is_closed_once(gates):
    paused, running, waiting = started(gates(JobQueue("stopping", 1, 10), 3))
    paused.pause()
    for job in (running, paused, waiting):
        job.stop()
        job.resume()
        assert (job.status, job.closed, job.result) == ("stopped", 1, None)
    assert not threads("stopping")


def test_what_nobody_wants_is_paused_whether_it_waits_or_runs(gates):
    queue = JobQueue("unwanted", 1, 10)
    jobs = started(gates(queue, 3))
    jobs[1].unwanted = "Nobody looks."
    assert places(jobs) == [0, 0, 1]
    assert jobs[1].state() == ("paused", "Nobody looks.", 0)
    jobs[0].unwanted = "Nobody looks."
    jobs[0].join(60)
    assert jobs[0].state() == ("paused", "Nobody looks.", 0)
    assert jobs[2].status == "running"
    jobs[0].unwanted = ""
    jobs[0].resume()
    assert jobs[0].state() == ("waiting", "", 1)


def test_what_fails_stops_no_other_and_says_why(gates):
    queue = JobQueue("failing", 1, 10)
    failing, (gate,) = Failing(queue), gates(queue, 1)
    started([failing, gate])
    gate.open.set()
    assert result(gate) == 0
    assert failing.state() == ("failed", "too little memory", 0)


def test_a_job_that_cannot_be_closed_has_failed(gates, monkeypatch):
    queue = JobQueue("closing", 1, 10)
    job, following = gates(queue, 2)
    job.close = lambda: 1 / 0
    started([job, following])
    job.open.set()
    job.join(60)
    assert job.state() == ("failed", "division by zero", 0)
    assert following.status == "running"
    del job.close


def test_the_next_has_begun_when_a_result_is_there(gates):
    first, second = started(gates(JobQueue("next", 1, 10), 2))
    first.open.set()
    result(first)
    assert second.status == "running"


def test_the_time_that_is_left_is_known_from_the_steps_so_far(gates):
    (job,) = gates(JobQueue("timed", 1, 10, longest=5.0), 1)
    job.total = 10**9
    assert job.seconds_left() is None
    job.resume()
    wait_until(lambda: job.done > 2)
    assert 0 < job.seconds_left() <= 5.0
    job.stop()
    assert job.seconds_left() == 0.0


def test_threads_are_daemons_and_end_with_their_job(gates):
    (job,) = started(gates(JobQueue("daemons", 1, 10), 1))
    assert threads("daemons")[0].daemon
    job.stop()
    assert not threads("daemons")
