"""The reader of a model of the transformers library: texts in, traces and predictions out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from headlight.model.decoding.steps import Decoding, Writing
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import NamedMask
from headlight.model.library.answers import AnswerReader, PieceReader
from headlight.model.library.attachment import Attachment, Parity
from headlight.model.library.calls import Calls, attention_edits, last_states
from headlight.model.library.configuration import configured_masks
from headlight.model.library.decoder_hooks import capturing
from headlight.model.library.decoder_modules import decoder_states
from headlight.model.library.decoder_parts import CapturedRun
from headlight.model.library.missing import what_is_missing
from headlight.model.library.output_heads import OutputHead, class_labels
from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.library.pieces import Piece, as_pieces
from headlight.model.library.positions import moving
from headlight.model.library.writing import Writer
from headlight.model.questions import Request
from headlight.model.rotary import Rotary
from headlight.model.shape import Shape
from headlight.model.stream import DecoderStream, HeadsTrace, Parts, ScoreAddress
from headlight.model.trace import Trace
from headlight.model.transformer.trace import EmbeddingRecord, Run, RunEdits, Site

if TYPE_CHECKING:
    from transformers import PreTrainedModel

NO_PARTS = (
    "Who wrote the queries and keys of this encoder is not known, as only a decoder's stream is "
    "recorded in models of the transformers library. Choose a head of the decoder."
)


class TransformersReader(PieceReader):
    """A model of the transformers library with its tokenizer, which threads may share.

    A model with an encoder reads a text as the source, and one with only a decoder as the target.
    An encoder-decoder also reads a target. `head` is the kind of the model's output head.
    """

    def __init__(
        self,
        title: str,
        model: PreTrainedModel,
        tokens: PieceTokenizer,
        head: OutputHead | None,
        attached: Attachment,
    ) -> None:
        self.title = title
        self.model = model.eval()
        self.tokens = tokens
        self.attached = attached
        self.writer = Writer(model, tokens, attached)
        self.shape = Shape(attached.kinds, tokens.max_tokens, attached.groups)
        self.calls = Calls(model, tokens, attached)
        classes = dict(enumerate(class_labels(model.config)))
        self.answers = AnswerReader(head, tokens, classes, self.writer.end_ids)
        self.missing = what_is_missing(self)

    def parity(self) -> Parity:
        """Return how far recorded attention was from the library's when the model was loaded."""
        return self.attached.parity

    @property
    def reads_source(self) -> bool:
        return self.shape.layers("encoder") > 0

    @property
    def reads_target(self) -> bool:
        return self.shape.layers("decoder") > 0

    def is_cut(self, text: str, second: str | None = None) -> bool:
        if not self.reads_source:
            return len(self.writer.prompt(text)) > self.tokens.max_tokens
        return super().is_cut(text, second)

    def record(self, trace: Trace, edits: RunEdits | None = None) -> None:
        """Run over the tokens of a trace under edits; see `Reader.record`.

        For the rows of the logits see `AnswerReader.rows`.
        """
        outputs = self.calls(trace, Run(edits or {}, trace), output_hidden_states=True)
        rows = self.answers.rows(trace, outputs)
        trace.logits = rows if rows is not None and rows.size(1) else None
        trace.outputs = last_states(outputs, "encoder" if self.reads_source else "decoder")

    @torch.inference_mode()
    def tokenized(self, request: Request) -> Trace:
        """Return a trace of the tokens that both sides read; see `Reader.tokenized`."""
        text, target = request.text, request.target
        if target is not None and not self.reads_target:
            raise ValueError(
                "This model has no decoder that could read a second text: give it one."
            )
        read, trace = self.read(text, request.second, masked=request.masked), Trace()
        if self.reads_source:
            trace.source_tokens = self.tokens.pad(read, request.pad_to)
        if self.reads_target:
            trace.target_tokens = self.tokens.pad(self.target(trace, request), request.pad_to)
        return trace

    @torch.inference_mode()
    def read_together(self, traces: Sequence[Trace], run: Run) -> None:
        self.calls.together(traces, run)

    def rerun(self, trace: Trace, run: Run) -> Tensor:
        """Run again over the tokens of a trace; see `Reader.rerun`.

        Raises ValueError if the model has no head.
        """
        logits = self.answers.rows(trace, self.calls(trace, run))
        if logits is None:
            raise ValueError("This model has no output layer, so there is nothing to measure.")
        return logits

    @torch.inference_mode()
    def streamed(self, trace: Trace, edits: RunEdits) -> Trace:
        """Run again, and return the trace with the decoder's stream; see `Reader.streamed`."""
        super().streamed(trace, edits)
        with capturing() as captured:
            outputs = self.calls(trace, Run(edits), output_hidden_states=True)
        decoder = self.attached.decoder
        before = [states[0] for states in decoder_states(outputs)[: self.shape.layers("decoder")]]
        embedding = EmbeddingRecord(None, None, None, before[0][None])
        if (positions := captured.outputs.get(decoder.positions)) is not None:
            tokens = captured.outputs[decoder.tokens][None]
            embedding = replace(embedding, tokens=tokens, scaled=tokens, positions=positions)
        residual = decoder.residual(captured, before)
        return replace(trace, embedding={"decoder": embedding}, residual=residual)

    def read_out(self, states: Tensor) -> Tensor:
        """Return the logits (..., V) of states (..., d_model) of the decoder's stream."""
        return self.attached.decoder.read_out(states)

    @torch.inference_mode()
    def decoder_stream(self, trace: Trace, edits: RunEdits, recorded: Trace) -> DecoderStream:
        """Run again, and return the parts of the decoder's stream; see `Reader.decoder_stream`.

        Raises ValueError if they are not known.
        """
        if "add up logits" in self.missing:
            raise ValueError(self.missing["add up logits"])
        with capturing() as captured:
            outputs = self.calls(trace, Run(edits, recorded), output_hidden_states=True)
        embedding = decoder_states(outputs)[0][0]
        return self.attached.decoder.stream(captured, embedding, outputs["logits"][0])

    @torch.no_grad()  # the parts are found by gradients, which inference mode rules out
    def score_parts(
        self, trace: Trace, edits: RunEdits, score: ScoreAddress
    ) -> tuple[Parts, Parts]:
        """Run again, and return the parts of a query and of a key; see `Reader.score_parts`.

        Raises ValueError if they are not known.
        """
        if "show the stream" in self.missing or score.site.kind == "encoder":
            raise ValueError(self.missing.get("show the stream", NO_PARTS))
        recorded = HeadsTrace.behind(score)
        with capturing() as captured:
            outputs = self.calls(trace, Run(edits, recorded), output_hidden_states=True)
        embedding = decoder_states(outputs)[0][0]
        return CapturedRun(self.model, self.attached, captured, recorded, embedding).parts(score)

    def write_text(
        self,
        text: Request,
        strategy: Strategy = Strategy(),
        longest: int | None = None,
        forced: Sequence[int] = (),
        chat: bool = True,
    ) -> Decoding:
        """Write a text; see `Writer.write`."""
        edits = text.edits or {}
        text = replace(text, edits=attention_edits(edits))
        with moving(edits, can=self.attached.moves):
            return self.writer.write(text, strategy, longest=longest, forced=forced, chat=chat)

    def begin(self, text: str) -> list[Piece]:
        return self.writer.begin(text)

    def configured_masks(self, site: Site) -> tuple[NamedMask, ...]:
        return configured_masks(self.model.config, site)

    def rotary(self, site: Site) -> Rotary | None:
        """Return an attention block's rotary positions; None if it has none or they are unknown."""
        return self.attached.rotary.get(site)

    def heads_to_stream(self, site: Site) -> Tensor | None:
        """Return the map from each head's output to the stream: (H, D, d_model).

        None if this model's output projection is not known.
        """
        return self.attached.heads_to_stream(self.model, site)

    @torch.inference_mode()
    def trace_ids(self, ids: Sequence[int], edits: RunEdits | None = None) -> Trace:
        trace = Trace()
        if not self.reads_source:
            trace.target_tokens = self.tokens.framed(ids)
        else:
            trace.source_tokens = self.tokens.framed(ids)
        if self.reads_source and self.reads_target:
            begun = self.writer.start()
            trace.target_tokens = [*begun, *self.tokens.written(ids, begun)[1]]
        self.calls(trace, Run(edits or {}, trace))
        return trace

    @property
    def position_table(self) -> Tensor | None:
        table = self.attached.decoder and self.attached.decoder.table
        return None if table is None else table.weight.detach()

    @property
    def unembedding(self) -> Tensor | None:
        """The output layer (V, d_model); None if the model does not write."""
        writes = self.answers.head == "next token"
        layer: Any = self.model.get_output_embeddings() if writes else None
        return None if layer is None else layer.weight.detach()

    def target(self, trace: Trace, request: Request) -> list[Piece]:
        """Return the tokens that a decoder reads: its start or a prompt, and then the target.

        The end of the target is left out, since nothing is written after it.
        """
        target = request.target
        if target is None and self.reads_source:
            return self.write_greedily(trace, request.edits or {})
        if self.reads_source:
            begun = self.writer.start()
        else:
            wrote = isinstance(target, Writing)
            begun = (self.writer.begun if wrote else self.writer.prompt)(request.text)
        if isinstance(target, Writing):
            written = as_pieces(target.read_by(lambda ids: self.tokens.written(ids, begun)))
        elif self.reads_source and target is not None:
            written = self.target_pieces(target, begun)
        else:
            more = self.tokens.pieces(text=target, add_special_tokens=False) if target else []
            _, written = self.tokens.written([piece.id for piece in more], begun)
        trace.finished = request.ends and len(begun) + len(written) <= self.tokens.max_tokens
        return self.tokens.cut([*begun, *written])

    def target_pieces(self, target: str, begun: Sequence[Piece]) -> list[Piece]:
        """Return a typed target's pieces, without its language token and its end token."""
        pieces = self.tokens.pieces(text_target=target)
        while pieces and pieces[-1].is_special:
            pieces.pop()
        if len(begun) > 1 and pieces and pieces[0].id == begun[-1].id:  # the language token
            pieces.pop(0)
        return [replace(piece, word=piece.word + len(begun)) for piece in pieces]

    def write_greedily(self, trace: Trace, edits: RunEdits) -> list[Piece]:
        """Write greedily for a source; return the decoder's tokens: its start, and the text."""
        begun = self.writer.start()
        decoded = self.writer.decode(trace.source_tokens, begun, edits=attention_edits(edits))
        trace.finished = decoded.finished
        return [*begun, *self.tokens.written(decoded.ids, begun)[1]]
