"""Find the modules of a transformers model that add to the decoder's stream, or that read it.

Their names differ between families. So the model reads a short text, and its modules' outputs are
compared with the growth of the stream, and its norms' inputs with the stream itself. The modules
are known only if they explain the whole stream, as in a pre-norm model without further steps.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from headlight.model.library.decoder_hooks import (
    Captured,
    capture,
    capturing,
    freeze_any,
    hear_call,
    hold,
    is_norm,
)
from headlight.model.stream import DecoderStream, is_close
from headlight.model.transformer.trace import AttentionRecord, Block, ResidualRecord, Site

# Names of the output projection, which reads the concatenated heads: in the attention module, or
# next to it as in BERT.
NAMES = ("o_proj", "out_proj", "c_proj", "out_lin", "Wo", "o", "dense")
BESIDE = "output.dense"
# Names of steps between the heads and the output projection, which then does not read the heads.
BETWEEN = ("attn_sub_norm", "sub_norm", "gate_proj", "g_proj")


class BlockModules(NamedTuple):
    """The norm whose output a block reads, and the module whose output goes into the stream."""

    norm: nn.Module
    part: nn.Module


@dataclass(frozen=True)
class DecoderModules:
    """The modules that add to a pre-norm decoder's stream, and those that read it.

    They keep the hook `capture`, which does nothing in threads that are not `capturing`.
    """

    # the modules of each block, in the order in which they add to the stream
    blocks: Mapping[Block, BlockModules]
    biases: Mapping[Site, Tensor]  # (d_model,), the biases of the output projections
    norm: nn.Module  # the norm after the last layer
    factor: float  # the factor between the last norm's output and the output layer's input
    output: nn.Linear
    output_bias: Tensor  # (V,)
    attending: Mapping[Site, nn.Module]
    tokens: nn.Module | None  # the table of token embeddings; None if unknown
    # the module whose output is added to the token embeddings; None if unknown
    positions: nn.Module | None

    @property
    def feed_forwards(self) -> list[nn.Module]:
        """The feed-forward network of each layer."""
        return [each.part for block, each in self.blocks.items() if block.part == "feed_forward"]

    @property
    def table(self) -> nn.Embedding | None:
        """The table of learned positions (positions, d_model), if the model has one."""
        return self.positions if type(self.positions) is nn.Embedding else None

    def residual(self, captured: Captured, before: Sequence[Tensor]) -> dict[Block, ResidualRecord]:
        """Return the stream at every block; `before` is the stream (T, d_model) before each layer.

        Each tensor of a record is (1, T, d_model). In a layer whose blocks run side by side, each
        block reads the stream from before the first block.
        """
        stream, records = [*before, captured.inputs[self.norm]], {}
        for block, (norm, part) in self.blocks.items():
            if block.part == "self":
                states = stream[block.layer]
            inputs, change = captured.outputs[norm], captured.outputs[part]
            last = block.part == "feed_forward"
            outputs = stream[block.layer + 1] if last else states + change
            records[block] = ResidualRecord(*(x[None] for x in (states, inputs, change, outputs)))
            states = outputs
        return records

    def read_out(self, states: Tensor) -> Tensor:
        """Return the logits (..., V) that the last norm and the output layer make of states."""
        weight = self.output.weight.detach()
        read = self.factor * self.norm(states.to(weight.dtype))
        return (read @ weight.T).float() + self.output_bias

    def stream(self, captured: Captured, embedding: Tensor, logits: Tensor) -> DecoderStream:
        """Return the stream of a captured call, with embedding (T, d_model) and logits (T, V)."""
        states, outputs = captured.inputs[self.norm], captured.outputs[self.norm]
        return DecoderStream(
            embedding=embedding,
            projection_biases=self.biases,
            feed_forwards=torch.stack([captured.outputs[part] for part in self.feed_forwards]),
            states=states,
            norm=freeze_any(self.norm, states, outputs, self.factor),
            outputs=self.factor * outputs,
            unembedding=self.output.weight.detach(),
            logits=logits.float(),
        )


def decoder_states(outputs: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """Return the decoder's states (B, T, d_model) before each layer, and after the last layer."""
    states = outputs.get("decoder_hidden_states") or outputs.get("hidden_states") or ()
    return tuple(each.float() for each in states)


