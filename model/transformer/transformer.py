"""The encoder-decoder Transformer of "Attention Is All You Need"."""

import math

import torch
from torch import Tensor, nn

from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.layers import DecoderLayer, EncoderLayer
from headlight.model.transformer.masks import Visible, look_ahead_mask, padding_mask
from headlight.model.transformer.positions import UNMOVED, Placement, Positions
from headlight.model.transformer.trace import EmbeddingRecord, Run, Side


class Embedding(nn.Module):
    """Token embeddings scaled by sqrt(d_model) (section 3.4), plus positions."""

    def __init__(self, config: TransformerConfig, tokens: nn.Embedding, side: Side) -> None:
        super().__init__()
        self.side: Side = side
        self.tokens = tokens
        self.positions = Positions(config)
        self.scale = math.sqrt(config.d_model)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor, run: Run = Run(), start: int = 0) -> Tensor:
        """(B, T) ids of the tokens start, start + 1, ... -> (B, T, d_model)."""
        tokens = self.tokens(ids)  # (B, T, d_model)
        scaled = tokens * self.scale
        placement: Placement = run.edits.get(self.side, UNMOVED)
        positions = self.positions(start, start + ids.size(1), placement)  # (T, d_model)
        states = self.dropout(scaled + positions)
        if run.trace is not None:
            run.trace.embedding[self.side] = EmbeddingRecord(tokens, scaled, positions, states)
        return states


class Encoder(nn.Module):
    """Layers of self-attention over the source."""

    def __init__(self, config: TransformerConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding = Embedding(config, tokens, "encoder")
        layers = range(config.encoder_layers)
        self.layers = nn.ModuleList(EncoderLayer(config, layer) for layer in layers)
        self.norm = final_norm(config)

    def forward(self, ids: Tensor, mask: Tensor, run: Run) -> Tensor:
        """(B, S) ids -> (B, S, d_model)."""
        states = self.embedding(ids, run)
        for layer in self.layers:
            states = layer(states, mask, run)
        outputs = self.norm(states)
        if run.trace is not None:
            run.trace.outputs["encoder"] = outputs
        return outputs


class Decoder(nn.Module):
    """Layers of masked self-attention over the target and attention to the encoder's output."""

    def __init__(self, config: TransformerConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding = Embedding(config, tokens, "decoder")
        layers = range(config.decoder_layers)
        self.layers = nn.ModuleList(DecoderLayer(config, layer) for layer in layers)
        self.norm = final_norm(config)

    def forward(
        self, ids: Tensor, memory: Tensor, mask: Visible, memory_mask: Visible, run: Run
    ) -> Tensor:
        """(B, T) ids and memory (B, S, d_model) -> (B, T, d_model)."""
        states = self.embedding(ids, run, start=run.cache.length if run.cache else 0)
        for layer in self.layers:
            states = layer(states, memory, mask, memory_mask, run)
        outputs = self.norm(states)
        if run.trace is not None:
            run.trace.outputs["decoder"] = outputs
        return outputs


class Transformer(nn.Module):
    """Encoder, decoder and output layer: source and target ids in, next-token logits out."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        source_tokens = target_tokens = nn.Embedding(config.source_vocab_size, config.d_model)
        if not config.tie_embeddings:
            target_tokens = nn.Embedding(config.target_vocab_size, config.d_model)
        self.encoder = Encoder(config, source_tokens)
        self.decoder = Decoder(config, target_tokens)
        self.output = nn.Linear(config.d_model, config.target_vocab_size, bias=False)
        if config.tie_embeddings:
            self.output.weight = target_tokens.weight
        self.draw_weights()

    def draw_weights(self, generator: torch.Generator | None = None) -> None:
        """Initialize all weights at random, with torch's own generator or another.

        Token vectors have about unit length, so that they can also be the weights of the output
        layer. Norms keep their weights, because nothing in them is random.
        """
        sides = (self.encoder.embedding, self.decoder.embedding)
        tables = [*(side.tokens.weight for side in sides), self.output.weight]
        for table in dict.fromkeys(tables):  # tied tables are the same tensor, which is filled once
            nn.init.normal_(table, std=self.config.d_model**-0.5, generator=generator)
        for side in sides:
            side.positions.draw_weights(generator)
        for module in self.modules():
            if isinstance(module, nn.Linear) and module is not self.output:
                nn.init.xavier_uniform_(module.weight, generator=generator)
                nn.init.zeros_(module.bias)

    @property
    def device(self) -> torch.device:
        return self.output.weight.device

    def forward(self, source_ids: Tensor, target_ids: Tensor, run: Run = Run()) -> Tensor:
        """Return the logits (B, T, V) of the token after each of `target_ids` (B, T)."""
        memory = self.encode(source_ids, run)
        return self.decode(target_ids, memory, self.source_mask(source_ids), run)

    def encode(self, source_ids: Tensor, run: Run = Run()) -> Tensor:
        """Source ids (B, S) -> memory (B, S, d_model)."""
        return self.encoder(source_ids, self.source_mask(source_ids), run)

    def decode(
        self, target_ids: Tensor, memory: Tensor | None, memory_mask: Visible, run: Run = Run()
    ) -> Tensor:
        """Target ids (B, T) and memory (B, S, d_model) -> logits (B, T, V).

        A model with only a decoder needs no memory. With a cache in `run`, `target_ids` are only
        the new positions, without padding.
        """
        mask = self.target_mask(target_ids, run)
        logits = self.output(self.decoder(target_ids, memory, mask, memory_mask, run))
        if run.cache is not None:
            run.cache.length += target_ids.size(1)
        if run.trace is not None:
            run.trace.logits = logits
        return logits

    def source_mask(self, source_ids: Tensor) -> Tensor:
        """(B, S) -> (B, 1, 1, S): every query sees the keys that are not padding."""
        return padding_mask(source_ids, self.config.pad_id)

    def target_mask(self, target_ids: Tensor, run: Run = Run()) -> Visible:
        """(B, T) -> (B, 1, T, T): a query sees keys up to its own that are not padding.

        A model without look-ahead mask sees all keys that are not padding: (B, 1, 1, T). With a
        cache, a single new position sees all earlier ones, and needs no mask.
        """
        if not self.config.look_ahead_mask:
            return padding_mask(target_ids, self.config.pad_id)
        if run.cache is not None:
            if target_ids.size(1) == 1:
                return None
            return look_ahead_mask(target_ids.size(1), run.cache.length, target_ids.device)
        look_ahead = look_ahead_mask(target_ids.size(1), device=target_ids.device)
        return look_ahead & padding_mask(target_ids, self.config.pad_id)


def final_norm(config: TransformerConfig) -> nn.Module:
    """Return the norm after the last layer; a post-norm model does without."""
    if config.norm == "post":
        return nn.Identity()
    return nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
