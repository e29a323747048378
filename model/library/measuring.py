"""Compare recorded numbers with those of the transformers library itself, on given texts.

A recorded run over a whole text is compared with the library's own eager attention, and writing
step by step with a cache is compared with that run. Our own BERT is compared with the library's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from headlight.model.library.generation import GenerationPrefixes, Watchable, generate
from headlight.model.library.hub import LoadingError, first_line
from headlight.model.library.running import join_blocks
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Kind, Run

if TYPE_CHECKING:
    from transformers import PreTrainedModel
    from transformers.utils.generic import ModelOutput


class Bounds(NamedTuple):
    """The largest differences from the library that count as rounding."""

    same: float  # the bound in this project's tests, for outputs and weights over a whole text
    shown: float  # the bound for loading a model, for outputs and weights over a whole text
    steps: float  # the bound for log-probabilities and weights at written steps


BOUNDS = {  # the bounds by the model's dtype; with float32, rounding is usually about 1e-6
    torch.float32: Bounds(1e-4, 1e-3, 1e-2),
    torch.float16: Bounds(1e-2, 1e-1, 1e-1),
    torch.bfloat16: Bounds(1e-1, 1.0, 1.0),
}
STEPS = 2  # the number of tokens that are written step by step in the comparison
NAMES: dict[str, Kind] = {
    "attentions": "encoder",
    "encoder_attentions": "encoder",
    "decoder_attentions": "decoder",
    "cross_attentions": "cross",
}


class LibraryRun(NamedTuple):
    """A model's inputs, and its outputs with the library's own attention."""

    inputs: Mapping[str, Tensor]
    outputs: ModelOutput

    @property
    def read(self) -> Tensor:
        """The ids (1, T) that the decoder reads; without a decoder, the encoder's ids."""
        return self.inputs.get("decoder_input_ids", self.inputs["input_ids"])

    def sizes(self, kind: Kind) -> tuple[int, int]:
        """Return the number of queries and keys of a kind of attention over the text."""
        source, target = self.inputs["input_ids"].size(1), self.read.size(1)
        return {"encoder": (source, source), "decoder": (target, target)}.get(
            kind, (target, source)
        )


class Measured(NamedTuple):
    """The result of comparing a model's recorded attention with the library's own."""

    parity: Parity
    writes: bool  # True if writing step by step gives the same as reading the whole text


class Whole(NamedTuple):
    """A recorded run over a whole text, with its difference from the library's run, `text`."""

    text: LibraryRun
    trace: Trace
    outputs: ModelOutput
    parity: Parity


def call(model: PreTrainedModel, inputs: Mapping[str, Tensor], **options: bool) -> ModelOutput:
    """Call a model on a whole text without a cache: with one, FSMT's decoder would look ahead."""
    if model.config.is_encoder_decoder:
        options["use_cache"] = False
    return model(**inputs, **options)


def read_texts(
    model: PreTrainedModel, several: Sequence[Mapping[str, Tensor]], name: str
) -> list[LibraryRun]:
    """Run a model with its present attention over several texts; return inputs and outputs.

    Raises LoadingError if the model cannot read them.
    """
    try:
        return [
            LibraryRun(inputs, call(model, inputs, output_attentions=True)) for inputs in several
        ]
    # any error: the model may be for images or sound, or its config unusual
    except Exception as error:
        raise LoadingError(
            f"{name} cannot read a text: {first_line(error)} Choose another model."
        ) from error


def measured(
    attached: Watchable, model: PreTrainedModel, texts: Sequence[LibraryRun], name: str
) -> Measured:
    """Return the largest differences on the texts, and whether written steps equal the whole text.

    The first text is short. If steps with a cache differ, the model's cache is switched off. Raises
    LoadingError if its attention over a text differs, or cannot be recorded.
    """
    wholes = [read_whole(attached, model, text, name) for text in texts]
    parity = Parity(*map(max, zip(*(whole.parity for whole in wholes), strict=True)))
    if not model.can_generate() or all(at.kind != "decoder" for at in wholes[0].trace.attention):
        return Measured(parity, writes=True)
    # An encoder-decoder begins with one token, its start token; FSMT fails with more.
    begun = [(wholes[0], 1)] if model.config.is_encoder_decoder else []
    if not begun or len(wholes) > 1:
        begun.append((wholes[-1], wholes[-1].text.read.size(1) - STEPS))
    for cached in (True, False):
        if not cached:
            model.config.use_cache = False
        if all(steps_agree(attached, model, *beginning) for beginning in begun):
            return Measured(parity, writes=True)
    return Measured(parity, writes=False)


