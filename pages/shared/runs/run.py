"""A run of a model: plain values that determine its numbers, and functions that compute these."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from torch import Tensor

from headlight.model.decoding.steps import Decoding, Writing
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import Edits
from headlight.model.edits.positions import PositionEdit
from headlight.model.insight.cache import write_evicting
from headlight.model.library.checks import check_numbers
from headlight.model.library.measuring import Parity
from headlight.model.questions import Objective, Request
from headlight.model.reader import Reader
from headlight.model.trace import Trace
from headlight.model.transformer.trace import AttentionRecord, RunEdits, Site
from headlight.pages.shared.runs.door import model_call, prepared_model_call
from headlight.pages.shared.runs.queue import Work
from headlight.pages.shared.runs.readers import errors_explained, loading, reader, translator
from headlight.pages.shared.state import models

if TYPE_CHECKING:
    from headlight.model.library.bert_reader import BertReader

IN_FULL = 10_000_000  # a run with more weights than this records one layer in full at a time
AS_TRAINED = PositionEdit()
LONGEST_WRITING = 64  # by default a text has at most this many tokens
BEAM = Strategy("beam")


@dataclass(frozen=True)
class ModelRun:
    """A text and everything that determines how a model reads it.

    Without a `target`, a decoder next to an encoder reads the text that the model writes as
    trained. A run with edits reads that text too, so that runs with and without edits can be
    compared cell by cell. `model` is the key of the model, by default of the one that the visitor
    has chosen. If the model is gone, whatever needs it raises ValueError.
    """

    sentence: str
    target: str = ""
    edits: Edits = Edits()
    pad_to: int | None = None
    second: str = ""
    masked: tuple[int, ...] = ()  # indices of hidden tokens, from 0
    moved: tuple[PositionEdit, PositionEdit] = (AS_TRAINED, AS_TRAINED)  # of encoder and decoder
    model: str = field(default_factory=lambda: models.chosen().key)
    strategy: Strategy = Strategy()  # how the model writes its text
    loading: int = field(default=0, init=False)  # tells apart models loaded under the same name

    def __post_init__(self) -> None:
        object.__setattr__(self, "loading", loading(self.model))

    @property
    def reader(self) -> Reader:
        return reader(self.model)

    @property
    def is_common(self) -> bool:
        """True if the model is the same for all visitors, false if it is a visitor's own."""
        return not models.named(self.model).is_own

    @property
    def is_as_trained(self) -> bool:
        return self.edits == Edits() and self.moved == (AS_TRAINED, AS_TRAINED)

    @property
    def as_trained(self) -> ModelRun:
        return (
            self
            if self.is_as_trained
            else replace(self, edits=Edits(), moved=(AS_TRAINED, AS_TRAINED))
        )

    def trace(self) -> Trace:
        """Return the record of this run; it must not be modified.

        For a large run only the weights are recorded. The residual stream may be missing: see
        `streamed`.
        """
        is_plain = not (self.target or self.pad_to or self.second or self.masked)
        if is_plain and self.is_as_trained and "cross" in self.reader.shape.kinds:
            decoding = decoded(self)
            if decoding.trace and sites_in_full(self, decoding.writing, None) is None:
                return decoding.trace  # the run in which the text was written
        return _traced(self, None)

    def streamed(self) -> Trace:
        """Return `trace` with the residual stream, if the model has a readable one.

        It must not be modified.
        """
        trace = self.trace()
        if trace.residual or "show the stream" in self.reader.missing:
            return trace
        return _streamed(self)

    def tokens(self) -> Trace:
        """Return the record of the run without changes; changes never alter the tokens."""
        return self.as_trained.trace()

    def changes(self) -> RunEdits:
        """Return this run's edits in the form that a model takes, with masks for its tokens."""
        if self.is_as_trained:  # also ends a recursion: `tokens` below runs as trained
            return {}
        target = [token for token in self.tokens().target_tokens if not token.is_padding]
        return self.changes_of(0, len(target))

    def changes_of(self, more: int, target_length: int | None = None) -> RunEdits:
        """Return the edits for a text that is `more` tokens longer; see `Edits.at_sites`.

        If the model cannot open cells or change positions, such edits are left out.
        """
        if self.is_as_trained:
            return {}
        sides = zip(("encoder", "decoder"), self.moved, strict=True)
        moved = {side: edit for side, edit in sides if edit != AS_TRAINED}
        length = self.tokens().longest + more
        edits = self.edits.at_sites(self.reader.shape, length, target_length) | moved
        missing = self.reader.missing
        if "move positions" in missing:
            edits = {site: edit for site, edit in edits.items() if isinstance(site, Site)}
        if "open cells" in missing:
            edits = {
                site: replace(edit, open=None) if isinstance(site, Site) else edit
                for site, edit in edits.items()
            }
        return edits

    def target_text(self) -> str:
        """Return the text that a decoder next to an encoder reads; empty if there is none."""
        if self.target or "cross" not in self.reader.shape.kinds:
            return self.target
        return written(self.as_trained).text

    @property
    def is_cut(self) -> bool:
        return self.reader.is_cut(self.sentence, self.second or None)

    @property
    def texts(self) -> str:
        return " / ".join(filter(None, (self.sentence, self.second)))

    def objective(self) -> Objective | None:
        """Return the tokens on whose likelihood effects are measured; None if there are none."""
        return self.reader.objective(self.tokens())

    def record(self, site: Site) -> AttentionRecord:
        """Return the full record of a layer's attention, which must not be modified."""
        trace = self.trace()
        return (trace if site in trace.attention else _traced(self, site)).attention[site]


