"""The cache that a model of transformers keeps by its own code: shared heads, and windows."""

from itertools import product

import pytest

from headlight.model.insight.cache import (
    DROPPED,
    bytes_at,
    bytes_held,
    cache_states,
    write_evicting,
)
from headlight.model.library.transformers_loading import load_transformers_reader
from tests.model.library.conftest import LATENT, SIZE, save_model
from tests.model.library.families import DECODERS, PAIRS

TEXT = "I love my cat and my dog."
LATENT_FAMILY = "DeepseekV3ForCausalLM", "DeepseekV3Config", LATENT | {"kv_lora_rank": 10}
WINDOW = 7
MIXED = {"sliding_window": WINDOW, "layer_types": ["sliding_attention", "full_attention"]}
MIXED_FAMILY = "Gemma3ForCausalLM", "Gemma3TextConfig", SIZE | MIXED | {"head_dim": 4}
WRITING = DECODERS | PAIRS | {"DeepSeek-V3": LATENT_FAMILY, "mixed": MIXED_FAMILY}


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


@pytest.fixture(scope="module")
def load_family(tmp_path_factory, pairs):
    """A function from the name of a family that writes to a reader of its tiny model."""

    def load(name):
        folder = tmp_path_factory.mktemp("family")
        model, config, options = WRITING[name]
        texts, options = [text for pair in pairs for text in pair], options | {"vocab_size": 400}
        save_model(folder, texts, model, config, options, None)
        return load_transformers_reader(folder)

    return load


@pytest.mark.parametrize("name", WRITING)
def test_the_measured_bytes_are_those_of_the_formula(name, load_family):
    """Also at a length other than that at which a position was measured."""
    reader = load_family(name)
    first, *_, last = reader.write(TEXT, longest=6).steps
    for kind in {site.kind for site in last.cached} - {"encoder"}:
        sizes = [size for site, size in last.cached.items() if site.kind == kind]
        length = len(last.read) if kind == "decoder" else sizes[0].keys
        assert bytes_held(last.cached, kind) == bytes_at(sizes, length) > 0
    early = [size for site, size in first.cached.items() if site.kind == "decoder"]
    assert bytes_held(last.cached, "decoder") == bytes_at(early, len(last.read))
    assert ("cross" in reader.shape.kinds) == any(site.kind == "cross" for site in last.cached)


def test_keys_and_values_of_other_widths_are_counted_as_they_are(load_family):
    step = load_family("DeepSeek-V3").write(TEXT, longest=5).steps[-1]
    by_hand = 2 * (10 + 4) * len(step.read) * 4  # layers, a latent and its turned part, float32
    assert bytes_at(step.cached.values(), len(step.read)) == by_hand
    assert bytes_held(step.cached, "decoder") == by_hand


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


def kept_by_loops(policy, budget, window, prompt, queries):
    """Which keys each query after the prompt sees, if a layer's own window holds only some."""
    sinks = min(4, budget // 2) if policy == "sinks" else 0
    kept, seen = {*range(prompt)}, []
    for query in range(prompt, prompt + queries):
        last = {*range(query - (budget - sinks), query)}
        kept = {key for key in kept if key < sinks or key in last}
        kept = {key for key in kept if key > query - window}
        seen.append(kept | {query})
        kept |= {query}
    return seen


@pytest.mark.parametrize("policy", ["sinks", "window"])
def test_sinks_are_the_first_tokens_also_in_a_layer_with_a_window(policy, load_family):
    """A key that the layer's own window has dropped is no sink, and does not come back."""
    prompts, reader = set(), load_family("mixed")
    for text, budget in product(["I", "I love my", TEXT], [2, 4, 5, 6, 9]):
        first, *steps = write_evicting(reader, text, policy, budget, longest=12).steps
        prompts.add(prompt := len(first.read))
        for site, window in zip(sorted(first.visible), (WINDOW, 99), strict=True):
            expected = kept_by_loops(policy, budget, window, prompt, len(steps))
            for step, keys in zip(steps, expected, strict=True):
                for head in step.visible[site]:
                    assert {*head.nonzero().flatten().tolist()} == keys, (text, budget, site)
    assert min(prompts) < WINDOW < max(prompts)
