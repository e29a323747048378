"""The masks of a run, against transformers' own functions and configs; and what a mask leaves."""

import pytest
import torch
from transformers import masking_utils

from headlight.model.edits import EXTRA, Edits
from headlight.model.edits.masks import all_cells
from headlight.model.insight.masks import REACH_WITHIN, cost, own_masks, reach_in
from headlight.model.library.transformers_loading import load_transformers_reader
from headlight.model.transformer.trace import Site
from tests.matrix import first_of
from tests.model.library.conftest import END_ONLY, PAIR, SIZE, save_model

TEXT = "I love my cat and my dog."
MIXED = ["sliding_attention", "full_attention"]
DECODER = {"num_key_value_heads": 2, "head_dim": 4, "sliding_window": 4}
# The class, the config and its options, and the function of transformers for each layer's mask.
CAUSAL = masking_utils.causal_mask_function
WINDOW = masking_utils.sliding_window_causal_mask_function(4)
CHUNKS = masking_utils.chunked_causal_mask_function(4, torch.zeros(1, dtype=int))
BOTH_SIDES = masking_utils.sliding_window_bidirectional_mask_function(3)
MODELS = {
    "Gemma 3": ("Gemma3ForCausalLM", "Gemma3TextConfig", DECODER | {"layer_types": MIXED},
                [WINDOW, CAUSAL]),
    "Llama 4": ("Llama4ForCausalLM", "Llama4TextConfig",
                DECODER | {"attention_chunk_size": 4, "num_local_experts": 2,
                           "intermediate_size_mlp": 20,
                           "layer_types": ["chunked_attention", "full_attention"]},
                [CHUNKS, CAUSAL]),
    "Mistral": ("MistralForCausalLM", "MistralConfig", DECODER, [WINDOW, WINDOW]),
    "Qwen2, windows off": ("Qwen2ForCausalLM", "Qwen2Config",
                           DECODER | {"use_sliding_window": False}, [CAUSAL, CAUSAL]),
    "ModernBERT": ("ModernBertForMaskedLM", "ModernBertConfig",
                   {"local_attention": 6, "cls_token_id": 4, "sep_token_id": 1,
                    "layer_types": MIXED},
                   [BOTH_SIDES, masking_utils.bidirectional_mask_function]),
    "GPT-Neo": ("GPTNeoForCausalLM", "GPTNeoConfig",
                {"num_layers": 2, "num_heads": 4, "attention_types": [[["local", "global"], 1]],
                 "window_size": 4}, [WINDOW, CAUSAL]),
}  # fmt: skip


@pytest.fixture(scope="module", params=first_of(MODELS))
def made(request, tmp_path_factory, pairs):
    """A reader, and the functions of transformers for the masks of its layers."""
    model, config, options, functions = MODELS[request.param]
    folder = tmp_path_factory.mktemp("own")
    texts = [text for pair in pairs for text in pair]
    template = PAIR if "Bert" in model else END_ONLY
    save_model(folder, texts, model, config, SIZE | options, template)
    return load_transformers_reader(folder), functions


def test_each_layer_has_the_mask_of_transformers_and_of_its_configuration(made):
    reader, functions = made
    trace = reader.trace(TEXT)
    masks = own_masks(reader, trace)
    assert not any(mask.differing or mask.idle for mask in masks)
    assert sorted(layer for mask in masks for layer in mask.layers) == [0, 1]
    for mask in masks:
        every = torch.arange(len(mask.visible))
        for layer in mask.layers:
            theirs = functions[layer](0, 0, every[:, None], every)
            assert torch.equal(mask.visible, theirs.expand(mask.visible.shape))
    assert len(masks) == len({*map(str, functions)})


def test_masks_are_known_of_sites_that_are_not_recorded_in_full(made):
    reader, _ = made
    whole, short = reader.trace(TEXT), reader.trace(TEXT, sites=[])
    assert not short.attention
    for site in reader.shape.sites:
        assert torch.equal(whole.visible(site), short.visible(site))


