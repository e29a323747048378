"""The cache that a model of transformers keeps by its own code: shared heads, and windows."""

import pytest

from headlight.model.insight.cache import (
    DROPPED,
    bytes_at,
    bytes_held,
    cache_states,
    write_evicting,
)
from headlight.model.library.transformers_loading import load_transformers_reader

TEXT = "I love my cat and my dog."


@pytest.fixture(scope="module")
def mixed(mixed_folder):
    """Two layers, the first with a window of four; four heads share two keys."""
    return load_transformers_reader(mixed_folder)


def test_a_layer_with_a_window_stops_growing(mixed):
    steps = mixed.write(TEXT, longest=6).steps
    for step in steps:
        window, full = (step.cached[site] for site in sorted(step.cached))
        assert (window.keys, full.keys) == (min(len(step.read), 3), len(step.read))
        assert (window.window, full.window) == (3, None)
    states = cache_states(steps, "decoder")
    held = [int((layer != DROPPED).sum()) for layer in states[-1]]
    assert held == [4, len(steps[-1].read)]  # the three held, and the new one


@pytest.mark.parametrize("name", ["Llama", "GPT-2", "T5"])
def test_the_measured_bytes_are_those_of_the_formula(name, load):
    step = load(name).write(TEXT, longest=5).steps[-1]
    own = {site: size for site, size in step.cached.items() if site.kind == "decoder"}
    heads = {len(step.weights[site]) for site in own}
    assert {size.heads for size in own.values()} == ({2} if name == "Llama" else heads)
    assert bytes_held(step.cached, "decoder") == bytes_at(own.values(), len(step.read)) > 0
    assert (name == "T5") == any(site.kind == "cross" for site in step.cached)


def test_shared_keys_and_windows_are_counted_once_a_group(mixed):
    step = mixed.write(TEXT, longest=6).steps[-1]
    expected = sum(2 * 2 * 4 * size.keys * 4 for size in step.cached.values())
    assert bytes_held(step.cached, "decoder") == expected
    assert bytes_at(step.cached.values(), len(step.read)) == expected


@pytest.mark.parametrize("name", ["Llama", "GPT-2"])
def test_a_model_of_transformers_evicts_what_its_mask_would_close_after_the_prompt(name, load):
    reader = load(name)
    evicting = write_evicting(reader, TEXT, "window", 3, longest=6).steps
    prompt = len(evicting[0].read)
    assert all(visible.all() for visible in evicting[0].visible.values())
    for step in evicting[1:]:
        for visible in step.visible.values():
            assert visible.sum(dim=1).tolist() == [4] * len(visible)
            assert visible[:, -4:].all()
    assert len(evicting[-1].read) == prompt + len(evicting) - 1
