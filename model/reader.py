"""What pages and notebooks can do with a model, whichever it is.

A reader is a model with its tokenizer: the encoder-decoder of this project, a BERT in its layers,
or a model of the transformers library. What one cannot do it says in `missing`, so that nobody has
to ask which class it is of.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, get_args

from torch import Tensor

from model.decoding.steps import Decoding
from model.decoding.strategies import Strategy
from model.shape import Shape
from model.stream import DecoderStream
from model.tokens import Token
from model.trace import Run, RunEdits, Site, Trace

Ability = Literal[
    "write",  # text of its own: a translation, or what follows a prompt
    "read a pair",  # a second text beside the first
    "mask words",  # and say what it would put there
    "pad",  # a text to a length
    "open cells",  # against the mask
    "take apart",  # a weight: query, key and value are recorded
    "add up heads",  # what each head adds to the residual stream is known
    "add up logits",  # what each part of a decoder adds to them is known: it is pre-norm
    "show the stream",  # what goes into each block, and the residual stream, are recorded
    "own layers",  # a network of this project, whose parts can be run alone
    "move positions",
    "compare words",  # by their embeddings, and after the encoder
]
ABILITIES: tuple[Ability, ...] = get_args(Ability)


class Question(NamedTuple):
    """What a model chooses by one row of a trace's logits, such as the next token or a class."""

    words: str  # "The next token", "In place of token 5", "The class"
    row: int
    together: str = ""  # what this and later rows choose together, such as the words of an answer


@dataclass(frozen=True)
class Objective:
    """What an effect is measured on: the log-probability of ids, each after a row of logits."""

    rows: tuple[int, ...]  # (N,)
    ids: tuple[int, ...]  # (N,)
    description: str  # "the log-probability of the whole target"
    texts: tuple[str, ...] = ()  # (N,) what the ids stand for, if it can be said

    def alone(self, place: int) -> Objective:
        """Return what is measured on one of the ids, by its place."""
        one = slice(place, place + 1)
        what = "the log-probability of the chosen token alone"
        return Objective(self.rows[one], self.ids[one], what, self.texts[one])


class Reader(Protocol):
    """A model with its tokenizer; it holds no state of a call, so threads may share it."""

    title: str
    shape: Shape
    missing: Mapping[Ability, str]  # what it cannot do, each with one sentence why

    def is_cut(self, text: str, second: str | None = None) -> bool:
        """Return whether there is more text than the model can read."""

    def trace(
        self,
        text: str,
        target: str | None = None,
        *,
        second: str | None = None,
        masked: Collection[int] = (),
        pad_to: int | None = None,
        edits: RunEdits | None = None,
        sites: Collection[Site] | None = None,
    ) -> Trace:
        """Record a run over a text.

        `target` is what a decoder beside an encoder reads; None stands for what the model writes.
        `masked` are places of tokens that are hidden from it. `sites` are recorded in full, and of
        all others the weights alone, in bytes; None records every site in full.
        Raises ValueError if there is nothing to read, or something that this model cannot read.
        """

    def tokenized(
        self,
        text: str,
        target: str | None = None,
        *,
        second: str | None = None,
        masked: Collection[int] = (),
        pad_to: int | None = None,
        edits: RunEdits | None = None,
    ) -> Trace:
        """Return a trace of the tokens that a run over a text reads, with nothing recorded yet.

        The arguments and errors are those of `trace`; `edits` matter to a target that the model
        writes itself.
        """

    def read_together(self, traces: Sequence[Trace], run: Run) -> None:
        """Run over the tokens of several traces side by side, and say nothing.

        Each is padded on the right to the longest; `run.trace` records them as a batch.
        """

    def rerun(self, trace: Trace, run: Run) -> Tensor:
        """Run again over the tokens of a trace; return the logits (B, N, V) of the same rows.

        Gates (B, H), blocked cells (B, H, Q, K) and patches in the edits of `run` make the batch,
        and gradients flow if they are enabled.
        """

    @property
    def vocabulary(self) -> Sequence[int]:
        """The ids of all tokens that stand for some text, special ones left out."""

    def trace_ids(self, ids: Sequence[int], edits: RunEdits | None = None) -> Trace:
        """Record a run over ids of the vocabulary, with the special tokens that a text has.

        An encoder and a decoder beside it read the same. Raises ValueError if they are too many.
        """

    @property
    def unembedding(self) -> Tensor | None:
        """What turns the stream after a decoder's last norm into logits: (V, d_model).

        It is None if the model does not write, or something else stands in between.
        """

    def questions(self, trace: Trace) -> Sequence[Question]:
        """Return what the model chooses by the rows of a trace's logits, if that can be shown."""

    def label(self, trace: Trace, question: Question, index: int) -> str:
        """Return the words for one of the things that a question chooses from."""

    def objective(
        self, trace: Trace, site: Site | None = None, query: int | None = None
    ) -> Objective | None:
        """Return what the effect of a change is measured on, if there is something.

        Of a change that concerns one query of a site, it is what is written after that query, in
        a model that writes.
        """

    def heads_to_stream(self, site: Site) -> Tensor | None:
        """Return what turns each head's output into what it adds to the stream: (H, D, d_model).

        It is None if the model's output projection is not known.
        """

    def decoder_stream(self, trace: Trace, edits: RunEdits, recorded: Trace) -> DecoderStream:
        """Run again over the tokens of a trace; return the decoder's stream, part by part.

        The attention of that run goes to `recorded`. Raises ValueError if it is no such sum, as
        with a norm after each block.
        """

    def write(
        self,
        text: str,
        strategy: Strategy = Strategy(),
        *,
        longest: int | None = None,
        forced: Sequence[int] = (),
        pad_to: int | None = None,
        edits: RunEdits | None = None,
    ) -> Decoding:
        """Write a text with every step recorded, beginning with the `forced` ids.

        Raises ValueError if the model does not write, or cannot begin so.
        """

    def begin(self, text: str) -> list[Token]:
        """Return the tokens of a text that writing can begin with; raises ValueError if none."""
