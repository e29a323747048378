"""Calls a model of the transformers library on the tokens of traces, with edits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from headlight.model.library.attachment import Attachment
from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.library.pieces import as_pieces
from headlight.model.library.positions import moving
from headlight.model.tokens import Token
from headlight.model.trace import Trace
from headlight.model.transformer.attention import Edit
from headlight.model.transformer.trace import Run, RunEdits, Side, Site

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class Calls:
    """A model that is called with edits; it holds no state of a call, so threads may share it."""

    def __init__(
        self, model: PreTrainedModel, tokens: PieceTokenizer, attached: Attachment
    ) -> None:
        self.model = model
        self.tokens = tokens
        self.attached = attached
        types = getattr(model.config, "type_vocab_size", None) or 0
        named = tokens.tokenizer.model_input_names
        self.takes_types = types > 1 and "token_type_ids" in named

    def __call__(self, trace: Trace, run: Run, **options: bool) -> Mapping[str, Tensor]:
        """Call the model on a trace's tokens, with one row for each row of a batch of edits."""
        rows = max((edit.batch for edit in attention_edits(run.edits).values()), default=1)
        return self.together([trace] * rows, run, **options)

    def together(self, traces: Sequence[Trace], run: Run, **options: bool) -> Mapping[str, Tensor]:
        """Call the model on a batch of several traces' tokens, each padded on the right."""
        kinds = self.attached.kinds
        if "encoder" in kinds:
            inputs = self.inputs([trace.source_tokens for trace in traces])
            if "decoder" in kinds:
                decoder = self.inputs([trace.target_tokens for trace in traces])
                inputs |= {f"decoder_{name}": part for name, part in decoder.items()}
        else:
            inputs = self.inputs([trace.target_tokens for trace in traces])
        if "decoder" in kinds:
            options["use_cache"] = False
        watched = Run(attention_edits(run.edits), run.trace)
        with moving(run.edits, can=self.attached.moves), self.attached.watching(watched):
            return self.model(**inputs, **options)

    def inputs(self, lines: Sequence[Sequence[Token]]) -> dict[str, Tensor]:
        """Return the model's inputs for the tokens of each row: each (rows, T).

        Padding is hidden from all other tokens, so its id does not matter. A padding token that was
        typed, or that the model wrote, is not hidden.
        """
        longest, filling = max(map(len, lines)), self.tokens.tokenizer.pad_token_id or 0
        ids = [[token.id for token in tokens] for tokens in lines]
        inputs = {"input_ids": filled(ids, longest, filling)}
        if self.takes_types:
            types = [[piece.token_type for piece in as_pieces(tokens)] for tokens in lines]
            inputs["token_type_ids"] = filled(types, longest, 0)
        seen = filled([[not token.is_padding for token in tokens] for tokens in lines], longest, 0)
        if not seen.all():
            inputs["attention_mask"] = seen.bool()
        return {name: part.to(self.model.device) for name, part in inputs.items()}


def filled(rows: Sequence[list[int]], length: int, filling: int) -> Tensor:
    """Return rows of numbers (rows, length), padded on the right with `filling`."""
    return torch.tensor([row + [filling] * (length - len(row)) for row in rows])


def attention_edits(edits: RunEdits) -> dict[Site, Edit]:
    """Return the edits of attention, without those of positions."""
    return {site: edit for site, edit in edits.items() if isinstance(site, Site)}


def last_states(outputs: Mapping[str, Tensor], side: Side) -> dict[Side, Tensor]:
    """Return the last hidden states (B, T, d_model) of each side that the model has."""
    if "encoder_last_hidden_state" in outputs:
        return {
            "encoder": outputs["encoder_last_hidden_state"].float(),
            "decoder": outputs["decoder_hidden_states"][-1].float(),
        }
    return {side: outputs["hidden_states"][-1].float()}
