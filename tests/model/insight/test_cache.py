"""What the cache holds, as measured, against the formula and against what each step may see."""

import pytest

from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import Edits
from headlight.model.insight.cache import (
    ABSENT,
    CLOSED,
    COMPUTED,
    READ,
    bytes_at,
    bytes_held,
    cache_states,
    work,
)

SOURCE = "The old house is on the hill."


@pytest.mark.parametrize("strategy", [Strategy(), Strategy("beam", beam_size=3)])
def test_the_cache_of_our_decoder_grows_by_one_key_a_step(translator, strategy):
    steps = translator.write(SOURCE, strategy).steps
    config = translator.model.config
    for number, step in enumerate(steps, start=1):
        own = {site: size for site, size in step.cached.items() if site.kind == "decoder"}
        assert len(own) == config.decoder_layers
        assert {size.keys for size in own.values()} == {number} == {len(step.read)}
        assert {(size.heads, size.window) for size in own.values()} == {(config.heads, None)}
        by_hand = 2 * config.decoder_layers * config.d_model * number * 4  # of float32
        assert bytes_held(step.cached, "decoder") == bytes_at(own.values(), number) == by_hand


def test_each_position_is_computed_once_and_read_ever_after(translator):
    steps = translator.write(SOURCE).steps
    states = cache_states(steps, "decoder")
    for number in range(len(steps)):
        row = [READ] * number + [COMPUTED] + [ABSENT] * (len(steps) - number - 1)
        assert all(layer.tolist() == row for layer in states[number])
    source = cache_states(steps, "cross")
    assert (source[0] == COMPUTED).all()
    assert (source[1:] == READ).all()


def test_a_mask_closes_what_the_cache_still_holds(translator):
    """A student's confusion: a window bounds what is seen; the cache grows as before."""
    edits = Edits(masks={("behind", "decoder"): (2,)}).at_sites(translator.shape, 40)
    steps = translator.write(SOURCE, edits=edits).steps
    last = cache_states(steps, "decoder")[-1]
    count = len(steps)
    assert all(layer.tolist() == [CLOSED] * (count - 2) + [READ, COMPUTED] for layer in last)
    assert {size.keys for site, size in steps[-1].cached.items() if site.kind == "decoder"} == {
        count
    }


def test_nothing_is_held_if_the_decoder_sees_what_comes_later(translator):
    edits = Edits(off=("look-ahead",)).at_sites(translator.shape, 40)
    assert translator.write(SOURCE, edits=edits).steps[-1].cached == {}


@pytest.mark.parametrize(("prompt", "steps"), [(1, 1), (1, 7), (5, 1), (5, 9)])
def test_the_work_is_that_of_counting_step_by_step(prompt, steps):
    tokens = again = held = 0
    for length in range(prompt, prompt + steps):
        again += length
        tokens += length - held
        held = length
    assert work(prompt, steps, cached=True) == tokens
    assert work(prompt, steps, cached=False) == again
