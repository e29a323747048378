import gc
import time
import weakref

from pages.shared.runs import housekeeping


class Circle:
    """Something that only a collection frees."""

    def __init__(self):
        self.me = self


def test_garbage_goes_when_it_has_been_quiet(monkeypatch):
    monkeypatch.setattr(housekeeping, "QUIET", 0.1)
    gc.disable()
    try:
        circle = Circle()
        seen = weakref.ref(circle)
        del circle
        assert seen() is not None
        housekeeping.released(None)
        deadline = time.monotonic() + 10
        while seen() is not None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert seen() is None
    finally:
        gc.enable()


def test_one_helper_serves_all():
    for _ in range(3):
        housekeeping.released(None)
    assert housekeeping._helper() is housekeeping._helper()
    assert housekeeping._helper().daemon


def test_memory_is_tidied_where_the_system_cannot_be_asked(monkeypatch):
    monkeypatch.setattr(housekeeping.ctypes, "CDLL", lambda name: object())
    housekeeping.tidy()
