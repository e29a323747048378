"""Calls of models of the transformers library on the tokens of a trace, with edits in a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from model.library.attachment import Attachment
from model.library.piece_tokenizer import PieceTokenizer
from model.library.pieces import Piece
from model.sequences import token_ids
from model.trace import AttentionEdit, Run, RunEdits, Site, Trace

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class Calls:
    """A model that is called under edits; it holds no state of a call, so threads may share it."""

    def __init__(
        self, model: PreTrainedModel, tokens: PieceTokenizer, attached: Attachment
    ) -> None:
        self.model = model
        self.tokens = tokens
        self.attached = attached
        segments = getattr(model.config, "type_vocab_size", None) or 0
        named = tokens.tokenizer.model_input_names
        self.takes_segments = segments > 1 and "token_type_ids" in named

    def __call__(self, trace: Trace, run: Run, **options: bool) -> Mapping[str, Tensor]:
        """Call the model on the tokens of a trace, as often as there are edits in a batch."""
        edits = attention_edits(run.edits)
        rows = max((batch_size(edit) for edit in edits.values()), default=1)
        kinds = self.attached.kinds
        if "encoder" in kinds:
            inputs = self.inputs(trace.source_tokens, rows)
            if "decoder" in kinds:
                decoder = self.inputs(trace.target_tokens, rows)
                inputs |= {f"decoder_{name}": part for name, part in decoder.items()}
        else:
            inputs = self.inputs(trace.target_tokens, rows)
        if "decoder" in kinds:
            options["use_cache"] = False
        with self.attached.watching(Run(edits, run.trace)):
            return self.model(**inputs, **options)

    def inputs(self, pieces: Sequence[Piece], rows: int) -> dict[str, Tensor]:
        """Return what the model is called with for pieces, so many times: each (rows, T)."""
        device = self.model.device
        inputs = {"input_ids": token_ids(pieces, device)}
        if self.takes_segments:
            inputs["token_type_ids"] = torch.tensor([[p.segment for p in pieces]], device=device)
        if (count := self.tokens.unpadded(pieces)) < len(pieces):
            inputs["attention_mask"] = (torch.arange(len(pieces), device=device) < count)[None]
        return {name: part.expand(rows, -1) for name, part in inputs.items()}


def attention_edits(edits: RunEdits) -> dict[Site, AttentionEdit]:
    """Return edits of sites; raises ValueError if positions are moved too."""
    if any(not isinstance(site, Site) for site in edits):
        raise ValueError("The positions of this model cannot be moved: only its heads and masks.")
    return dict(edits)


def batch_size(edit: AttentionEdit) -> int:
    """Return how many rows of a batch an edit is for."""
    sizes = [len(patch.where) for patch in edit.patches or ()]
    if edit.gate is not None and edit.gate.dim() == 2:
        sizes.append(len(edit.gate))
    cells = (edit.block, edit.open, edit.weights)
    return max(
        [*sizes, *(len(part) for part in cells if part is not None and part.dim() == 4)], default=1
    )
