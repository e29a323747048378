import io
import json
import struct
import time

import pytest
import torch
from safetensors.torch import save

from bench.hostile import archives
from model.safetensors_header import LARGEST_HEADER, read_shapes

GOOD = {"dtype": "F16", "shape": [1], "data_offsets": [0, 2]}


def shapes(data):
    return read_shapes(io.BytesIO(data), "the file")


def header(**entries):
    return archives.with_header(entries)


def test_the_shapes_are_those_that_the_library_wrote():
    tensors = {"a": torch.zeros(2, 3), "b": torch.zeros(4).half(), "c": torch.zeros(()).bfloat16()}
    file = io.BytesIO(save(tensors, {"made": "here"}))
    assert read_shapes(file, "the file") == {"a": (2, 3), "b": (4,), "c": ()}
    assert len(file.read()) == sum(tensor.nbytes for tensor in tensors.values())


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "not a safetensors file"),
        (b"\0" * 8, "not a safetensors file"),
        (struct.pack("<Q", LARGEST_HEADER + 1), "lists too many tensors"),
        (struct.pack("<Q", 4) + b"null", "not a safetensors file"),
        (struct.pack("<Q", 2) + b"[]", "not a safetensors file"),
        (struct.pack("<Q", 9_999) + b"[" * 9_999, "not a safetensors file"),
        (header(a=1), "not a safetensors file"),
        (header(**{"\ud800": GOOD}), "not a safetensors file"),
        (header(a={}), "not a safetensors file"),
        (header(a=GOOD | {"dtype": "F64"}), "16 or 32 bit"),
        (header(a=GOOD | {"dtype": ["F16"]}), "16 or 32 bit"),
        (header(a=GOOD | {"shape": 3}), "dimensions"),
        (header(a=GOOD | {"shape": [1] * 9}), "more than 8 dimensions"),
        (header(a=GOOD | {"shape": [-1]}), "impossible shape"),
        (header(a=GOOD | {"shape": [True]}), "impossible shape"),
        (header(a=GOOD | {"shape": [10**300]}), "impossible shape"),
        (header(a=GOOD).replace(b'"a":', b'"a":{},"a":'), "not a safetensors file"),
    ],
)
def test_other_headers_are_refused_with_one_sentence(data, sentence):
    length = struct.pack("<Q", max(len(data) - 8, 0))
    data = length + data[8:] if b'"a"' in data else data
    with pytest.raises(ValueError, match=sentence) as refused:
        shapes(data)
    assert str(refused.value).startswith("the file ")
    assert str(refused.value).endswith(".")


def seconds_for(dimensions):
    data = archives.with_header({"a": GOOD | {"shape": [1] * dimensions}})
    began = time.perf_counter()
    with pytest.raises(ValueError, match="dimensions"):
        shapes(data)
    return time.perf_counter() - began


def test_time_grows_with_the_bytes_of_a_header_and_no_faster():
    assert len(json.dumps([1] * 500_000, separators=(",", ":"))) < LARGEST_HEADER
    few = min(seconds_for(50_000) for _ in range(3))
    many = min(seconds_for(500_000) for _ in range(3))
    assert many < 40 * few
