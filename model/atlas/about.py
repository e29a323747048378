"""What a count is about: which weights read which text, summed up in which way."""

from __future__ import annotations

from hashlib import sha256

import torch

from model.reader import Reader

VERSION = 1  # of what is summed up; counts of another one do not merge


def about_of(reader: Reader, model: str, text: str, window: int) -> dict[str, object]:
    """Return what a count is about, of a model and a text by what they are called."""
    return {
        "version": VERSION,
        "model": model,
        "weights": digest_of(reader),
        "kinds": {kind: list(shape) for kind, shape in reader.shape.kinds.items()},
        "text": text,
        "window": window,
    }


def digest_of(reader: Reader) -> str:
    """Return what tells a model's weights from others."""
    found = sha256()
    for name, tensor in sorted(reader.model.state_dict().items()):
        found.update(name.encode())
        found.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return found.hexdigest()
