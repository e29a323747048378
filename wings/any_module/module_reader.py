"""Read texts with any module in memory, record its attention, and edit its heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from headlight.model.decoding.cache import CacheSize
from headlight.model.decoding.search import Expansion, room_to_write, search
from headlight.model.decoding.steps import Decoding, Writing
from headlight.model.decoding.strategies import Strategy
from headlight.model.library.answers import Answering, AnswerReader
from headlight.model.library.attachment import CodeAttachment, Parity
from headlight.model.library.calls import attention_edits
from headlight.model.library.pieces import Piece, as_pieces
from headlight.model.questions import Request
from headlight.model.reader import OTHER_WORDS, Reader
from headlight.model.shape import Ability, Shape
from headlight.model.tokens import Token
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, RunEdits, Site
from headlight.wings.any_module.called import Called
from headlight.wings.any_module.own_tokens import NO_PADDING, read_numbers

MISSING: Mapping[Ability, str] = {
    "read a pair": "This model is given one text, or a source and a target.",
    "mask words": "It is not known which token of this model hides a word.",
    "pad": NO_PADDING,
    "add up logits": "The parts of this model that add to its logits are not known.",
    "show the stream": "Only the attention of this model is recorded, not its residual stream.",
    "own layers": "This model runs in its own code, not in layers made here.",
    "move positions": "This model's own code gives its tokens positions, which cannot be moved.",
    "compare words": OTHER_WORDS,
}
NO_HEAD = "This model returns no logits for every token that it reads, so it does not write."
NO_DECODER = "This model reads a text and does not write one: every token sees the later ones too."
NO_START = (
    "The token that a target begins with is not known: open the model with start=, and with end= "
    "for the last token."
)
NO_TARGET = "This model reads a source and a target: give it a target text."


class ModuleReader(Answering, Reader):
    """Reads texts with a module in memory, and shares that module's weights.

    An encoder reads a text as the source. A model with only a decoder reads it as the target. An
    encoder-decoder reads a source and a target.
    """

    def __init__(self, title: str, called: Called, attached: CodeAttachment) -> None:
        self.title = title
        self.model, self.called, self.attached = called.model, called, attached
        self.shape = Shape(attached.kinds, called.max_tokens)
        classes: dict[int, str] = {}
        if called.head == "class":
            classes = {index: f"Class {index + 1}" for index in range(attached.outputs)}
        ends = () if called.end is None else (called.end,)
        self.answers = AnswerReader(called.head, called.target_tokens, classes, ends)
        missing: dict[Ability, str] = {**MISSING, **attached.missing}
        if called.tokens.encode is read_numbers:
            self.example = called.tokens.decode(range(1, 7))
        if called.padding is not None:
            del missing["pad"]
        if called.head != "next token":
            missing["write"] = NO_HEAD if self.shape.layers("decoder") else NO_DECODER
        elif called.two_sided and called.start is None:
            missing["write"] = NO_START
        self.missing = missing

    def parity(self) -> Parity:
        """Return how far recorded calls were from plain calls when the model was opened."""
        return self.attached.parity

    @property
    def reads_source(self) -> bool:
        return "encoder" in self.shape.kinds

    def is_cut(self, text: str, second: str | None = None) -> bool:
        return len(self.called.tokens.read(text)) > self.called.max_tokens

    @torch.inference_mode()
    def tokenized(self, request: Request) -> Trace:
        """Return a trace with the tokens of source and target; see `Reader.tokenized`."""
        text, target = request.text, request.target
        self.second_text(request.second)
        if request.masked:
            raise ValueError(self.missing["mask words"])
        if target is not None and "decoder" not in self.shape.kinds:
            raise ValueError("This model has no decoder that could read a second text.")
        read = self.read(text)
        if not self.called.two_sided and self.reads_source:
            return Trace(source_tokens=self.padded(read, request.pad_to))
        source = self.padded(read, request.pad_to) if self.called.two_sided else ()
        begun = self.begun() if source else read
        if target is None and source:
            if "write" in self.missing:
                raise ValueError(NO_TARGET)
            (decoding,) = self.write_together([request])
            request = replace(request, target=decoding.writing)
        tokens = [*begun, *self.written(request.target or "", begun)]
        if not tokens:
            raise ValueError(NO_TARGET)
        most = self.called.max_tokens
        finished = request.ends and len(tokens) <= most
        return Trace(source, self.padded(tokens[:most], request.pad_to), finished=finished)

    def padded(self, tokens: Sequence[Token], length: int | None) -> list[Piece]:
        """Return tokens with padding appended until there are `length` of them.

        Raises ValueError if the model cannot read that many, or if its padding is not known.
        """
        pieces = as_pieces(tokens)
        if length is None or length <= len(tokens):
            return pieces
        if length > self.called.max_tokens:
            raise ValueError(
                f"Cannot pad to {length} tokens: the model takes {self.called.max_tokens}."
            )
        return self.called.target_tokens.pad(pieces, length)

    def read(self, text: str) -> list[Piece]:
        """Return a text's tokens, cut to the model's limit; raises ValueError if there are none."""
        pieces = self.called.tokens.read(text) if text.strip() else []
        if not pieces:
            raise ValueError("There is nothing to read: type a text.")
        return pieces[: self.called.max_tokens]

    def written(self, target: str | Writing, begun: Sequence[Piece]) -> Sequence[Token]:
        """Return a target's tokens after those in `begun`, without its end token."""
        tokens = self.called.target_tokens
        if isinstance(target, Writing):
            return target.read_by(lambda ids: tokens.written(ids, begun))
        ids = [piece.id for piece in tokens.read(target)] if target else []
        ids = ids[1:] if ids[:1] == [self.called.start] else ids
        ids = ids[:-1] if ids and ids[-1] == self.called.end else ids
        return tokens.written(ids, begun)[1]

    def begun(self) -> list[Piece]:
        """Return a list with the start token of targets; empty if the model has none."""
        start = self.called.start
        return [] if start is None else [self.called.target_tokens.piece(start)]

    def ids(self, traces: Sequence[Trace]) -> list[Tensor]:
        """Return the ids (B, T) of the sources of several traces, and those of the targets.

        Shorter texts are padded. Raises ValueError if an encoder reads texts of different lengths
        and the padding is not known.
        """
        sides = [
            [[token.id for token in tokens] for tokens in side]
            for side in zip(*((x.source_tokens, x.target_tokens) for x in traces), strict=True)
        ]
        rows = [side for side in sides if side[0]]
        longest = [max(map(len, side)) for side in rows]
        padding = self.called.padding
        if (
            padding is None
            and self.reads_source
            and any(
                len(line) < most for side, most in zip(rows, longest, strict=True) for line in side
            )
        ):
            raise ValueError(f"{NO_PADDING} Or read texts of one length together.")
        filled = [  # any id can fill up a decoder's text: the tokens before it do not see it
            [
                line + [line[-1] if padding is None else padding] * (most - len(line))
                for line in side
            ]
            for side, most in zip(rows, longest, strict=True)
        ]
        return [torch.tensor(side, device=self.called.device) for side in filled]

    def together(self, traces: Sequence[Trace], run: Run) -> Tensor | None:
        """Call the model on several traces in one batch; return their logits, if any."""
        with self.attached.watching(run):
            logits = self.called.logits(*self.ids(traces))
        return self.answers.rows(traces[0], {"logits": logits})

    def record(self, trace: Trace, edits: RunEdits | None = None) -> None:
        trace.logits = self.together([trace], Run(edits or {}, trace))

    def rerun(self, trace: Trace, run: Run) -> Tensor:
        """Call the model again on a trace with edits; raises ValueError if there are no logits."""
        rows = max((edit.batch for edit in attention_edits(run.edits).values()), default=1)
        logits = self.together([trace] * rows, run)
        if logits is None:
            raise ValueError("This model has no logits, so nothing can be measured on them.")
        return logits

    @torch.inference_mode()
    def read_together(self, traces: Sequence[Trace], run: Run) -> None:
        self.together(traces, run)

    @property
    def vocabulary(self) -> Sequence[int]:
        return range(self.attached.outputs) if self.called.head == "next token" else ()

    @torch.inference_mode()
    def trace_ids(self, ids: Sequence[int], edits: RunEdits | None = None) -> Trace:
        trace = Trace()
        if self.reads_source:
            trace.source_tokens = self.called.tokens.written(ids)[1]
        if "decoder" in self.shape.kinds:
            begun = self.begun() if self.called.two_sided else []
            trace.target_tokens = [*begun, *self.called.target_tokens.written(ids, begun)[1]]
        self.record(trace, edits)
        return trace

    def heads_to_stream(self, site: Site) -> Tensor | None:
        return self.attached.heads_to_stream(self.model, site)

    @torch.inference_mode()
    def write_text(
        self,
        text: Request,
        strategy: Strategy = Strategy(),
        longest: int | None = None,
        forced: Sequence[int] = (),
    ) -> Decoding:
        """Write a text without a cache: each step computes all tokens again. See `Reader.write`."""
        read, tokens = self.read(text.text), self.called.target_tokens
        source = self.padded(read, text.pad_to) if self.called.two_sided else []
        begun = self.begun() if source else read
        limit = room_to_write(len(begun), self.called.max_tokens, longest)
        record: list[Expansion] = []
        prefixes = ModulePrefixes(self, source, begun, text.edits or {})
        (decoded,) = search(prefixes, strategy, max_new_tokens=limit, forced=forced, record=record)
        written, target = tokens.written(decoded.written, begun)
        how = decoded.log_probability, decoded.finished, decoded.log_probabilities
        writing = Writing(text.text if source else "", written, [*source], [*target], *how)
        ends, append = prefixes.ends, tokens.append
        return Decoding(writing, strategy, record, begun=begun, ends=ends, append=append)

    def begin(self, text: str) -> list[Piece]:
        return self.called.target_tokens.read(text)


