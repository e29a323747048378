"""Bounds on what a model of the transformers library may ask for, checked on plain values.

They stand far beyond any model that a computer can show, and are there so that nothing is
allocated, counted or built because a file says so.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping

MEGABYTE = 1_000_000
CONFIG_BYTES = 4 * MEGABYTE
HEADER_BYTES = 16 * MEGABYTE  # of a safetensors file
TOKENIZER_BYTES = 64 * MEGABYTE  # of any other file that is read
MOST_ENTRIES = 100_000  # of a config, in all its parts
DEEPEST = 16  # parts of a config within each other
MOST_DIMENSIONS = 8
MOST_TENSORS = 200_000

# What the entries of configs are called, and the least and the most that each may be.
CONFIG_BOUNDS: dict[str, tuple[float, float]] = {
    r"(\w+_)?vocab_size|n_vocab|vocab_size_\w+": (0, 2_000_000),
    r"max_position_embeddings|n_positions|n_ctx|max_sequence_length|max_seq_len": (-1, 20_000_000),
    r"type_vocab_size": (0, 1_000),
    r"hidden_size|d_model|n_embd|dim|embedding_size|d_embed|word_embed_proj_dim": (0, 200_000),
    r"(\w+_)?(intermediate_size|ffn_dim|hidden_dim)|d_ff|d_inner|n_inner|ffn_hidden_size": (
        0, 1_000_000,
    ),
    r"(\w+_)?num(_\w+)?_layers|n_layers?|(en|de)coder_layers|num_hidden_groups": (0, 1_000),
    r"(\w+_)?num(_\w+)?_heads|n_heads?|(en|de)coder_attention_heads": (0, 2_000),
    r"head_dim|d_kv|kv_channels|d_head|\w+_head_dim|attention_head_size": (0, 20_000),
    r"(\w+_)?num(_\w+)?_experts|n_(\w+_)?experts": (0, 10_000),
    r"num_labels|conv_kernel|attention_window|\w+_kernel_size": (0, 200_000),
    r"\w*(_eps|_epsilon)": (0.0, 1.0),
    r"\w*(dropout|pdrop|drop_rate)\w*": (0.0, 1.0),
}  # fmt: skip
KNOWN = {re.compile(names): bounds for names, bounds in CONFIG_BOUNDS.items()}

# Entries of a config that choose what runs, or from where, instead of a model's shape. Those that
# begin with an underscore are the library's own and do so too.
SWITCHES = {
    "attn_implementation", "auto_map", "experts_implementation", "fusion_config", "kernel_config",
    "transformers_weights", "use_kernels",
}  # fmt: skip

ITEM_BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "I16": 16, "U16": 16, "F16": 16,
    "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "F64": 64, "I64": 64, "U64": 64,
}  # fmt: skip


def check_config(entries: Mapping[str, object]) -> None:
    """Raise ValueError if an entry of a config, in any of its parts, is beyond its bounds."""
    for count, (name, value) in enumerate(numbers_in(entries)):
        if count > MOST_ENTRIES:
            raise ValueError(f"it has more than {MOST_ENTRIES:,} entries")
        if isinstance(value, float) and math.isnan(value):
            raise ValueError(f"{name} is not a number")
        for pattern, (least, most) in KNOWN.items():
            if pattern.fullmatch(name) and not least <= value <= most:
                shown = f"{value:.6g}" if abs(value) < sys.float_info.max else "far larger"
                raise ValueError(f"{name} is {shown}, and has to be from {least:,} to {most:,}")
    if "quantization_config" in entries:
        raise ValueError("its weights are quantized, and only plain ones are read")


def numbers_in(value: object, name: str = "", depth: int = 0) -> Iterator[tuple[str, float]]:
    """Yield every number in a config, by the name of the entry that it stands in.

    For anything else it yields a 0 without a name. Raises ValueError if parts stand too deep.
    """
    if depth > DEEPEST:
        raise ValueError(f"its parts stand more than {DEEPEST} deep in each other")
    yield "", 0
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from numbers_in(part, str(key)[:100], depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from numbers_in(part, name, depth + 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, value


def without_switches(value: object) -> object:
    """Return a config with nothing in any of its parts that would choose what runs."""
    if isinstance(value, Mapping):
        return {
            key: without_switches(part)
            for key, part in value.items()
            if key not in SWITCHES and not str(key).startswith("_")
        }
    return [without_switches(part) for part in value] if isinstance(value, list) else value


def check_header(header: object, data_bytes: int) -> int:
    """Return how many numbers the tensors of a safetensors header have, in a file of this size.

    `data_bytes` are those after the header. Raises ValueError for anything but tensors of known
    types within the file.
    """
    if not isinstance(header, dict) or len(header) > MOST_TENSORS:
        raise ValueError("it lists no tensors, or too many")
    total = 0
    for name, tensor in header.items():
        if name != "__metadata__":
            total += check_tensor(name[:200], tensor, data_bytes)
    return total


def check_tensor(name: str, tensor: object, data_bytes: int) -> int:
    """Return how many numbers a tensor of a header has; see `check_header`."""
    try:
        shape, kind, (begin, end) = tensor["shape"], tensor["dtype"], tensor["data_offsets"]
        bits = ITEM_BITS[kind]
        whole = all(type(size) is int and size >= 0 for size in (*shape, begin, end))
    except (TypeError, LookupError, ValueError) as error:
        raise ValueError(f"{name} has no shape, type and place that are known") from error
    if not whole or len(shape) > MOST_DIMENSIONS:
        raise ValueError(f"{name} has a shape that no tensor has")
    count = math.prod(shape)
    if not begin <= end <= data_bytes or count * bits != (end - begin) * 8:
        raise ValueError(f"{name} is not where the header says")
    return count
