"""Hostile inputs: made from a seed, counted rightly, and a few of each kind tried."""

import random
from types import SimpleNamespace

import pytest

from bench.hostile.__main__ import against_server, talk_files
from bench.hostile.addresses import address
from bench.hostile.damaged import damaged
from bench.hostile.messages import message
from bench.hostile.tally import Tally, table, try_all
from headlight.pages.talks.talk_file import read_talk
from tests.apart import run_apart

IDS = {key: f"$$ID-0-{key}" for key in ("sentence", "layer", "head")}


@pytest.mark.parametrize(
    "made",
    [
        address,
        lambda chance: message(chance, IDS),
        lambda chance: damaged(b"All cows eat grass.", chance),
        lambda chance: [*talk_files(3, chance)],
    ],
)
def test_a_seed_makes_the_same_inputs_again(made):
    first, again, other = (made(random.Random(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_what_is_read_or_refused_is_no_failure_and_all_else_is():
    def read(data):
        if data == b"refused":
            raise ValueError("No.")
        if data == b"wrong":
            raise IndexError("list index out of range")

    sizes = iter([100, 350])
    tally = try_all("files", [b"good", b"refused", b"wrong"], read, lambda: next(sizes))
    assert tally.inputs == 3
    assert tally.failures == ["IndexError: list index out of range"]
    assert tally.slowest > 0
    assert tally.grown == 250
    assert "IndexError" in table([tally])
    assert table([Tally("none")]).count("\n") == 2


def test_talks_are_read_or_refused():
    talks = try_all("talks", talk_files(60, random.Random(0)), read_talk, int)
    assert talks.failures == []


@pytest.mark.matrix
def test_a_server_draws_its_pages_whatever_it_is_sent():
    counts = SimpleNamespace(addresses=5, messages=5)
    for tally in run_apart(against_server(counts, seed=0)):
        assert tally.failures == []
        assert tally.inputs == 5