def hiding(run: ModelRun, places: Collection[int]) -> ModelRun:
    """Return a run that hides the tokens at these indices, if the model can hide tokens."""
    if not places or "mask words" in run.reader.missing:
        return run
    tokens = enumerate(run.tokens().source_tokens)
    written = (place for place, token in tokens if not token.is_special)
    return replace(run, masked=tuple(place for place in written if place in places))


@model_call("Reading …")
def _traced(run: ModelRun, site: Site | None) -> Trace:
    """Return the record of a run. A large run records only the layer `site` in full, or none."""
    model = run.reader
    read = run.target
    if not read and "cross" in model.shape.kinds:
        read = written(run.as_trained)
    with errors_explained():
        trace = model.trace(
            run.sentence,
            read or None,
            second=run.second or None,
            masked=run.masked,
            pad_to=run.pad_to,
            edits=run.changes(),
            sites=sites_in_full(run, read, site),
        )
        check_numbers(trace)
    return trace


@model_call("Reading …")
def _streamed(run: ModelRun) -> Trace:
    """Run the model again, and return the record of the run with the residual stream."""
    with errors_explained():
        return run.reader.streamed(run.trace(), run.changes())


def sites_in_full(run: ModelRun, read: str | Writing, site: Site | None) -> list[Site] | None:
    """Return the layers to be recorded in full; None if the run is small enough for all."""
    shape = run.reader.shape
    heads = sum(layers * heads for layers, heads in shape.kinds.values())
    characters = max(len(run.texts), len(read if isinstance(read, str) else read.text))
    # The number of tokens is not known yet. Most tokens have at least two characters.
    longest = min(max(characters // 2, run.pad_to or 0), shape.max_positions)
    if heads * longest**2 <= IN_FULL:
        return None
    return [site] if site else []


@model_call()
def masks_of(run: ModelRun) -> tuple[Tensor, Tensor, Tensor]:
    """Return three masks of a translator for a run: padding, look-ahead, and both combined."""
    return translator(run.model).masks(run.trace())


def written(run: ModelRun) -> Writing:
    """Return the text that a model writes for a run; it must not be modified.

    Raise ValueError if the model writes no text.
    """
    return decoded(replace(run, target="") if run.target else run).writing


def with_own_text(run: ModelRun) -> ModelRun:
    """Return a run with edits and no target as one in which the decoder reads what it writes."""
    reads_own = "cross" in run.reader.shape.kinds and run.edits != Edits() and not run.target
    return replace(run, target=written(run).text) if reads_own else run


def is_written(run: ModelRun) -> bool:
    """Return whether the text that a model writes for this run is already stored."""
    return decoded.kept(replace(run, target="")) is not None


@model_call("Reading …")
def reading_its_own(run: ModelRun) -> Trace:
    """Return a record with the logits of the changed model on the text that it writes as trained.

    The model reads the very tokens that it wrote: splitting their text could give other tokens.
    """
    own = written(run.as_trained)
    edits = run.changes_of(len(own.target_tokens))
    return run.reader.trace(run.sentence, own, pad_to=run.pad_to, edits=edits, sites=[])


@prepared_model_call("Writing …")
def decoded(
    run: ModelRun,
    strategy: Strategy | None = None,
    longest: int | None = None,
    forced: tuple[int, ...] = (),
) -> Work[Decoding]:
    """Return the text that a model writes, with every step; it must not be modified.

    `strategy` is by default the run's. The text begins with the token ids `forced`; ValueError if
    it cannot.
    """
    strategy = strategy or run.strategy
    model, edits = run.reader, run.changes_of((longest or LONGEST_WRITING) + 1)
    text = Request(run.sentence, pad_to=run.pad_to, edits=edits)
    common = model.batch_of(text, strategy)
    batch = None if common is None else (model, common, longest, forced)

    def write(texts: Sequence[Request]) -> Iterator[Decoding]:
        with errors_explained():
            for decoding in model.write_together(texts, strategy, longest=longest, forced=forced):
                if decoding.trace:
                    check_numbers(decoding.trace)
                yield decoding

    length = max(longest or LONGEST_WRITING, run.pad_to or 0, len(run.sentence) // 2)
    return Work(write, text, batch, length)


@model_call("Decoding …")
def evicted(run: ModelRun, policy: str, budget: int, longest: int) -> Decoding:
    """Return what a model writes with a cache of at most `budget` keys; see `write_evicting`."""
    edits = run.changes_of(longest + 1)
    with errors_explained():
        return write_evicting(
            run.reader, run.sentence, policy, budget, longest=longest, edits=edits
        )


@model_call("Running transformers' own BertModel …")
def measured_parity(run: ModelRun) -> Parity:
    """Return how far a BERT of this project's layers is from the transformers library's BERT."""
    return cast("BertReader", run.reader).parity(run.sentence, run.second or None)
