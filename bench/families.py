"""Tiny random models of each model family in transformers, and what its eager code computes.

Nothing of Headlight is imported here. Weights are drawn large enough that attention is not uniform.
If a family supports it, attention windows have 8 tokens, heads share keys and values, and biases
are random.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from math import sqrt
from pathlib import Path
from string import ascii_letters
from typing import Any

import tokenizers
import torch
import transformers
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, AutoConfig

LENGTHS = 7, 200  # tokens of a text: fewer, or more, than an attention window has
LAST, FIRST = 5, 24  # numbers of written tokens: after a prompt, or by an encoder-decoder
HEAD, LAYER = 1, 1  # the head that is switched off; its layer, and that of the closed cell
LEAST = 1e-4  # some logit must change by more than this if a head is off, or a cell closed
SPECIAL = {"pad_token": "<pad>", "eos_token": "</s>", "bos_token": "<s>", "unk_token": "<unk>",
           "mask_token": "<mask>"}  # fmt: skip
TOKENS = [*SPECIAL.values(), *ascii_letters]
MASK, START = TOKENS.index("<mask>"), TOKENS.index("<s>")
# Patterns for the names of config entries: SET has the entries' values, MOST upper bounds.
SET = {
    r"pad_(token_id|index)": 0, r"(eos|sep)_(token_id|index)": 1,
    r"(bos|cls|decoder_start)_(token_id|index)": START,
    r"(forced|suppress|begin_suppress)_\w+": None, r"\w*no_repeat_ngram_size": 0,
    r"(sliding_|attention_|local_attention_|keep_)?window(_size)?|sliding_window_size"
    r"|attention_chunk_size|local_attention|local_radius": 8,
    r"(attention|qkv|mlp|use|use_qkv|attention_out)_bias|use_sliding_window": True, "head_dim": 8,
    "num_key_value_heads": 2, "num_experts_per_tok": 2,
    r"max_position_embeddings|n_positions": 256,
}  # fmt: skip
MOST = {
    "index_n_heads": 32,  # with fewer heads, many keys tie, and the choice depends on the shape
    r"\w*(head_dim|head_size)|d_kv|d_head|kv_channels|rotary_dim|\w*lora_rank|index_topk": 8,
    r"type_vocab_size|\w*(key_value|kv)_heads|\w+_per_tok(en)?|\w*topk|moe_k|num_query_groups": 2,
    r"\w*vocab_size\w*": len(TOKENS), r"\w*position\w*|n_ctx|max_seq_len": 256,
    r"num_hidden_layers|(num_)?decoder_layers|\w*heads?|\w*experts": 4, r"\w*layers?": 3,
    r"(n|num|num_expert)_group|topk_group|\w*shared_experts|first_k_dense_replace": 1,
    "max_window_layers": 1,
    r"\w*(size|dim|d_model|d_latents|n_embd|d_ff|n_inner|dff|d_inner|dim_model|dim_ff)": 32,
    r"\w*sliding_window_pattern|layer_group_size|global_attn_every_n_layers": 2,
}  # fmt: skip
HYBRID = {"layer_types": ["linear_attention", "full_attention"] * 2}
MAMBA = {"mamba_n_heads": 8, "mamba_d_head": 8}
OWN: dict[str, dict[str, Any]] = {  # config entries that only these families need
    "bamba": MAMBA | {"attn_layer_indices": [1]}, "falcon_h1": MAMBA | {"mamba_d_ssm": 64},
    "granitemoehybrid": MAMBA | {"layer_types": ["mamba", "attention"] * 2},
    "mamba2": {"num_heads": 8}, "esm": {"vocab_size": len(TOKENS), "mask_token_id": MASK},
    "esmc": {"num_key_value_heads": 4}, "dots3_note_text": {"num_key_value_heads": 4},
    "gpt_neo": {"num_layers": 4, "attention_types": [[["global", "local"], 2]]},
    "reformer": {"axial_pos_embds": False}, "big_bird": {"attention_type": "original_full"},
    "xmod": {"default_language": "en_XX"}, "zaya": {"num_experts_per_tok": 1},
    "nemotron_h": {"n_groups": 2}, "longcat_flash": {"qk_head_dim": 16}, "neomme": {"head_dim": 16},
    "gemma3n_text": {"num_kv_shared_layers": 0},
    "dots1": {"n_routed_experts": 4, "n_shared_experts": 1},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "kimi_linear": HYBRID, "bailing_hybrid": HYBRID,
    "cohere_compass_text": {"rope_parameters": {"full_attention": {"rope_type": "default",
                                                                   "rope_theta": 1e4}}},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 2},
}  # fmt: skip
# Matches the name of the layer that reads the concatenated heads, or of a norm before that layer.
PROJECTION = re.compile(
    r".*\.(o|out|c|attn)?_?(proj|lin|sub_norm|out)|.*\.([oO]|[wW]o|dense|output)"
)
SOFTMAXES = {nn.functional.softmax, torch.softmax, Tensor.softmax, torch.special.softmax}
OTHERS = re.compile(r".*(vision|audio|vq_|projector).*")  # parts for images or sound
# The families that read only text, each with the name of a model class. If a family has several
# classes, an encoder-decoder comes first, then a model that fills in words, then a decoder.
FAMILIES = {
    family: name
    for mapping in ("CAUSAL_LM", "MASKED_LM", "SEQ_TO_SEQ_CAUSAL_LM")
    for family, name in getattr(modeling_auto, f"MODEL_FOR_{mapping}_MAPPING_NAMES").items()
    if family != "t5gemma2"  # the encoder of this family reads pictures too
    and not any(
        OTHERS.fullmatch(part) or kind is AutoConfig
        for part, kind in getattr(CONFIG_MAPPING[family], "sub_configs", {}).items()
    )
}


@torch.inference_mode()
def reference(family: str, folder: Path) -> None:
    """Save a tiny model of a family, and what transformers computes for a text of each length."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = tiny(CONFIG_MAPPING[family], family)
    config._attn_implementation = "eager"
    kind = getattr(transformers, FAMILIES[family])
    model = kind(config)
    for part in model.parameters():
        drawn = torch.randn_like(part)
        part.copy_(drawn * 1.4 / sqrt(part.size(-1)) if part.dim() > 1 else part + 0.2 * drawn)
    model.save_pretrained(folder)
    # A tokenizer that reads characters.
    vocabulary = {token: index for index, token in enumerate(TOKENS)}
    reads = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, [], unk_token="<unk>"))
    transformers.PreTrainedTokenizerFast(tokenizer_object=reads, **SPECIAL).save_pretrained(folder)
    # Load the model again, because some families do not save all weights that were drawn.
    model = kind.from_pretrained(folder, attn_implementation="eager").eval()
    model.config.use_cache = False
    torch.save({length: passes(model, length) for length in LENGTHS}, folder / "theirs.pt")
    if "model" in sys.modules:
        raise RuntimeError("Headlight was imported beside the reference.")


