"""The identity of a count: its model's weights, its text, and the version of the sums."""

from hashlib import sha256

import torch

from model.reader import Reader

VERSION = 1  # of the sums; counts of different versions do not merge


def about_of(reader: Reader, model: str, text: str, window: int) -> dict[str, object]:
    """Return the identity of a count; `model` and `text` are names."""
    return {
        "version": VERSION,
        "model": model,
        "weights": digest_of(reader),
        "kinds": {kind: list(shape) for kind, shape in reader.shape.kinds.items()},
        "text": text,
        "window": window,
    }


def digest_of(reader: Reader) -> str:
    """Return a digest of a model's weights."""
    found = sha256()
    for name, tensor in sorted(reader.model.state_dict().items()):
        found.update(name.encode())
        found.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return found.hexdigest()
