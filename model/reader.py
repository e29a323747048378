"""The interface of all models for pages and notebooks.

A reader is a model with its tokenizer: the encoder-decoder of this project, a BERT built from its
layers, or a model of the transformers library. A reader lists in `missing` what it cannot do, so
that no code has to check its class.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from headlight.model.decoding.steps import Decoding, Writing
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import NamedMask, check_edits, check_sites
from headlight.model.questions import Objective, Question, Request
from headlight.model.rotary import Rotary
from headlight.model.shape import Ability, Shape
from headlight.model.stream import DecoderStream, HeadsTrace, Parts, ScoreAddress, own_parts
from headlight.model.tokens import Token
from headlight.model.trace import Trace
from headlight.model.transformer.trace import MaybeNone, Run, RunEdits, Site

OTHER_WORDS = (
    "Words are compared only in models that were trained here: choose one, such as English to "
    "French."
)

CUT = "The model reads at most {most} tokens; the rest of this {what} is cut off."


class Reader(Protocol):
    """A model with its tokenizer; calls do not change it, so threads may share it."""

    title: str
    model: Any  # the network, whose class depends on the kind of reader
    # the recorder of a network that runs in somebody else's code; None for our own
    attached: Any = None
    shape: Shape
    # the abilities that the model lacks, each with a sentence that says why
    missing: Mapping[Ability, str]
    example: str = ""  # a text to begin with, for a model that does not read English

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title}, kinds={self.shape.kinds})"

    def show(self, text: str = "") -> object:
        """Open the app on this model, in this process; see `headlight.show`."""
        from headlight import notebook  # imported here, because this module imports the pages

        return notebook.show(self, text)

    def is_cut(self, text: str, second: str | None = None) -> bool:
        """Return whether the text is too long for the model, which then only reads a part of it."""
        ...

    @torch.inference_mode()
    def trace(
        self,
        text: str,
        target: str | Writing | None = None,
        *,
        second: str | None = None,
        masked: Collection[int] = (),
        pad_to: int | None = None,
        edits: RunEdits | None = None,
        sites: Collection[Site] | None = None,
    ) -> Trace:
        """Record a run over a text.

        `target` is the text that the decoder of an encoder-decoder reads; by default the model
        writes it first. `masked` are positions of tokens that are hidden from the model. `sites`
        are recorded in full, and the others only by their weights, as bytes; None records all in
        full. Raises ValueError if there is nothing that this model can read, and for edits or
        sites of parts that it lacks; warns if a text is cut.
        """
        check_edits(edits, self.shape, self.missing)
        check_sites(sites, self.shape)
        request = Request(text, target, second, masked, pad_to, edits)
        trace = self.tokenized(request)
        target_cut = request.ends and not trace.finished
        # warn_if_cut counts callers, and torch's decorator of this method is one of them.
        self.warn_if_cut(trace.longest, text, second, target_cut=target_cut)
        trace.full = sites
        self.record(trace, edits)
        return trace

    def warn_if_cut(
        self, longest: int, text: str, second: str | None = None, *, target_cut: bool = False
    ) -> None:
        """Warn if some of a text or its target was left out; `longest` counts the tokens read.

        The warning names the line that is three calls up: the user's call of `trace` or `write`.
        """
        most = self.shape.max_positions
        cut = {"text": longest >= most and self.is_cut(text, second), "target": target_cut}
        if what := " and ".join(name for name, is_cut in cut.items() if is_cut):
            warnings.warn(CUT.format(most=most, what=what), stacklevel=4)

    def second_text(self, second: str | None) -> str | None:
        """Return a second text, or None if it is empty; raises ValueError if it cannot be read."""
        if not (second and second.strip()):
            return None
        if "read a pair" in self.missing:
            raise ValueError(self.missing["read a pair"])
        return second

    def record(self, trace: Trace, edits: RunEdits | None = None) -> None:
        """Run the model over the tokens of a trace with edits, and record everything in it."""
        self.rerun(trace, Run(edits or {}, trace))

    def tokenized(self, request: Request) -> Trace:
        """Return a trace of the tokens that a run reads; raises the errors of `trace`."""
        ...

    def read_together(self, traces: Sequence[Trace], run: Run) -> None:
        """Run the model over the tokens of several traces in one batch; `run.trace` records it.

        Each text is padded on the right to the longest. Logits are not computed.
        """
        ...

    def rerun(self, trace: Trace, run: Run) -> Tensor:
        """Run the model again over the tokens of a trace; return the logits (B, T, V).

        The batch size B is that of the edits of `run`, such as gates (B, H). Gradients flow if they
        are enabled.
        """
        ...

    @property
    def vocabulary(self) -> Sequence[int]:
        """The ids of all tokens except special ones."""
        ...

    def trace_ids(self, ids: Sequence[int], edits: RunEdits | None = None) -> Trace:
        """Record a run over ids of the vocabulary, between the special tokens of a text.

        Both sides of an encoder-decoder read the same ids.
        """
        ...

    @property
    def unembedding(self) -> Tensor | MaybeNone:
        """The matrix (V, d_model) that maps the stream after a decoder's last norm to logits.

        It is None if the model does not write, or if another step comes between norm and logits.
        """
        return None

    @property
    def position_table(self) -> Tensor | None:
        """The learned position vectors (positions, d_model) of a model with one side, or None."""
        return None

    def questions(self, trace: Trace) -> Sequence[Question]:
        """Return the questions that the rows of a trace's logits answer; none by default."""
        return ()

    def label(self, trace: Trace, question: Question, index: int) -> str:
        """Return the text of one of the choices of a question, such as a token or a class."""
        ...

    def objective(
        self, trace: Trace, site: Site | None = None, query: int | None = None
    ) -> Objective | None:
        """Return the objective on which the effect of a change is measured, if there is one.

        If the change concerns one query of a decoder, and the model writes, the objective is the
        token after that query.
        """
        return None

    def configured_masks(self, site: Site) -> tuple[NamedMask, ...]:
        """Return the masks that the configuration gives to an attention block, except padding."""
        return (("look-ahead", ()),) if site.kind == "decoder" else ()

    def heads_to_stream(self, site: Site) -> Tensor | MaybeNone:
        """Return the map from each head's output to the stream (H, D, d_model), if it is known."""
        return None

    def streamed(self, trace: Trace, edits: RunEdits) -> Trace:
        """Return a trace with the residual stream; if it lacks the stream, run again with `edits`.

        Raises ValueError if the model does not show its stream.
        """
        if "show the stream" in self.missing:
            raise ValueError(self.missing["show the stream"])
        return trace

    def read_out(self, states: Tensor) -> Tensor:
        """Return the logits of states of the decoder's stream: (..., d_model) -> (..., V).

        Raises ValueError if the model has no output layer.
        """
        raise ValueError(self.missing["write"])

    def rotary(self, site: Site) -> Rotary | None:
        """Return an attention block's rotary positions; None if it has none."""
        return None

    def decoder_stream(self, trace: Trace, edits: RunEdits, recorded: Trace) -> DecoderStream:
        """Run again over the tokens of a trace; return the decoder's stream, part by part.

        The attention of this run is recorded in `recorded`. Raises ValueError if the stream is no
        sum of its parts, as in a post-norm model.
        """
        raise ValueError(self.missing["add up logits"])

    @torch.inference_mode()
    def score_parts(
        self, trace: Trace, edits: RunEdits, score: ScoreAddress
    ) -> tuple[Parts, Parts]:
        """Run again over the tokens of a trace; return the parts of a query and a key, each (D,).

        The parts sum to query and key, whose dot product, times the scale, is the score before any
        bias. Raises ValueError if the parts are not known.
        """
        if "show the stream" in self.missing:
            raise ValueError(self.missing["show the stream"])
        recorded = HeadsTrace.behind(score)
        self.rerun(trace, Run(edits, recorded))
        return own_parts(self.model, recorded, score)

    def write(
        self,
        text: str,
        strategy: Strategy = Strategy(),
        *,
        longest: int | None = None,
        forced: Sequence[int] = (),
        pad_to: int | None = None,
        edits: RunEdits | None = None,
        **options: Any,
    ) -> Decoding:
        """Write a text of at most `longest` tokens with every step recorded.

        The text begins with the `forced` ids. `options` are passed to this model's `write_text`.
        Raises ValueError if the model does not write, has nothing to read or no room to write, or
        cannot write these ids, and for edits of parts that it lacks; warns if the text that it
        reads is cut.
        """
        request = Request(text, pad_to=pad_to, edits=edits)
        return self.write_request(request, strategy, longest=longest, forced=forced, **options)

    def write_request(self, text: Request, strategy: Strategy, **options: Any) -> Decoding:
        """Do what `write` does, for a method that is itself called by the user."""
        check_edits(text.edits, self.shape, self.missing)
        (decoding,) = self.write_together([text], strategy, **options)
        self.warn_if_cut(len(decoding.writing.source_tokens), text.text)
        return decoding

    def write_text(
        self,
        text: Request,
        strategy: Strategy = Strategy(),
        longest: int | None = None,
        forced: Sequence[int] = (),
    ) -> Decoding:
        """Return what `write` returns; raises the errors of `write`."""
        raise ValueError(self.missing["write"])

    def batch_of(self, text: Request, strategy: Strategy) -> Hashable | None:
        """Return a key that is equal for texts that can be written in one batch.

        It is None for a text that must be written alone. Raises ValueError if there is nothing to
        read.
        """
        return None

    def write_together(
        self, texts: Sequence[Request], strategy: Strategy = Strategy(), **options: Any
    ) -> Iterator[Decoding]:
        """Yield what `write` returns for each of several texts; their `batch_of` must be equal."""
        if "write" in self.missing:
            raise ValueError(self.missing["write"])
        for text in texts:
            yield self.write_text(text, strategy, **options)

    def begin(self, text: str) -> list[Token]:
        """Return the tokens of a text that writing should begin with.

        Raises ValueError if the model does not write, or has no token for part of the text.
        """
        raise ValueError(self.missing["write"])