def tiny(kind: type, family: str) -> transformers.PreTrainedConfig:
    """Return a config of this class with tiny sizes, also in its sub-configs."""
    defaults = kind()
    parts = getattr(kind, "sub_configs", {})
    options: dict[str, Any] = {name: tiny(part, family) for name, part in parts.items()}
    for name, value in defaults.to_dict().items():
        given = [new for names, new in SET.items() if re.fullmatch(names, name)]
        most = [new for names, new in MOST.items() if re.fullmatch(names, name)]
        if given:
            options[name] = given[0]
        elif most and isinstance(value, int) and not isinstance(value, bool):
            options[name] = min(value, most[0])
    if "kv_lora_rank" in defaults.to_dict():
        options["num_key_value_heads"] = 4  # heads of latent attention share no keys and values
    if defaults.is_encoder_decoder:
        options["decoder_start_token_id"] = START
    return kind(**options | OWN.get(family, {}))


class Softmaxes(TorchFunctionMode):
    """Records every softmax's result; can close cells before it, or switch a head off after it.

    Both edits are keyed by the number of a softmax, in the order of calls: `cells` has the query
    and the key to close, `heads` has the number of heads of the layer whose head is switched off.
    """

    def __init__(self, model: nn.Module, cells: Mapping = {}, heads: Mapping = {}) -> None:
        super().__init__()
        self.names = {module: name for name, module in model.named_modules()}
        self.cells, self.heads = cells, heads
        self.returned: list[Tensor] = []
        self.waiting = self.done = 0  # heads of the next projection; projections edited so far

    def __torch_function__(
        self, function: Callable, types: object, args: tuple = (), kwargs: Mapping | None = None
    ) -> object:
        if function not in SOFTMAXES or not args:
            return function(*args, **kwargs or {})
        number, given = len(self.returned), args[0]
        if number in self.cells:
            given = given.clone()
            given[..., *self.cells[number]] = -torch.inf
        self.waiting = self.heads.get(number, 0)
        self.returned.append(function(given, *args[1:], **kwargs or {}))
        return self.returned[-1]

    def before(self, module: nn.Module, inputs: tuple) -> tuple | None:
        """Switch a head off in the input of the projection that reads all heads; a hook."""
        is_part = not self.waiting or next(module.children(), None) is not None
        if is_part or not PROJECTION.fullmatch(self.names.get(module, "")):
            return None
        heads = inputs[0].unflatten(-1, (self.waiting, -1)).clone()
        heads[..., HEAD, :] = 0
        self.waiting, self.done = 0, self.done + 1
        return heads.flatten(-2), *inputs[1:]