def read_whole(attached: Watchable, model: PreTrainedModel, text: LibraryRun, name: str) -> Whole:
    """Record a run over a text; raise LoadingError if it differs from the library's own run."""
    trace = Trace()
    over = (
        f"{name} is of the type {model.config.model_type}, whose attention over "
        f"{text.read.size(1)} tokens"
    )
    try:
        with attached.watching(Run(trace=trace)):
            outputs = call(model, text.inputs)
        parity = parity_on(text, trace, outputs[0])
    except Exception as error:  # any error: the model may use other shapes or other calls
        raise LoadingError(
            f"{over} cannot be recorded: {first_line(error)} Choose another model."
        ) from error
    if not all(part <= BOUNDS[model.dtype].shown for part in parity):
        raise LoadingError(
            f"{over} is recorded with differences of up to {max(parity):.2g} from the library's "
            "own numbers. Choose another model."
        )
    return Whole(text, trace, outputs, parity)


def parity_on(text: LibraryRun, trace: Trace, outputs: Tensor) -> Parity:
    """Compare the recorded weights and the outputs of a text with those of the library itself.

    Raises ValueError if the model attends to anything else than the tokens of the text.
    """
    kinds: set[Kind] = {site.kind for site in trace.attention}
    ours: dict[Kind, Tensor] = {kind: trace.weights(kind) for kind in kinds}
    for kind, weights in ours.items():
        if weights.shape[-2:] != text.sizes(kind):
            raise ValueError("it looks at more than the tokens of a text.")
    theirs: dict[Kind, Sequence[Tensor]] = {
        kind: text.outputs[at] for at, kind in NAMES.items() if text.outputs.get(at)
    }
    if len(kinds) == 1:  # with one kind of attention, the output "attentions" may be a decoder's
        theirs = dict(zip(kinds, theirs.values(), strict=False))
    return Parity(
        outputs=difference(outputs, text.outputs[0]),
        weights=max(
            (difference(ours[kind], as_maps(layers, *text.sizes(kind)))
             for kind, layers in theirs.items()),
            default=0.0,
        ),
    )  # fmt: skip


def as_maps(layers: Sequence[Tensor], queries: int, keys: int) -> Tensor:
    """Return the library's weights as (layers, H, Q, K), even if a model returns another form."""
    maps = torch.cat(
        [join_blocks(layer, keys, outside=0.0) if layer.dim() == 5 else layer for layer in layers]
    )
    # SqueezeBERT returns scores instead of weights
    return maps.softmax(dim=-1) if (maps < 0).any() else maps


def difference(ours: Tensor, theirs: Tensor) -> float:
    """Return the largest absolute difference of two tensors; infinite if their shapes differ."""
    return (ours - theirs).abs().max().item() if ours.shape == theirs.shape else float("inf")


def steps_agree(attached: Watchable, model: PreTrainedModel, whole: Whole, count: int) -> bool:
    """Return whether reading a text step by step after `count` tokens equals reading it whole.

    The steps are computed as when the model writes; see `Writer.decode`.
    """
    read = whole.text.read
    begun = read[:, :count]
    expected = whole.outputs["logits"].float().log_softmax(dim=-1)
    bound = BOUNDS[model.dtype].steps
    agree: list[bool] = []

    def steps(
        model: PreTrainedModel,
        input_ids: Tensor,
        logits_processor: object,
        stopping_criteria: object,
        generation_config: object,
        **inputs: object,
    ) -> None:
        prefixes = GenerationPrefixes(
            model, attached, begun, inputs, lambda ids, logits: logits,
            ends=frozenset(), edits={}, beam=False,
        )  # fmt: skip
        for position in range(count, count + STEPS):
            step = Trace()
            predicted = prefixes.next_log_probabilities(step)
            agree.append(difference(predicted, expected[:, position - 1]) <= bound)
            for site, record in step.attention.items():
                weights = record.weights[:, :, -1]  # (1, H, K)
                row = whole.trace.attention[site].weights[:, :, position - 1, : weights.size(-1)]
                agree.append(difference(weights, row) <= bound)
            prefixes.extend(torch.tensor([0]), read[:, position])

    inputs = dict(whole.text.inputs)
    inputs["decoder_input_ids" if "decoder_input_ids" in inputs else "input_ids"] = begun
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    try:
        generate(model, inputs, steps, STEPS)
    except Exception:  # any error: the library may never have run this model step by step
        return False
    return all(agree)


class Parity(NamedTuple):
    """The largest absolute differences from the transformers library, on one or more texts."""

    outputs: float  # of the logits; without a head, of the last hidden states
    weights: float  # of the attention weights of all heads in all layers
