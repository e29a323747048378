import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")

from headlight.pages.server import handles  # noqa: E402
from headlight.pages.server.handles import few_visitors, raise_limit  # noqa: E402

NO_LIMIT = resource.RLIM_INFINITY


class System:
    """A system that lets a process have `hard` files open, and takes no more than `cap`."""

    RLIMIT_NOFILE, RLIM_INFINITY = resource.RLIMIT_NOFILE, NO_LIMIT

    def __init__(self, soft, hard, cap=1 << 20):
        self.now, self.cap = (soft, hard), cap

    def getrlimit(self, kind):
        return self.now

    def setrlimit(self, kind, limits):
        if limits[0] > self.cap:
            raise ValueError("current limit exceeds maximum limit")
        self.now = limits


@pytest.mark.parametrize(
    ("system", "raised"),
    [
        (System(256, NO_LIMIT, cap=10_240), 10_240),  # macOS
        (System(256, NO_LIMIT, cap=1_000), 256),
        (System(1_024, 524_288), 65_536),
        (System(256, 4_096), 4_096),
        (System(256, 256), 256),
        (System(1 << 20, 1 << 20), 1 << 20),
        (System(NO_LIMIT, NO_LIMIT), NO_LIMIT),
    ],
)
def test_the_limit_is_raised_to_what_the_system_takes(monkeypatch, system, raised):
    monkeypatch.setattr(handles, "resource", system)
    raise_limit()
    assert system.getrlimit(0)[0] == raised


def test_a_process_that_is_started_with_few_files_has_more():
    program = "import resource as r; from headlight.pages.server.handles import raise_limit\n"
    program += "_, hard = r.getrlimit(r.RLIMIT_NOFILE); r.setrlimit(r.RLIMIT_NOFILE, (64, hard))\n"
    program += "raise_limit(); print(r.getrlimit(r.RLIMIT_NOFILE)[0])"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
    assert int(said) > 64


@pytest.mark.parametrize(("most", "said"), [(256, "256 files, enough for some 98"), (40, "some 0")])
def test_it_says_for_how_many_visitors_few_files_are_enough(monkeypatch, most, said):
    monkeypatch.setattr(handles, "resource", System(most, most))
    assert said in few_visitors()


@pytest.mark.parametrize("system", [System(1_024, 1_024), System(NO_LIMIT, NO_LIMIT), None])
def test_of_many_it_says_nothing(monkeypatch, system):
    monkeypatch.setattr(handles, "resource", system)
    raise_limit()
    assert few_visitors() == ""