def passes(model: transformers.PreTrainedModel, length: int) -> dict:
    """Return a text's ids, all attention weights, and the output with and without edits."""
    ids, pair = (
        torch.randint(len(SPECIAL), len(TOKENS), (1, length)),
        model.config.is_encoder_decoder,
    )
    inputs, rows = {"input_ids": ids}, slice(None)
    if re.search("MaskedLM|Flaubert", type(model).__name__):
        ids[0, 1::3] = MASK
        rows = ids[0] == MASK
    if pair:
        inputs["decoder_input_ids"] = torch.cat([torch.tensor([[START]]), ids], dim=1)
    written = min(length, FIRST) if pair else LAST
    query = (written if pair else length) - 2  # the query of the cell that is closed

    def said(mode: Softmaxes) -> tuple[Tensor, Tensor, Mapping]:
        with mode:
            outputs = model(**inputs, output_attentions=True, output_hidden_states=True)
        states = outputs["decoder_hidden_states" if pair else "hidden_states"]
        return outputs["logits"][:, rows], states[-1], outputs

    watched = Softmaxes(model)
    *plain, outputs = said(watched)
    result = {"ids": ids[0].tolist(), "pair": pair, "written": written, "logits": plain,
              "weights": {}, "cells": {}}  # fmt: skip
    cells, heads = {}, {}
    for kind in ("encoder", "decoder", "cross") if pair else ("",):
        for layer, weights in enumerate(outputs.get(f"{kind}_attentions".strip("_")) or ()):
            if not isinstance(weights, Tensor) or weights.dim() != 4:  # LongT5 attends in blocks
                continue
            if weights.max() > 1.1:  # SqueezeBERT returns scores in place of weights
                weights = weights.softmax(dim=-1)
            result["weights"][kind, layer] = weights
            same = [n for n, part in enumerate(watched.returned) if is_same(part, weights)]
            if layer == LAYER and same:
                # Close the cell of the key that the query attends to most.
                cell = query, weights[0, :, query].sum(dim=0).argmax().item()
                result["cells"][kind] = cells[same[0]] = cell
                heads[same[0]] = weights.size(1)
    off = Softmaxes(model, heads=heads)
    hook = nn.modules.module.register_module_forward_pre_hook(
        off.before  # pyright: ignore[reportArgumentType]
    )
    for name, mode in (("head off", off), ("cell closed", Softmaxes(model, cells=cells))):
        *edited, _ = said(mode)
        changes = (edited[0] - plain[0]).abs().max() > LEAST
        if changes and (mode is not off or off.done == len(heads)):
            result[name] = edited
    hook.remove()
    return result


def is_same(returned: Tensor, weights: Tensor) -> bool:
    """Return whether a softmax returned these weights, perhaps with a further key as sink."""
    returned = returned[..., : weights.size(-1)]
    return returned.numel() == weights.numel() and torch.allclose(
        returned.view_as(weights), weights
    )
