"""Zip files of checkpoints: good ones, and some with an odd header."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, replace

import torch

from headlight.model.archive import pack_checkpoint
from headlight.model.checkpoint import CONFIG, TOKENIZER, WEIGHTS
from headlight.model.config import TransformerConfig
from headlight.model.tokenizer import Tokenizer
from headlight.model.transformer import Transformer

DIGITS = Tokenizer.train_characters(["0123456789"])
SMALL = TransformerConfig(
    DIGITS.vocab_size, DIGITS.vocab_size, d_model=8, heads=2, encoder_layers=1, decoder_layers=1,
    d_ff=8, max_positions=16,
)  # fmt: skip
LARGE = replace(SMALL, d_model=512, heads=8, encoder_layers=4, decoder_layers=4, d_ff=2_048)


def pack(files: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip file of these files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files of a zip file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def small() -> dict[str, bytes]:
    """Return the files of a checkpoint that is read as it should be."""
    torch.manual_seed(0)
    return unpack(pack_checkpoint(Transformer(SMALL), DIGITS))


def zeros(config: TransformerConfig = LARGE) -> bytes:
    """Return a model all of whose weights are 0: few bytes to send, many to keep."""
    with torch.device("meta"):
        parameters = dict(Transformer(config).named_parameters())
    header, end = {}, 0
    for name, parameter in parameters.items():
        header[name], end = tensor_entry(list(parameter.shape), end, end + 2 * parameter.numel())
    files = {CONFIG: json.dumps(asdict(config)).encode(), TOKENIZER: small()[TOKENIZER]}
    return pack({WEIGHTS: with_header(header) + bytes(end), **files})


def many_dimensions(count: int) -> bytes:
    """Return a zip whose weights are one number with many dimensions of 1."""
    header, end = {}, 2
    header["output.weight"], end = tensor_entry([1] * count, 0, end)
    return pack({**small(), WEIGHTS: with_header(header) + bytes(end)})


def many_tensors(count: int) -> bytes:
    """Return a zip whose weights are many empty tensors."""
    header = {str(number): tensor_entry([0], 0, 0)[0] for number in range(count)}
    return pack({**small(), WEIGHTS: with_header(header)})


def tensor_entry(shape: list[int], start: int, end: int) -> tuple[dict[str, object], int]:
    """Return what a header says of a tensor of 16-bit floats, and where it ends."""
    return {"dtype": "F16", "shape": shape, "data_offsets": [start, end]}, end


def with_header(header: Mapping[str, object]) -> bytes:
    """Return the beginning of a safetensors file: the length of its header, and the header."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text
