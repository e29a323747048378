"""BERT in the layers of this project, with the weights of the transformers library's model.

Source: "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor, nn

from headlight.model.library.output_heads import (
    OF_A_TEXT,
    OutputHead,
    classifier_head,
    rows_by_text,
)
from headlight.model.library.pieces import Piece
from headlight.model.shape import checked_config
from headlight.model.transformer.attention import MultiHeadAttention
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.layers import EncoderLayer
from headlight.model.transformer.masks import padding_mask
from headlight.model.transformer.positions import UNMOVED, Positions
from headlight.model.transformer.trace import EmbeddingRecord, Run, Site

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

ACTIVATIONS: dict[str, Literal["relu", "gelu"]] = {
    "gelu": "gelu", "gelu_python": "gelu", "relu": "relu"
}  # fmt: skip
# The names of modules in our encoder layer, and in transformers' BertLayer.
MODULES = {
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.output": "attention.output.dense",
    "attention_residual.norm": "attention.output.LayerNorm",
    "feed_forward.inner": "intermediate.dense",
    "feed_forward.output": "output.dense",
    "feed_forward_residual.norm": "output.LayerNorm",
}
# The names of the modules of transformers' models that turn the last hidden states into logits.
HEADS: dict[OutputHead | None, Sequence[str]] = {
    "masked words": ["cls"],
    **dict.fromkeys(OF_A_TEXT, ("bert.pooler", "classifier")),
    "tags": ["classifier"],
    "span": ["qa_outputs"],
    None: [],
}


class Bert(nn.Module):
    """Embeddings of tokens, positions and segments, then post-norm encoder layers, then a head.

    It shares its weights with `theirs`, a BERT of the transformers library, without copies.
    """

    def __init__(
        self, theirs: PreTrainedModel, config: TransformerConfig, head: OutputHead | None
    ) -> None:
        super().__init__()
        self.config = config
        base: Any = theirs.base_model
        embeddings = base.embeddings
        self.tokens = embeddings.word_embeddings
        self.segments = embeddings.token_type_embeddings
        self.norm = embeddings.LayerNorm
        # on this device, new weights take no memory; they are replaced below
        with torch.device("meta"):
            self.positions = Positions(config)
            layers = [EncoderLayer(config, layer) for layer in range(config.encoder_layers)]
        self.positions.table = embeddings.position_embeddings.weight
        for layer, their_layer in zip(layers, base.encoder.layer, strict=True):
            for ours, name in MODULES.items():
                layer.set_submodule(ours, their_layer.get_submodule(name))
        self.layers: Any = nn.ModuleList(layers)
        self.head_kind: OutputHead | None = head
        self.head = nn.Sequential(*map(theirs.get_submodule, HEADS[head]))

    @property
    def device(self) -> torch.device:
        return self.tokens.weight.device

    @property
    def encoder(self) -> Bert:
        """The model itself, which is only an encoder. A Transformer has this attribute, too."""
        return self

    def attention_at(self, site: Site) -> MultiHeadAttention:
        return self.layers[site.layer].attention

    def inputs(self, *lines: Sequence[Piece]) -> tuple[Tensor, Tensor]:
        """Return the ids and segments (B, S) of B lines of S pieces each, on the model's device."""
        ids = [[piece.id for piece in pieces] for pieces in lines]
        segments = [[piece.segment for piece in pieces] for pieces in lines]
        return torch.tensor(ids, device=self.device), torch.tensor(segments, device=self.device)

    def forward(self, ids: Tensor, segments: Tensor, run: Run = Run()) -> Tensor:
        """Return the last hidden states (B, S, d_model) for ids and segments (B, S)."""
        padded = (ids == self.config.pad_id).any()
        mask = padding_mask(ids, self.config.pad_id) if padded else None
        positions = self.positions(0, ids.size(1), run.edits.get("encoder", UNMOVED))
        tokens, kinds = self.tokens(ids), self.segments(segments)
        states = self.norm(tokens + kinds + positions)
        if run.trace is not None:
            record = EmbeddingRecord(tokens, tokens, positions, states, kinds)
            run.trace.embedding["encoder"] = record
        for layer in self.layers:
            states = layer(states, mask, run)
        if run.trace is not None:
            run.trace.outputs["encoder"] = states
        return states

    def logits(self, states: Tensor) -> Tensor:
        """Return the logits that the head makes of the last hidden states (B, S, d_model).

        A head for masked words or for classes of tokens gives a row for each token (B, S, V). A
        class, labels or scores of a text are read from the first token, [CLS]: see `rows_by_text`.
        A head for answers gives two rows (B, 2, S), for an answer's first and its last position.
        Without a head there are none (B, 0, 0).
        """
        match self.head_kind:
            case "masked words" | "tags":
                return self.head(states)
            case "class" | "labels" | "score":
                return rows_by_text(self.head_kind, self.head(states))
            case "span":
                return self.head(states).transpose(1, 2)
        return states.new_empty(len(states), 0, 0)


def fits_our_layers(config: PreTrainedConfig) -> bool:
    """Return whether our layers can compute a model of this config."""
    entries = config.to_dict()
    return (
        config.model_type == "bert"
        and entries.get("hidden_act") in ACTIVATIONS
        and entries.get("position_embedding_type") in (None, "absolute")
        and not entries.get("is_decoder")
        and not entries.get("add_cross_attention")
    )


def our_config(config: PreTrainedConfig) -> TransformerConfig:
    """Return a BERT's config in our form; raise ValueError if its numbers do not fit together."""
    return checked_config(
        source_vocab_size=config.vocab_size,
        target_vocab_size=config.vocab_size,
        d_model=config.hidden_size,
        heads=config.num_attention_heads,
        encoder_layers=config.num_hidden_layers,
        decoder_layers=0,
        d_ff=config.intermediate_size,
        norm="post",
        activation=ACTIVATIONS[config.hidden_act],
        positions="learned",
        max_positions=config.max_position_embeddings,
        pad_id=-1 if config.pad_token_id is None else config.pad_token_id,
    )


def head_of(config: PreTrainedConfig, names: Collection[str]) -> OutputHead | None:
    """Return the head of a checkpoint, by its config and the names of its tensors.

    Classifiers of texts, of tokens and of choices have the same tensors: only the config tells
    which one it is.
    """
    if "cls.predictions.transform.dense.weight" in names:
        return "masked words"
    if "qa_outputs.weight" in names:
        return "span"
    if "classifier.weight" not in names:
        return None
    architectures = {*(config.architectures or ())}
    if architectures == {"BertForTokenClassification"}:
        return "tags"
    pooled = any(name.endswith("pooler.dense.weight") for name in names)
    of_texts = architectures <= {"BertForSequenceClassification"}
    return classifier_head(config) if pooled and of_texts else None
