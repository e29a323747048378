"""Texts that a model of the transformers library writes, with its key-value cache."""

from __future__ import annotations

from collections.abc import Mapping, Set
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor

from model.trace import Run, RunEdits, Trace

if TYPE_CHECKING:
    from transformers import LogitsProcessorList, PreTrainedModel


class Watchable(Protocol):
    """A model whose calls can record and edit; see `Attachment`."""

    def watching(self, run: Run, *, first_query: int = 0) -> AbstractContextManager[None]:
        """Let calls of the model in this context record and edit."""


class GenerationPrefixes:
    """The prefixes of our search in a generation that `generate` of transformers prepared.

    `ids` (1, N) are the decoder's tokens before it writes. `inputs` are the cache, the encoder's
    outputs and all other arguments of the model. The processors change log-probabilities for a
    beam, and logits otherwise, as in transformers.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        attached: Watchable,
        ids: Tensor,
        inputs: Mapping[str, object],
        processors: LogitsProcessorList,
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

    @property
    def written(self) -> Tensor:
        """The ids (R, N) that each row has written so far."""
        return self.ids[:, self.begun :]

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

    def extend(self, rows: Tensor, ids: Tensor) -> None:
        """Continue with these rows, in this order, and append one of ids (R,) to each."""
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
    from transformers.utils import ModelOutput

    if isinstance(part, Cache):
        part.reorder_cache(rows)
    elif isinstance(part, ModelOutput):
        return type(part)({name: chosen_rows(one, rows, count) for name, one in part.items()})
    elif isinstance(part, Tensor) and part.dim() and len(part) == count:
        return part[rows]
    return part
