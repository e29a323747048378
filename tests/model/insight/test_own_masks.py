"""The masks of each layer in a run, against transformers' own mask functions and its configs."""

import pytest
import torch
from transformers import masking_utils

from headlight.model.edits import Edits
from headlight.model.insight.own_masks import own_masks, reach_in
from headlight.model.library.transformers_loading import load_transformers_reader
from headlight.model.trace import Site
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