@dataclass
class ModulePrefixes:
    """The unfinished texts that a module writes; each step computes all their tokens again."""

    reader: ModuleReader
    source: Sequence[Piece]
    begun: Sequence[Piece]
    edits: RunEdits
    ids: Tensor = field(init=False)  # (R, N): the ids of each row so far

    def __post_init__(self) -> None:
        self.ids = torch.tensor([[piece.id for piece in self.begun]])
        self.ids = self.ids.to(self.reader.called.device)
        self.vocabulary = self.reader.attached.outputs
        self.ends = frozenset(self.reader.answers.ends)

    def next_log_probabilities(self, trace: Trace | None = None) -> Tensor:
        """Return log-probabilities (R, V) of each row's next token; `trace` records the call."""
        source = [[piece.id for piece in self.source]] * len(self.ids) if self.source else None
        texts = [] if source is None else [torch.tensor(source, device=self.ids.device)]
        with self.reader.attached.watching(Run(self.edits, trace)):
            logits = self.reader.called.logits(*texts, self.ids)
        return logits[:, -1].float().log_softmax(dim=-1)

    def cache_sizes(self) -> dict[Site, CacheSize]:
        return {}

    def extend(self, rows: Tensor, ids: Tensor) -> None:
        """Keep the rows with these indices, in this order; append one of `ids` (R,) to each."""
        self.ids = torch.cat([self.ids[rows], ids[:, None]], dim=1)
