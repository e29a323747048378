"""The cache, against the formula and what each step may see; evictions, against masks."""

import pytest
import torch
from torch.testing import assert_close

from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import Edits
from headlight.model.insight.cache import (
    ABSENT,
    CLOSED,
    COMPUTED,
    POLICIES,
    READ,
    bytes_at,
    bytes_held,
    cache_states,
    first_difference,
    keep_heaviest,
    work,
    write_evicting,
)

TEXT = "The old house is on the hill."
LONGEST = 12


@pytest.mark.parametrize("strategy", [Strategy(), Strategy("beam", beam_size=3)])
def test_the_cache_of_our_decoder_grows_by_one_key_a_step(translator, strategy):
    steps = translator.write(TEXT, strategy).steps
    config = translator.model.config
    for number, step in enumerate(steps, start=1):
        own = {site: size for site, size in step.cached.items() if site.kind == "decoder"}
        assert len(own) == config.decoder_layers
        assert {size.keys for size in own.values()} == {number} == {len(step.read)}
        assert {(size.heads, size.window) for size in own.values()} == {(config.heads, None)}
        by_hand = 2 * config.decoder_layers * config.d_model * number * 4  # of float32
        assert bytes_held(step.cached, "decoder") == bytes_at(own.values(), number) == by_hand


def test_each_position_is_computed_once_and_read_ever_after(translator):
    steps = translator.write(TEXT).steps
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
    steps = translator.write(TEXT, edits=edits).steps
    last = cache_states(steps, "decoder")[-1]
    count = len(steps)
    assert all(layer.tolist() == [CLOSED] * (count - 2) + [READ, COMPUTED] for layer in last)
    assert {size.keys for site, size in steps[-1].cached.items() if site.kind == "decoder"} == {
        count
    }


def test_nothing_is_held_if_the_decoder_sees_what_comes_later(translator):
    edits = Edits(off=("look-ahead",)).at_sites(translator.shape, 40)
    assert translator.write(TEXT, edits=edits).steps[-1].cached == {}


@pytest.mark.parametrize(("prompt", "steps"), [(1, 1), (1, 7), (5, 1), (5, 9)])
def test_the_work_is_that_of_counting_step_by_step(prompt, steps):
    tokens = again = held = 0
    for length in range(prompt, prompt + steps):
        again += length
        tokens += length - held
        held = length
    assert work(prompt, steps, cached=True) == tokens
    assert work(prompt, steps, cached=False) == again


def ids(decoding):
    return [token.id for token in decoding.writing.target_tokens]


@pytest.mark.parametrize("budget", [99, 10**30])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_cache_that_is_large_enough_changes_nothing(policy, budget, translator):
    plain = translator.write(TEXT, longest=LONGEST)
    evicting = write_evicting(translator, TEXT, policy, budget, longest=LONGEST)
    assert ids(plain) == ids(evicting)
    assert first_difference(plain, evicting) is None
    for before, after in zip(plain.steps, evicting.steps, strict=True):
        assert torch.equal(before.log_probabilities, after.log_probabilities)


@pytest.mark.parametrize("budget", [1, 2, 5])
def test_a_window_is_the_mask_of_a_window_behind(budget, translator):
    """The cache holds `budget` earlier keys, and a query sees itself next to them."""
    masks = {("behind", "decoder"): (budget + 1,)}
    edits = Edits(masks=masks).at_sites(translator.shape, 40)
    masked = translator.write(TEXT, longest=LONGEST, edits=edits)
    evicting = write_evicting(translator, TEXT, "window", budget, longest=LONGEST)
    assert ids(masked) == ids(evicting)
    for before, after in zip(masked.steps, evicting.steps, strict=True):
        assert_close(before.log_probabilities, after.log_probabilities)
        for site, visible in before.visible.items():
            assert torch.equal(visible, after.visible[site])


def test_sinks_and_a_window_are_their_mask(translator):
    edits = Edits(masks={("sinks", "decoder"): (2, 3)}).at_sites(translator.shape, 40)
    masked = translator.write(TEXT, longest=LONGEST, edits=edits)
    evicting = write_evicting(translator, TEXT, "sinks", 4, longest=LONGEST)
    assert ids(masked) == ids(evicting)


def test_the_heaviest_are_those_with_the_largest_sums_of_weights(translator):
    steps = write_evicting(translator, TEXT, "heaviest", 4, longest=LONGEST).steps
    for site in (site for site in steps[0].weights if site.kind == "decoder"):
        for head in range(len(steps[0].weights[site])):
            sums: list[float] = []
            kept: list[int] = []
            for step in steps:
                sums.append(0.0)
                seen = step.visible[site][head].nonzero().flatten().tolist()
                assert seen == [*kept, len(sums) - 1]
                weights = step.weights[site][head].tolist()
                sums = [total + weight for total, weight in zip(sums, weights, strict=True)]
                heaviest = sorted(seen[:-2], key=lambda key: -sums[key])[:2]
                kept = sorted([*heaviest, *seen[-2:]])


def test_half_are_the_heaviest_and_an_evicted_key_never_comes_back():
    sums = torch.tensor([[0.1, 3.0, -torch.inf, 2.0, 0.2, 0.3, 0.4]])
    assert keep_heaviest(sums, 4)[0].tolist() == [False, True, False, True, False, True, True]


def test_the_first_difference_counts_tokens(translator):
    plain = translator.write(TEXT, longest=LONGEST)
    short = translator.write(TEXT, longest=3)
    assert first_difference(plain, short) == 3
