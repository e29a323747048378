"""The identity of a count: its model's weights, its text, and the code that counted."""

import ast
from functools import cache
from hashlib import sha256
from inspect import getsource

import torch

from model.atlas import counting, statistics
from model.insight import head_patterns, rows
from model.reader import Reader

COUNTING = (counting, statistics, head_patterns, rows)  # the modules that make the sums


def about_of(reader: Reader, model: str, text: str, window: int) -> dict[str, object]:
    """Return the identity of a count; `model` and `text` are names."""
    return {
        "code": code_version(),
        "model": model,
        "weights": digest_of(reader),
        "kinds": {kind: list(shape) for kind, shape in reader.shape.kinds.items()},
        "text": text,
        "window": window,
    }


@cache
def code_version() -> str:
    """Return a digest of the code that counts, without comments: only equal ones merge."""
    code = (ast.dump(ast.parse(getsource(module))) for module in COUNTING)
    return sha256("".join(code).encode()).hexdigest()


def digest_of(reader: Reader) -> str:
    """Return a digest of a model's weights."""
    found = sha256()
    for name, tensor in sorted(reader.model.state_dict().items()):
        found.update(name.encode())
        found.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return found.hexdigest()