def find_modules(
    model: nn.Module,
    inputs: Mapping[str, Tensor],
    modules: Mapping[Site, nn.Module],
    records: Mapping[Site, AttentionRecord],
) -> DecoderModules | None:
    """Return a decoder's modules; None if its stream is not the sum of its modules' outputs.

    `modules` are those that attend, and `records` come from a call on the same `inputs`.
    """
    output = getattr(model, "get_output_embeddings", lambda: None)()
    if not isinstance(output, nn.Linear) or not modules:
        return None
    hooks = [part.register_forward_hook(capture) for part in model.modules()]
    try:
        with capturing() as captured:
            outputs = model(**inputs, output_hidden_states=True)
    finally:
        for hook in hooks:
            hook.remove()
    logits, read = outputs["logits"][0].float(), captured.inputs.get(output)
    unembedding, dtype = output.weight.float(), output.weight.dtype
    layers = 1 + max(site.layer for site in modules)
    before = [states[0] for states in decoder_states(outputs)[:layers]]
    whole = logits.shape[1:] == output.weight.shape[:1] and len(before) == layers
    if read is None or not whole:
        return None
    rest = logits - read @ unembedding.T
    if not is_close(logits - rest + rest[:1], logits, dtype):  # a bias is the same for every token
        return None
    bias = torch.zeros_like(rest[0]) if is_close(logits - rest, logits, dtype) else rest[0]
    last = last_norm(captured, read, dtype)
    if last is None:
        return None
    norm, factor = last
    stream = [*before, captured.inputs[norm]]
    attending = {part for module in modules.values() for part in module.modules()}
    others = [part for part in model.modules() if part not in attending]
    blocks, biases = {}, {}
    for layer in range(layers):
        states = stream[layer]
        for site in [site for site in modules if site.layer == layer]:
            parts = heads_to_stream(model, modules[site], records[site].heads.size(1))
            if parts is None:
                return None
            added = projection_bias(model, modules[site])
            biases |= {} if added is None else {site: added}
            block = Block("decoder", layer, "cross" if site.kind == "cross" else "self")
            projection = output_projection(model, modules[site])
            reads = norm_before(captured, modules[site].modules(), dtype, states, stream[layer])
            blocks[block] = reads, projection
            states = states + torch.einsum("hdo,hqd->qo", parts, records[site].heads[0])
            states = states if added is None else states + added
        rest = stream[layer + 1] - states
        reads = norm_before(captured, others, dtype, states, stream[layer])
        # In half precision the stream is rounded, so the rest has the stream's rounding errors.
        of = rest if dtype == torch.float32 else stream[layer + 1]
        part = nearest(captured.outputs, rest, dtype, of)
        blocks[Block("decoder", layer, "feed_forward")] = reads, part
    known = {block: BlockModules(*pair) for block, pair in blocks.items() if None not in pair}
    parts = [each.part for each in known.values()]
    if len(set(parts)) < len(blocks):
        return None
    embedding = embedding_of(captured, before[0], output.out_features, dtype)
    for part in {*parts, *(each.norm for each in known.values()), norm, *embedding} - {None}:
        part.register_forward_hook(capture)
    for module in modules.values():
        module.register_forward_pre_hook(hear_call, with_kwargs=True)
        for part in filter(is_norm, module.modules()):
            part.register_forward_hook(hold)
    return DecoderModules(known, biases, norm, factor, output, bias, modules, *embedding)


