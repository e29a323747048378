"""A run of a model: plain values that determine every number, and the results."""

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

IN_FULL = 10_000_000  # weights; runs with more record all stages of one site at a time only
AS_TRAINED = PositionEdit()
LONGEST_WRITING = 64  # tokens, by default
BEAM = Strategy("beam")


@dataclass(frozen=True)
class ModelRun:
    """A text and everything that determines how a model reads it.

    Without a target a decoder that reads an encoder gets what the model writes as trained, with or
    without edits, so that runs with and without edits can be compared cell by cell. Without a model
    it is the one that the visitor has chosen. Every access to a model that is gone raises
    ValueError.
    """

    sentence: str
    target: str = ""
    edits: Edits = Edits()
    pad_to: int | None = None
    second: str = ""
    masked: tuple[int, ...] = ()  # indices of tokens
    moved: tuple[PositionEdit, PositionEdit] = (AS_TRAINED, AS_TRAINED)  # of encoder and decoder
    model: str = field(default_factory=lambda: models.chosen().key)
    strategy: Strategy = Strategy()  # by which the model writes
    loading: int = field(default=0, init=False)  # identifies the model among those of its name

    def __post_init__(self) -> None:
        object.__setattr__(self, "loading", loading(self.model))

    @property
    def reader(self) -> Reader:
        return reader(self.model)

    @property
    def is_common(self) -> bool:
        """Whether its model is the same for every visitor, and not a visitor's own."""
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
        """The recorded run, in a large model only its weights; it must not be modified.

        The residual stream may be missing: see `streamed`.
        """
        is_plain = not (self.target or self.pad_to or self.second or self.masked)
        if is_plain and "cross" in self.reader.shape.kinds and self.is_as_trained:
            decoding = decoded(self)
            if decoding.trace and sites_in_full(self, decoding.writing, None) is None:
                return decoding.trace  # the very run that wrote the text
        return _traced(self, None)

    def streamed(self) -> Trace:
        """The same with the residual stream, if the model shows it; it must not be modified."""
        trace = self.trace()
        if trace.residual or "show the stream" in self.reader.missing:
            return trace
        return _streamed(self)

    def tokens(self) -> Trace:
        """The trace as trained, which has the tokens of every run over the same text."""
        return self.as_trained.trace()

    def changes(self) -> RunEdits:
        """The edits in the model's form, for the tokens of this run."""
        if self.is_as_trained:  # whose trace the others need
            return {}
        target = [token for token in self.tokens().target_tokens if not token.is_padding]
        return self.changes_of(0, len(target))

    def changes_of(self, more: int, target_length: int | None = None) -> RunEdits:
        """Return the edits for `more` tokens than this run's; see `Edits.at_sites`.

        Cells that a model cannot open, and positions that it cannot move, stay as they are.
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
        """The text read by a decoder next to an encoder; empty if there is none."""
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
        """What effects are measured on, given by the model's training; None if there is nothing."""
        return self.reader.objective(self.tokens())

    def record(self, site: Site) -> AttentionRecord:
        """Return everything recorded at a site; it must not be modified."""
        if site in self.trace().attention:
            return self.trace().attention[site]
        return _traced(self, site).attention[site]


def hiding(run: ModelRun, places: Collection[int]) -> ModelRun:
    """Return a run with the tokens at these indices hidden from the model, if it can hide them."""
    if not places or "mask words" in run.reader.missing:
        return run
    tokens = enumerate(run.tokens().source_tokens)
    written = (place for place, token in tokens if not token.is_special)
    return replace(run, masked=tuple(place for place in written if place in places))


@model_call("Reading …")
def _traced(run: ModelRun, site: Site | None) -> Trace:
    """Record a run; in a large model only one site in full, or none."""
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
    """Run once more, and return the trace with what lies between the blocks."""
    with errors_explained():
        return run.reader.streamed(run.trace(), run.changes())


def sites_in_full(run: ModelRun, read: str | Writing, site: Site | None) -> list[Site] | None:
    """Return the sites to be recorded in full; None if all of them can be."""
    shape = run.reader.shape
    heads = sum(layers * heads for layers, heads in shape.kinds.values())
    characters = max(len(run.texts), len(read if isinstance(read, str) else read.text))
    # A token usually has two characters or more.
    longest = min(max(characters // 2, run.pad_to or 0), shape.max_positions)
    if heads * longest**2 <= IN_FULL:
        return None
    return [site] if site else []


@model_call()
def masks_of(run: ModelRun) -> tuple[Tensor, Tensor, Tensor]:
    """Return the padding mask, the look-ahead mask and both of a run, for a translator."""
    return translator(run.model).masks(run.trace())


def written(run: ModelRun) -> Writing:
    """Return what a model writes after reading a run's text; it must not be modified.

    Raise ValueError if it does not write.
    """
    return decoded(replace(run, target="")).writing


def is_written(run: ModelRun) -> bool:
    """Return whether the text that a model writes for this run is kept."""
    return decoded.kept(replace(run, target="")) is not None


@model_call("Reading …")
def reading_its_own(run: ModelRun) -> Trace:
    """Record the logits of a decoder that reads the model's own text as trained, token by token.

    A text could be split into other tokens than the model wrote.
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
    """Return what a model writes with every step; it must not be modified.

    Without a strategy it is the run's. Raise ValueError for `forced` ids that it cannot begin with.
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
    """Return what a model writes with a cache of few keys; see `write_evicting`."""
    edits = run.changes_of(longest + 1)
    with errors_explained():
        return write_evicting(
            run.reader, run.sentence, policy, budget, longest=longest, edits=edits
        )


@model_call("Running transformers' own BertModel …")
def measured_parity(run: ModelRun) -> Parity:
    """Return how far the numbers of a BERT in this project's layers are from the library's."""
    return cast("BertReader", run.reader).parity(run.sentence, run.second or None)
