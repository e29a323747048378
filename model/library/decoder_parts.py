"""Split a query and a key of a decoder of the transformers library into parts.

The attention module is called again on the inputs that it had in a run. If the norms in it keep
their scales, its queries and keys are linear in these inputs, even with rotary positions, so the
gradients give the share of each part.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

import torch
from torch import Tensor, nn

from headlight.model.library.attachment import Attachment
from headlight.model.library.decoder_hooks import Captured, freeze_any, holding
from headlight.model.stream import (
    BIASES,
    MEMORY,
    HeadsTrace,
    Part,
    Parts,
    ScoreAddress,
    block_of,
    precise,
    through,
    through_norm,
    written,
)
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site

# the names of arguments that hold an encoder's output
MEMORIES = ("key_value_states", "encoder_hidden_states")


class End(NamedTuple):
    """A query or a key (D,), computed from the state of one `token` of `states` (1, T, d_model)."""

    vector: Tensor
    states: Tensor
    token: int

    def slope(self) -> Tensor:
        """Return the derivative of the vector with respect to the token's state: (D, d_model)."""
        rows = [torch.autograd.grad(x, self.states, retain_graph=True)[0] for x in self.vector]
        return precise(torch.stack([row[0, self.token] for row in rows]))


@dataclass(frozen=True)
class CapturedRun:
    """A run of a decoder whose stream is a sum, with the inputs and outputs of its modules.

    `trace` holds the outputs of heads at the two tokens of a score.
    """

    model: nn.Module
    attached: Attachment
    captured: Captured
    trace: HeadsTrace
    embedding: Tensor  # (T, d_model), the stream before the first layer

    def parts(self, score: ScoreAddress) -> tuple[Parts, Parts]:
        """Return the parts (D,) of a score's query and key; an encoder's output is one part."""
        with torch.enable_grad(), holding() as held:
            ends = self.call_again(score)
            slopes = [end.slope() for end in ends]
            held.place = 0
            constants = [precise(end.vector) for end in self.call_again(score, factor=0.0)]
        reads = [self.read(score, score.query)]
        if score.site.kind == "cross":
            memory = precise(ends[1].states[0, score.key])
            reads.append({MEMORY: memory, BIASES: torch.zeros_like(memory)})
        else:
            reads.append(self.read(score, score.key))
        query, key = (
            through(read, lambda vectors, slope=slope: vectors @ slope.T, constant)
            for read, slope, constant in zip(reads, slopes, constants, strict=True)
        )
        return query, key

    def call_again(self, score: ScoreAddress, factor: float = 1.0) -> tuple[End, End]:
        """Call the attention module that computed a score on its recorded input, times a factor."""
        module = self.attached.decoder.attending[score.site]
        args, options = self.captured.calls[module]

        def leaf(states: Tensor) -> Tensor:
            return (factor * states).detach().requires_grad_()

        states = leaf(args[0] if args else options["hidden_states"])
        memories = {name: leaf(options[name]) for name in MEMORIES if options.get(name) is not None}
        options = {**options, **memories} | ({} if args else {"hidden_states": states})
        trace = Trace()
        with self.attached.watching(Run(trace=trace)):
            module(*(states if part is args[0] else part for part in args), **options)
        record = trace.attention[score.site]
        query, key = record.query[0, score.head, score.query], record.key[0, score.head, score.key]
        memory = next(iter(memories.values()), states)
        return End(query, states, score.query), End(key, memory, score.key)

    def read(self, score: ScoreAddress, token: int) -> Parts:
        """Return the parts (d_model,) of the state that a score's attention reads at a token."""
        decoder, end = self.attached.decoder, block_of(score.site)
        parts = self.embedded(token)
        for block, (_, part) in takewhile(lambda each: each[0] != end, decoder.blocks.items()):
            if block.part == "feed_forward":
                change = precise(self.captured.outputs[part][token])
                parts = {**parts, Part("feed-forward", layer=block.layer): change}
            else:
                site = Site("cross" if block.part == "cross" else "decoder", block.layer)
                to_stream = self.attached.heads_to_stream(self.model, site)
                bias = decoder.biases.get(site, torch.zeros(()))
                parts = written(parts, site, self.trace.heads[site, token], to_stream, bias)
        norm = decoder.blocks[end].norm
        states, outputs = self.captured.inputs[norm], self.captured.outputs[norm]
        return through_norm(parts, freeze_any(norm, states[token, None], outputs[token, None]))

    def embedded(self, token: int) -> Parts:
        """Return the parts of a token's vector before the first layer."""
        vector, positions = precise(self.embedding[token]), self.attached.decoder.positions
        parts = {Part("embedding"): vector, BIASES: torch.zeros_like(vector)}
        if positions is not None:
            position = precise(self.captured.outputs[positions][token])
            parts |= {Part("embedding"): vector - position, Part("position"): position}
        return parts
