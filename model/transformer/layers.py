"""The layers of the encoder and of the decoder, and their sublayers."""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from headlight.model.transformer.attention import MultiHeadAttention
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.masks import Visible
from headlight.model.transformer.trace import Block, ResidualRecord, Run, Site


def activation(config: TransformerConfig) -> Callable[[Tensor], Tensor]:
    """Return the activation function of the feed-forward network; GELU is exact, not by tanh."""
    return F.relu if config.activation == "relu" else F.gelu


class FeedForward(nn.Module):
    """The same two-layer network at every position ("Attention Is All You Need", section 3.3)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.inner = nn.Linear(config.d_model, config.d_ff)
        self.output = nn.Linear(config.d_ff, config.d_model)
        self.activation = activation(config)

    def forward(self, states: Tensor) -> Tensor:
        """(B, T, d_model) -> (B, T, d_model)."""
        return self.output(self.activation(self.inner(states)))


class Residual(nn.Module):
    """A sublayer's residual connection with its layer norm.

    Pre-norm is x + f(norm(x)); post-norm is norm(x + f(x)), as in "Attention Is All You Need",
    section 3.1.
    """

    def __init__(self, config: TransformerConfig, block: Block) -> None:
        super().__init__()
        self.block = block
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
        self.dropout = nn.Dropout(config.dropout)
        self.norm_first = config.norm == "pre"

    def forward(self, states: Tensor, sublayer: Callable[[Tensor], Tensor], run: Run) -> Tensor:
        """(B, T, d_model) -> (B, T, d_model)."""
        inputs = self.norm(states) if self.norm_first else states
        change = self.dropout(sublayer(inputs))
        outputs = states + change if self.norm_first else self.norm(states + change)
        if run.trace is not None:
            run.trace.residual[self.block] = ResidualRecord(states, inputs, change, outputs)
        return outputs


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: TransformerConfig, layer: int) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config, Site("encoder", layer))
        self.attention_residual = Residual(config, Block("encoder", layer, "self"))
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config, Block("encoder", layer, "feed_forward"))

    def forward(self, states: Tensor, mask: Visible, run: Run) -> Tensor:
        """(B, S, d_model) -> (B, S, d_model)."""
        states = self.attention_residual(states, lambda x: self.attention(x, x, mask, run), run)
        return self.feed_forward_residual(states, self.feed_forward, run)


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention to the encoder's output, then feed-forward.

    In a model without encoder layers there is no cross-attention.
    """

    def __init__(self, config: TransformerConfig, layer: int) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config, Site("decoder", layer))
        self.self_residual = Residual(config, Block("decoder", layer, "self"))
        self.is_decoder_only = not config.encoder_layers
        if not self.is_decoder_only:
            self.cross_attention = MultiHeadAttention(config, Site("cross", layer))
            self.cross_residual = Residual(config, Block("decoder", layer, "cross"))
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config, Block("decoder", layer, "feed_forward"))

    def forward(
        self, states: Tensor, memory: Tensor, mask: Visible, memory_mask: Visible, run: Run
    ) -> Tensor:
        """(B, T, d_model) and the encoder's memory (B, S, d_model) -> (B, T, d_model)."""
        states = self.self_residual(states, lambda x: self.self_attention(x, x, mask, run), run)
        if not self.is_decoder_only:
            states = self.cross_residual(
                states, lambda x: self.cross_attention(x, memory, memory_mask, run), run
            )
        return self.feed_forward_residual(states, self.feed_forward, run)
