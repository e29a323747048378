import gc
import subprocess
import sys
import time
import weakref

import pytest

from headlight.pages.shared.runs import housekeeping


class Circle:
    """Something that only a collection frees."""

    def __init__(self):
        self.me = self


def wait_for(done, seconds=10):
    deadline = time.monotonic() + seconds
    while not done() and time.monotonic() < deadline:
        time.sleep(0.02)
    return done()


def test_garbage_goes_when_it_has_been_quiet(monkeypatch):
    monkeypatch.setattr(housekeeping, "QUIET", 0.1)
    gc.disable()
    try:
        circle = Circle()
        seen = weakref.ref(circle)
        del circle
        assert seen() is not None
        housekeeping.released()
        assert wait_for(lambda: seen() is None)
    finally:
        gc.enable()


def test_many_releases_in_a_row_are_tidied_up_once_by_one_helper(monkeypatch):
    tidied = []
    monkeypatch.setattr(housekeeping, "QUIET", 0.3)
    monkeypatch.setattr(housekeeping, "tidy", lambda: tidied.append(housekeeping._helper()))
    housekeeping.released()  # what an earlier test left is done with
    wait_for(lambda: tidied)
    tidied.clear()
    for _ in range(5):
        housekeeping.released()
        time.sleep(0.02)
    assert wait_for(lambda: tidied)
    time.sleep(0.5)
    assert len(tidied) == 1
    assert tidied[0].daemon


def test_memory_is_collected_where_the_system_cannot_be_asked(monkeypatch):
    asked = []
    monkeypatch.setattr(housekeeping.ctypes, "CDLL", lambda name: asked.append(name) or object())
    circle = Circle()
    seen = weakref.ref(circle)
    del circle
    housekeeping.tidy()
    assert seen() is None
    assert asked == [None]


def test_what_was_frozen_while_a_visitor_was_there_goes_when_a_session_has_ended(monkeypatch):
    monkeypatch.setattr(housekeeping, "QUIET", 0.1)
    tidied, tidy = [], housekeeping.tidy
    monkeypatch.setattr(housekeeping, "tidy", lambda: tidy() or tidied.append(True))
    circle = Circle()
    seen = weakref.ref(circle)
    housekeeping.freeze()
    del circle
    try:
        housekeeping.released()
        assert wait_for(lambda: tidied)
        assert seen() is not None
        housekeeping.session_ended()
        assert wait_for(lambda: seen() is None)
        assert wait_for(gc.get_freeze_count)
    finally:
        gc.unfreeze()


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc is told what to keep")
def test_freed_memory_is_taken_again_without_the_system_until_all_is_quiet():
    script = """
import resource
import torch
from headlight.model.memory import give_back
from headlight.pages.shared.runs.housekeeping import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(4_000_000)  # 16 MB
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

keep_freed_memory()
first, *_, again = (faults() for _ in range(8))
give_back()
print(first, again, faults())
"""
    output = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    first, again, given_back = map(int, output.split())
    assert again < min(first, given_back) / 10
