"""BERT in the layers of this project, with the weights of any checkpoint of the type bert.

Source: "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from headlight.model.checkpoint import copy_weights
from headlight.model.edits.positions import PositionEdit
from headlight.model.library.answers import OutputHead
from headlight.model.library.bounds import Counted
from headlight.model.library.hub import LoadingError
from headlight.model.library.pieces import Piece
from headlight.model.shape import checked_config
from headlight.model.tokens import token_ids
from headlight.model.transformer.attention import MultiHeadAttention
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.layers import EncoderLayer, activation
from headlight.model.transformer.masks import padding_mask
from headlight.model.transformer.positions import Positions
from headlight.model.transformer.trace import EmbeddingRecord, Run, Site

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

ACTIVATIONS: dict[str, Literal["relu", "gelu"]] = {
    "gelu": "gelu", "gelu_python": "gelu", "relu": "relu"
}  # fmt: skip


class Head(nn.Module):
    """Maps last hidden states to logits: it fills in masked words, chooses a class or an answer."""

    def __init__(
        self, kind: OutputHead, config: TransformerConfig, tokens: nn.Embedding, classes: int
    ) -> None:
        super().__init__()
        self.kind = kind
        sizes = {"masked words": config.target_vocab_size, "class": classes, "span": 2}
        if kind != "span":
            self.inner = nn.Linear(config.d_model, config.d_model)
        if kind == "masked words":
            self.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
        self.activation = activation(config)
        self.output = nn.Linear(config.d_model, sizes[kind])
        if kind == "masked words" and config.tie_embeddings:
            self.output.weight = tokens.weight

    def forward(self, states: Tensor) -> Tensor:
        """(B, S, d_model) -> logits.

        Masked words have a row each (B, S, V). A class has one row (B, 1, classes), from the first
        token, [CLS]. An answer has two rows (B, 2, S), for its first and its last position.
        """
        match self.kind:
            case "masked words":
                return self.output(self.norm(self.activation(self.inner(states))))
            case "class":
                return self.output(torch.tanh(self.inner(states[:, :1])))
            case "span":
                return self.output(states).transpose(1, 2)


class Bert(nn.Module):
    """Embeddings of tokens, positions and segments, then encoder layers in post-norm.

    `segments` is the number of segments, and `classes` the number of classes of a head.
    """

    def __init__(
        self,
        config: TransformerConfig,
        segments: int = 2,
        head: OutputHead | None = "masked words",
        classes: int = 2,
    ) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.source_vocab_size, config.d_model)
        self.segments = nn.Embedding(segments, config.d_model)
        self.positions = Positions(config)
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
        self.layers = nn.ModuleList(
            EncoderLayer(config, layer) for layer in range(config.encoder_layers)
        )
        self.head_kind = head
        self.head = Head(head, config, self.tokens, classes) if head else None

    @property
    def device(self) -> torch.device:
        return self.tokens.weight.device

    @property
    def encoder(self) -> Bert:
        """The model itself, which is all encoder; a Transformer has its encoder under this name."""
        return self

    def attention_at(self, site: Site) -> MultiHeadAttention:
        return self.layers[site.layer].attention

    def inputs(self, pieces: Sequence[Piece]) -> tuple[Tensor, Tensor]:
        """Return the ids and segments (1, S) of pieces, on the model's device."""
        ids = token_ids(pieces, self.device)
        segments = torch.tensor([[piece.segment for piece in pieces]], device=self.device)
        return ids, segments

    def forward(self, ids: Tensor, segments: Tensor, run: Run = Run()) -> Tensor:
        """Ids and segments (B, S) -> the last hidden states (B, S, d_model)."""
        padded = (ids == self.config.pad_id).any()
        mask = padding_mask(ids, self.config.pad_id) if padded else None
        positions = self.positions(0, ids.size(1), run.edits.get("encoder", PositionEdit()))
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


def bert_config(config: PreTrainedConfig, name: str) -> TransformerConfig:
    """Return the shape of a checkpoint's BERT; raises LoadingError if our layers do not fit it."""
    entries = config.to_dict()
    act = entries.get("hidden_act")
    unlike = {
        f"the type {config.model_type}": config.model_type != "bert",
        f"the activation {act}": act not in ACTIVATIONS,
        "a decoder's mask": entries.get("is_decoder"),
        "attention to another model": entries.get("add_cross_attention"),
        "relative positions": entries.get("position_embedding_type") not in (None, "absolute"),
    }
    if parts := [part for part, differs in unlike.items() if differs]:
        raise LoadingError(
            f"{name} is a model with {' and '.join(parts)}, which the layers here do not have. "
            "Choose another model, such as google-bert/bert-base-uncased."
        )
    try:
        return checked_config(
            source_vocab_size=config.vocab_size,
            target_vocab_size=config.vocab_size,
            d_model=config.hidden_size,
            heads=config.num_attention_heads,
            encoder_layers=config.num_hidden_layers,
            decoder_layers=0,
            d_ff=config.intermediate_size,
            dropout=config.hidden_dropout_prob,
            norm="post",
            norm_epsilon=config.layer_norm_eps,
            activation=ACTIVATIONS[act],
            positions="learned",
            max_positions=config.max_position_embeddings,
            tie_embeddings=config.tie_word_embeddings,
            pad_id=-1 if config.pad_token_id is None else config.pad_token_id,
        )
    except ValueError as error:
        raise LoadingError(f"The config of {name} does not fit together: {error}") from error


