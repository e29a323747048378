"""A model and its tokenizer as one file that a browser can run."""

import json
from dataclasses import asdict

from safetensors.torch import save
from tokenizers import models

from headlight.model.tokenizer import PIECES, Tokenizer
from headlight.model.transformer import Transformer


def weights_file(model: Transformer, tokenizer: Tokenizer) -> bytes:
    """Return a safetensors file with all weights as float16, the config and the tokenizer.

    Raises ValueError for a tokenizer whose rules the browser does not know.
    """
    tensors = {
        name: parameter.detach().half().cpu().contiguous()
        for name, parameter in model.named_parameters()
    }
    about = {"config": asdict(model.config), "tokenizer": rules_of(tokenizer)}
    return save(tensors, {"headlight": json.dumps(about)})  # one entry: several have a random order


def rules_of(tokenizer: Tokenizer) -> dict[str, object]:
    """Return what the browser needs to split a text as the tokenizer does."""
    rules = json.loads(tokenizer.backend.to_str())
    pieces = sorted(rules["model"]["vocab"].items(), key=lambda item: item[1])
    vocabulary = [piece for piece, _ in pieces]
    if isinstance(tokenizer.backend.model, models.WordLevel):
        return {"vocabulary": vocabulary, "merges": None, "bytes": False, "whole": False}
    if PIECES not in json.dumps(rules["pre_tokenizer"], ensure_ascii=False).replace("\\\\", "\\"):
        raise ValueError("The browser does not know how this tokenizer splits a text into words.")
    return {
        "vocabulary": vocabulary,
        "merges": [
            list(map(rules["model"]["vocab"].get, pair)) for pair in rules["model"]["merges"]
        ],
        "bytes": bool(rules["model"]["byte_fallback"]),
        "whole": bool(rules["model"]["ignore_merges"]),
    }