@pytest.fixture(scope="module")
def mistral(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("mistral")
    options = SIZE | DECODER | {"sliding_window": 30}
    texts = [text for pair in pairs for text in pair]
    save_model(folder, texts, "MistralForCausalLM", "MistralConfig", options, END_ONLY)
    return load_transformers_reader(folder)


def test_a_window_wider_than_the_text_is_said_to_close_nothing(mistral):
    (mask,) = own_masks(mistral, mistral.trace(TEXT))
    assert (mask.configured, mask.idle, mask.differing) == (
        (("look-ahead", ()), ("behind", (30,))), ["behind"], 0,
    )  # fmt: skip


def test_what_a_run_did_otherwise_than_its_configuration_is_counted(mistral):
    closed = Edits(masks={("behind", "decoder", 1): (2,)}).at_sites(mistral.shape, 40)
    trace = mistral.trace(TEXT, edits=closed)
    same, other = own_masks(mistral, trace)
    count = len(other.visible)
    assert (same.layers, same.differing) == ([0], 0)
    assert (other.layers, other.differing) == ([1], (count - 2) * (count - 1) // 2)


def test_padding_is_no_difference(translator):
    plain = translator.trace("The old house.", pad_to=14)
    masks = {mask.kind: mask for mask in own_masks(translator, plain)}
    assert not any(mask.differing for mask in masks.values())
    assert masks["cross"].configured == ()


def test_windows_reach_further_through_every_layer(translator):
    masks = {("behind", "decoder"): (2,)}
    trace = translator.trace("The old house is on the hill.", edits=Edits(masks=masks).at_sites(
        translator.shape, 40))  # fmt: skip
    for layers in (1, 2):
        assert reach_in(trace, "decoder", layers) == 1 + layers
    assert trace.visible(Site("decoder", 0)).sum(dim=1).max() == 2


@pytest.mark.parametrize("width", [1, 4, 9])
@pytest.mark.parametrize("layers", [1, 3])
def test_a_window_behind_keeps_its_width_and_reaches_that_far_in_each_layer(width, layers):
    left = cost(EXTRA["behind"], (width,), "decoder", 40, layers)
    assert left.cells == sum(min(width, query + 1) for query in range(40))
    assert left.all_cells == 40 * 41 // 2
    assert left.kept == width
    assert left.reach == 1 + layers * (width - 1)


def test_sinks_are_kept_next_to_the_window():
    left = cost(EXTRA["sinks"], (2, 4), "decoder", 500, 2)
    assert left.kept == 6
    assert left.reach == 2 + 1 + 2 * 3


def test_blocks_forget_at_their_borders():
    left = cost(EXTRA["blocks"], (8,), "decoder", 64, 5)
    assert (left.cells, left.kept, left.reach) == (8 * 8 * 9 // 2, 8, 8)


def test_an_encoder_sees_both_sides():
    left = cost(EXTRA["window"], (3,), "encoder", 100, 2)
    assert left.all_cells == 100 * 100
    assert left.cells == 100 * 7 - 2 * (1 + 2 + 3)
    assert left.reach == 1 + 2 * 2 * 3


def test_a_prefix_adds_the_cells_above_the_diagonal():
    left = cost(EXTRA["prefix"], (5,), "decoder", 30, 1)
    assert left.cells - left.all_cells == 5 * 4 // 2
    assert left.kept == 30


def test_lowered_scores_close_nothing():
    left = cost(EXTRA["distance"], (1,), "decoder", 30, 1)
    assert (left.cells, left.kept, left.reach) == (left.all_cells, 30, 30)


@pytest.mark.parametrize("mask", EXTRA.values(), ids=EXTRA.keys())
def test_every_mask_is_counted_in_blocks_as_at_once(mask, monkeypatch):
    kind, setting, size = mask.kinds[-1], mask.offered[0], 37
    kind = "encoder" if kind == "cross" else kind
    at_once = cost(mask, setting, kind, size, 2)
    monkeypatch.setattr("headlight.model.insight.masks.CELLS_AT_ONCE", 5 * size)
    assert cost(mask, setting, kind, size, 2) == at_once
    cells = all_cells(Site(kind, 0), size)
    seen = (mask.visible(cells, *setting) | cells.none()).tolist()
    opened = (mask.opened(cells, *setting) if mask.opened else cells.none()).tolist()
    visible = [
        {k for k in range(size) if opened[q][k] or (seen[q][k] and (kind == "encoder" or k <= q))}
        for q in range(size)
    ]
    assert at_once.cells == sum(map(len, visible))
    needed = [
        sum(any(key in visible[q] for q in range(step, size)) for key in range(step + 1))
        for step in range(size)
    ]
    if kind == "decoder" and not mask.opened:
        assert at_once.kept == max(needed)
    assert size < REACH_WITHIN
    assert at_once.reach == max(len(set().union(*(visible[k] for k in row))) for row in visible)
