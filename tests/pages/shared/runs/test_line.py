from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from pages.shared.runs.line import GoneError, Line


def stay():
    return False


def wait_until(done):
    while not done():
        Event().wait(0.01)


def test_each_has_its_turn_alone_in_the_order_in_which_they_came():
    line, order, go = Line(), [], Event()

    def take(one):
        with line.turn(one, stay):
            go.wait(20)
            order.append((one, line.before(one)))

    with ThreadPoolExecutor(4) as threads:
        turns = []
        for place, one in enumerate("abcd"):
            turns.append(threads.submit(take, one))
            wait_until(lambda place=place, one=one: line.before(one) == place and (
                place or one in line._those))  # fmt: skip
        assert [line.before(one) for one in "abcd"] == [0, 1, 2, 3]
        go.set()
        for turn in turns:
            turn.result(20)
    assert order == [(one, 0) for one in "abcd"]


def test_one_who_is_gone_lets_the_others_pass():
    line, gone = Line(), Event()
    with ThreadPoolExecutor(1) as threads, line.turn("first", stay):

        def take():
            with line.turn("second", gone.is_set):
                raise AssertionError

        turn = threads.submit(take)
        wait_until(lambda: line.before("second") == 1)
        gone.set()
        with pytest.raises(GoneError):
            turn.result(20)
        assert line.before("second") == 0
    with line.turn("third", stay):
        assert line.before("third") == 0


def test_a_turn_that_fails_ends():
    line = Line()
    for _ in range(2):
        with pytest.raises(ValueError, match="no"), line.turn("one", stay):
            raise ValueError("no")