# Names of a checkpoint and ours. Norms in checkpoints before 2019 have gamma and beta.
NAMES = {
    r"^bert\.": "",
    r"\.gamma$": ".weight",
    r"\.beta$": ".bias",
    r"^embeddings\.word_embeddings\.": "tokens.",
    r"^embeddings\.token_type_embeddings\.": "segments.",
    r"^embeddings\.position_embeddings\.weight$": "positions.table",
    r"^embeddings\.LayerNorm\.": "norm.",
    r"^encoder\.layer\.(\d+)\.attention\.self\.(query|key|value)\.": r"layers.\1.attention.\2.",
    r"^encoder\.layer\.(\d+)\.attention\.output\.dense\.": r"layers.\1.attention.output.",
    r"^encoder\.layer\.(\d+)\.attention\.output\.LayerNorm\.": (
        r"layers.\1.attention_residual.norm."
    ),
    r"^encoder\.layer\.(\d+)\.intermediate\.dense\.": r"layers.\1.feed_forward.inner.",
    r"^encoder\.layer\.(\d+)\.output\.dense\.": r"layers.\1.feed_forward.output.",
    r"^encoder\.layer\.(\d+)\.output\.LayerNorm\.": r"layers.\1.feed_forward_residual.norm.",
}
HEAD_NAMES: dict[OutputHead, dict[str, str]] = {
    "masked words": {
        r"^cls\.predictions\.transform\.dense\.": "head.inner.",
        r"^cls\.predictions\.transform\.LayerNorm\.": "head.norm.",
        r"^cls\.predictions\.decoder\.": "head.output.",
        r"^cls\.predictions\.bias$": "head.output.bias",
    },
    "class": {r"^pooler\.dense\.": "head.inner.", r"^classifier\.": "head.output."},
    "span": {r"^qa_outputs\.": "head.output."},
}
OURS = ("tokens.", "segments.", "positions.", "norm.", "layers.", "head.")


def renamed(weights: dict[str, Tensor], head: OutputHead | None) -> dict[str, Tensor]:
    """Return a checkpoint's tensors under our names, without those of other heads."""
    names = NAMES | HEAD_NAMES.get(head, {})
    ours = {}
    for name, tensor in weights.items():
        for theirs, our in names.items():
            name = re.sub(theirs, our, name)
        if name.startswith(OURS):
            ours[name] = tensor
    return ours


def head_of(config: PreTrainedConfig, names: Collection[str]) -> OutputHead | None:
    """Return the head of a checkpoint, by its config and the names of its tensors.

    A classifier of texts has the same tensors as one of tokens or of choices: only the config tells
    them apart.
    """
    if "cls.predictions.transform.dense.weight" in names:
        return "masked words"
    if "qa_outputs.weight" in names:
        return "span"
    pooled = any(name.endswith("pooler.dense.weight") for name in names)
    of_texts = set(config.architectures or ()) <= {"BertForSequenceClassification"}
    return "class" if "classifier.weight" in names and pooled and of_texts else None


def build_bert(config: PreTrainedConfig, weights: dict[str, Tensor], name: str) -> Bert:
    """Return a BERT with a checkpoint's weights, as float32 and ready for inference.

    It has the checkpoint's head if it is one of those here. Raises LoadingError if tensors are
    missing or have other shapes than in the config.
    """
    shape, head = bert_config(config, name), head_of(config, weights)
    ours = renamed(weights, head)
    if head == "masked words" and shape.tie_embeddings:
        ours.pop("head.output.weight", None)
    build = partial(Bert, shape, config.type_vocab_size, head, config.num_labels)
    try:
        numbers = sum(weight.numel() for weight in weights.values())
        # Before memory is taken for weights that do not fit.
        with Counted(numbers, len(weights)), torch.device("meta"):
            copy_weights(build(), ours)
        bert = build()
        copy_weights(bert, ours)
    except ValueError as error:
        raise LoadingError(
            f"The weights of {name} do not fit its config. {error} Download or save it again, or "
            "choose another model."
        ) from error
    return bert.eval()