def embedding_of(
    captured: Captured, states: Tensor, vocabulary: int, dtype: torch.dtype
) -> tuple[nn.Module, nn.Module] | tuple[None, None]:
    """Return the table of tokens and the module of positions whose sum is `states` (T, d_model).

    The table has as many rows as the `vocabulary`. Return None, None if there are no such modules.
    """
    tables = {part for part in captured.outputs if getattr(part, "num_embeddings", 0) == vocabulary}
    others = {part: each for part, each in captured.outputs.items() if part not in tables}
    for table in [part for part in tables if captured.outputs[part].shape == states.shape]:
        rest = states - captured.outputs[table]
        if rest.any() and (match := nearest(others, rest, dtype, states)):
            return table, match
    return None, None


def norm_before(
    captured: Captured, readers: Iterable[nn.Module], dtype: torch.dtype, *several: Tensor
) -> nn.Module | None:
    """Return the norm whose input is one of several states (T, d_model) and whose output is read.

    One of the `readers` must read its output. The states are tried in order.
    """
    read = [captured.inputs[part] for part in readers if part in captured.inputs]
    norms = {
        part: captured.inputs[part]
        for part, normed in captured.outputs.items()
        if is_norm(part) and any(torch.equal(normed, x) for x in read)
    }
    matches = (nearest(norms, states, dtype, states) for states in several)
    return next(filter(None, matches), None)


def nearest(
    tensors: Mapping[nn.Module, Tensor], expected: Tensor, dtype: torch.dtype, of: Tensor
) -> nn.Module | None:
    """Return the module whose tensor equals the expected one except for rounding, see `is_close`.

    If several modules match, as may happen with a few huge numbers, return the one with the nearest
    tensor.
    """
    differences = {
        part: (tensor - expected).abs().max().item()
        for part, tensor in tensors.items()
        if tensor.shape == expected.shape and is_close(tensor, expected, dtype, of)
    }
    return min(differences, key=differences.__getitem__, default=None)


def last_norm(
    captured: Captured, read: Tensor, dtype: torch.dtype
) -> tuple[nn.Module, float] | None:
    """Return the norm before the output layer, and the factor between the norm's output and `read`.

    `read` is the output layer's input (T, d_model).
    """
    for part in reversed(captured.outputs):
        states, normed = captured.inputs.get(part), captured.outputs[part]
        if not is_norm(part) or normed.shape != read.shape:
            continue
        factor = ((normed * read).sum() / normed.square().sum()).item()
        if states is not None and is_close(factor * normed, read, dtype):
            try:
                freeze_any(part, states, normed)
            except ValueError:
                return None
            return part, factor
    return None


def heads_to_stream(model: nn.Module, module: nn.Module, heads: int) -> Tensor | None:
    """Return the output projection of an attention module, split by heads: (H, D, d_model).

    A head adds its output (Q, D) times its part to the stream; the projection's bias belongs to no
    head. Return None if the projection has an unknown name or shape.
    """
    projection = output_projection(model, module)
    if projection is None or any(hasattr(module, name) for name in BETWEEN):
        return None
    # GPT-2's Conv1D in transformers stores its weight transposed.
    weight: Any = projection.weight
    weight = weight.T if isinstance(projection, nn.Linear) else weight
    return None if weight.size(0) % heads else weight.detach().float().unflatten(0, (heads, -1))


def projection_bias(model: nn.Module, module: nn.Module) -> Tensor | None:
    """Return the bias (d_model,) of a module's output projection, if any."""
    bias = getattr(output_projection(model, module), "bias", None)
    return None if bias is None else bias.detach().float()


def output_projection(model: nn.Module, module: nn.Module) -> nn.Module | None:
    """Return the layer that reads the concatenated heads of a module, if its name is known."""
    candidates = [getattr(module, name) for name in NAMES if hasattr(module, name)]
    if not candidates:
        name_of_module = next(name for name, part in model.named_modules() if part is module)
        parent = model.get_submodule(name_of_module.rpartition(".")[0])
        candidates = [part for name, part in parent.named_modules() if name == BESIDE]
    return next((part for part in candidates if getattr(part, "weight", None) is not None), None)
