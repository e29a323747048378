"""Lets the library's `generate` prepare the inputs and the cache for this project's own search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch
from torch import Tensor

from headlight.model.decoding.cache import CacheSize
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Kind, Run, RunEdits, Site

# takes ids and the logits of the next id; returns changed logits
Processor = Callable[[Tensor, Tensor], Tensor]


class Watchable(Protocol):
    """A model whose calls can record and edit; see `Attachment`."""

    def watching(self, run: Run, *, first_query: int = 0) -> AbstractContextManager[None]:
        """Let calls of the model in this context record and edit."""
        ...


def generate(
    model: Any, inputs: Mapping[str, Tensor], search: Callable, most: int, *, cached: bool = True
) -> Any:
    """Let `generate` of transformers prepare and run a `search` for at most `most` new tokens.

    The result is that of the search. The model has a cache if `cached` is True and its
    configuration does not forbid one.
    """
    return model.generate(
        **inputs,
        custom_generate=search,
        max_new_tokens=most,
        use_cache=cached and getattr(model.config, "use_cache", True),
        do_sample=False,  # so that only our strategy decides which tokens can be drawn
        num_beams=1,
        num_return_sequences=1,
        # both options need the tokenizer, which the library gives only to its own search
        stop_strings=None,
        token_healing=False,
    )


class GenerationPrefixes:
    """The prefixes of our search in a generation that `generate` of transformers prepared.

    `ids` (1, N) are the decoder's tokens before it writes. `inputs` are the cache, the encoder's
    outputs and all other arguments of the model. The processors change log-probabilities for beam
    search, and logits otherwise, as in transformers.
    """

    def __init__(
        self,
        model: Any,
        attached: Watchable,
        ids: Tensor,
        inputs: Mapping[str, Any],
        processors: Processor,
        *,
        ends: Set[int],
        edits: RunEdits,
        beam: bool,
    ) -> None:
        self.model = model
        self.attached = attached
        self.ids = ids
        self.begun = ids.size(1)
        self.inputs = dict(inputs)
        self.processors = processors
        self.ends = ends
        self.edits = edits
        self.beam = beam
        self.vocabulary = model.get_output_embeddings().weight.size(0)

    def next_log_probabilities(self, trace: Trace | None = None) -> Tensor:
        """Return log-probabilities (R, V) of each row's next token; `trace` records the call."""
        is_first = self.ids.size(1) == self.begun
        decoded_before = 0 if is_first or not self.inputs["use_cache"] else self.ids.size(1) - 1
        call = self.model.prepare_inputs_for_generation(
            self.ids,
            next_sequence_length=1 if decoded_before else None,
            is_first_iteration=is_first,
            **self.inputs,
        )
        with self.attached.watching(Run(self.edits, trace), first_query=decoded_before):
            outputs = self.model(**call, return_dict=True)
        self.inputs = self.model._update_model_kwargs_for_generation(
            outputs, self.inputs, is_encoder_decoder=self.model.config.is_encoder_decoder
        )
        logits = outputs.logits[:, -1].to(torch.float32, copy=True)
        if self.beam:
            return self.processors(self.ids, logits.log_softmax(dim=-1))
        return self.processors(self.ids, logits).log_softmax(dim=-1)

    def cache_sizes(self) -> dict[Site, CacheSize]:
        """Return the sizes of the model's own cache, measured on its tensors."""
        cache = self.inputs.get("past_key_values")
        if not self.inputs.get("use_cache") or cache is None:
            return {}
        crossed = getattr(cache, "cross_attention_cache", None)
        parts: dict[Kind, object] = {"decoder": getattr(cache, "self_attention_cache", cache)}
        parts |= {} if crossed is None else {"cross": crossed}
        return {
            Site(kind, number): CacheSize.of(
                layer.keys,
                layer.values,
                layer.sliding_window - 1 if getattr(layer, "is_sliding", False) else None,
            )
            for kind, part in parts.items()
            for number, layer in enumerate(getattr(part, "layers", ()))
            if getattr(layer, "keys", None) is not None and layer.keys.dim() == 4
        }

    def extend(self, rows: Tensor, ids: Tensor) -> None:
        """Keep these `rows` (R,), in this order, and append to each row its id in `ids` (R,)."""
        count = len(self.ids)
        if rows.tolist() != list(range(count)):
            self.ids = self.ids[rows]
            self.inputs = {
                name: chosen_rows(part, rows, count) for name, part in self.inputs.items()
            }
        self.ids = torch.cat([self.ids, ids[:, None]], dim=1)


def chosen_rows(part: object, rows: Tensor, count: int) -> object:
    """Return these rows of an argument of the model, if it has `count` rows."""
    from transformers import Cache
    from transformers.utils.generic import ModelOutput

    if isinstance(part, Cache):
        part.reorder_cache(rows)  # pyright: ignore[reportArgumentType]  # of any integers
    elif isinstance(part, ModelOutput):
        return type(part)({name: chosen_rows(value, rows, count) for name, value in part.items()})
    elif isinstance(part, Tensor) and part.dim() and len(part) == count:
        return part[rows]
    return part
