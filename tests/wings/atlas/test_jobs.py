"""Visitors' texts counted behind their pages."""

import logging
from functools import reduce
from threading import Event

import numpy as np
import pytest

from headlight.model.corpus import WINDOW, CorpusLine, Window, as_windows
from headlight.wings.atlas import jobs
from headlight.wings.atlas.counting import LARGE, Count, count_window, merge
from headlight.wings.atlas.figures import figures
from headlight.wings.atlas.files import about_of
from headlight.wings.atlas.jobs import OWN, CountJob, count_queue

SECRET = "A secret sentence."


@pytest.fixture(scope="module")
def text(pairs):
    return "".join(f"{source}\t{target}\n" for source, target in (pairs * 9)[:40]).encode()


@pytest.fixture
def held(monkeypatch):
    """Counts wait before each window until the event is set."""
    event = Event()
    count_window = jobs.count_window

    def waiting(*args):
        assert event.wait(60)
        return count_window(*args)

    monkeypatch.setattr(jobs, "count_window", waiting)
    yield event
    event.set()


def started(queue, *what):
    job = CountJob(queue, *what)
    job.resume()
    return job


def ended(job):
    job.join(60)
    assert not job.is_active
    return job


def test_the_figures_are_those_of_a_plain_count(shipped, text):
    job = ended(started(count_queue(), shipped, "mine", as_windows(text, 2_000)))
    assert job.status == "finished"
    about = about_of(shipped, "mine", OWN, WINDOW)
    whole = [count_window(shipped, window, about) for window in as_windows(text, 2_000).windows]
    expected = reduce(merge, whole, Count(about))
    assert job.result.count.lines == expected.lines == {"counted": 40}
    for kind in shipped.shape.kinds:
        for name, figure in figures(expected, kind).items():
            result = job.result.atlas.kinds[kind].figures[name].mean
            np.testing.assert_allclose(result, figure.mean, rtol=1e-6, atol=1e-7, err_msg=name)
    assert {example["line"][0] for example in job.result.atlas.examples} <= set(range(40))
    assert job.done == job.total == 40


def test_those_in_line_know_their_place_and_too_many_are_refused(shipped, text, held):
    counts = count_queue(at_once=1, waiting=1)
    first, second = (started(counts, shipped, "mine", as_windows(text, 3)) for _ in range(2))
    assert (first.state().place, second.state().place) == (0, 1)
    with pytest.raises(ValueError, match="1 texts are already waiting to be counted: try again"):
        started(counts, shipped, "mine", as_windows(text, 3))
    second.stop(wait=False)
    held.set()
    assert ended(first).status == "finished"
    assert (second.status, second.done) == ("stopped", 0)


def test_nothing_comes_of_a_count_that_is_cancelled(shipped, text, held):
    job = started(count_queue(), shipped, "mine", as_windows(text, 2_000))
    job.stop(wait=False)
    held.set()
    ended(job)
    assert (job.status, job.result) == ("stopped", None)
    assert job.done <= WINDOW


def test_when_time_is_up_what_was_counted_is_kept_and_told(shipped, text, monkeypatch):
    monkeypatch.setattr(jobs.CountJob, "seconds", property(lambda job: 700.0 * (job.done > 0)))
    job = ended(started(count_queue(longest=600), shipped, "mine", as_windows(text, 2_000)))
    assert job.result.count.sentences == WINDOW
    assert job.notes == ["Stopped after 600 seconds, the limit: 32 of 40 lines were counted."]


def test_sentences_that_would_take_too_much_memory_are_left_out(shipped, monkeypatch):
    lines = [CorpusLine(0, "Go on.", "Va."), CorpusLine(1, "No " * 100, "Non.")]
    count = count_window(shipped, Window(0, lines), {}, most=88 * 50**2)
    assert count.lines == {"counted": 1, LARGE: 1}
    monkeypatch.setattr(jobs, "MOST_NUMBERS", 1)
    job = ended(started(count_queue(), shipped, "mine", as_windows(b"Go on.\tVa.\n", 10)))
    assert job.status == "failed"
    assert job.note == f"No line of this text can be counted: 1 line: {LARGE}."


def test_no_log_holds_what_a_visitor_typed(shipped, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError(SECRET)

    monkeypatch.setattr(jobs, "count_window", broken)
    with caplog.at_level(logging.DEBUG):
        job = ended(started(count_queue(), shipped, "mine", as_windows(SECRET.encode(), 10)))
    assert job.note == "The count failed (RuntimeError): try a shorter text or another model."
    assert "A count failed: RuntimeError" in caplog.text
    assert SECRET not in caplog.text


def test_an_ended_count_holds_neither_the_model_nor_the_text(shipped, text):
    job = ended(started(count_queue(), shipped, "mine", as_windows(text, 5)))
    held = [value for value in vars(job).values() if value is shipped or isinstance(value, tuple)]
    assert held == []
