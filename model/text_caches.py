"""Tokenizers that keep nothing of what they split, so that no text outlives whoever typed it."""

from __future__ import annotations

import tokenizers


class Nothing(dict):
    """A cache that stays empty."""

    def __setitem__(self, key: object, value: object) -> None:
        """Keep nothing."""


def forget_texts(tokenizer: object) -> None:
    """Have a tokenizer of the tokenizers or the transformers library keep no words that it split.

    For the next text with the same words it would be faster, whoever typed it.
    """
    if isinstance(getattr(tokenizer, "cache", None), dict):
        tokenizer.cache = Nothing()
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if isinstance(backend, tokenizers.Tokenizer) and hasattr(backend.model, "_resize_cache"):
        backend.model._resize_cache(0)
