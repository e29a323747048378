"""One run of a model: plain values that decide every number, and what comes of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from torch import Tensor

from model.decoding.steps import Decoding, Writing
from model.decoding.strategies import Strategy
from model.edits import Edits
from model.library.guard import check_numbers
from model.reader import Objective, Reader
from model.trace import AttentionRecord, PositionEdit, RunEdits, Site, Trace
from pages.shared.runs.door import model_call
from pages.shared.runs.readers import explained, loading, reader
from pages.shared.state import models

IN_FULL = 10_000_000  # weights that are recorded with everything else; of more, a site at a time
AS_TRAINED = PositionEdit()
LONGEST_WRITING = 64  # tokens, if nothing else is asked for


@dataclass(frozen=True)
class ModelRun:
    """A text as a model reads it.

    Without a target a decoder beside an encoder reads what the model writes as trained, edits or
    not, so that runs with and without edits can be compared cell by cell. Without a model it is the
    one that the visitor has chosen. Whatever takes a model that is gone raises ValueError.
    """

    sentence: str
    target: str = ""
    edits: Edits = Edits()
    pad_to: int | None = None
    second: str = ""
    masked: tuple[int, ...] = ()  # places of tokens
    moved: tuple[PositionEdit, PositionEdit] = (AS_TRAINED, AS_TRAINED)  # of encoder and decoder
    model: str = field(default_factory=lambda: models.chosen().key)
    loading: int = field(default=0, init=False)  # which one, if models of this name were two

    def __post_init__(self) -> None:
        object.__setattr__(self, "loading", loading(self.model))

    @property
    def reader(self) -> Reader:
        """The model."""
        return reader(self.model)

    @property
    def is_common(self) -> bool:
        """Whether its model is nobody's own, but the same for every visitor."""
        return not models.named(self.model).is_own

    @property
    def as_trained(self) -> ModelRun:
        """The same run without any change."""
        return replace(self, edits=Edits(), moved=(AS_TRAINED, AS_TRAINED))

    @property
    def trace(self) -> Trace:
        """What was recorded, of a large model the weights alone; not to be modified."""
        return _traced(self, None)

    @property
    def tokens(self) -> Trace:
        """The trace as trained, whose tokens are those of every run over the same text."""
        return self.as_trained.trace

    @property
    def changes(self) -> RunEdits:
        """The edits as the model takes them, for the tokens of this run."""
        if self == self.as_trained:
            return {}
        target = [token for token in self.tokens.target_tokens if not token.is_padding]
        return self.changes_of(0, len(target))

    def changes_of(self, more: int, target_length: int | None = None) -> RunEdits:
        """Return the edits for so many more tokens than this run's; see `Edits.at_sites`.

        Cells that a model cannot open stay as they are.
        """
        read = max(len(self.tokens.source_tokens), len(self.tokens.target_tokens))
        sides = zip(("encoder", "decoder"), self.moved, strict=True)
        moved = {side: edit for side, edit in sides if edit != AS_TRAINED}
        edits = self.edits.at_sites(self.reader.shape, read + more, target_length)
        if "open cells" in self.reader.missing:
            edits = {site: replace(edit, open=None) for site, edit in edits.items()}
        return moved | edits

    @property
    def target_text(self) -> str:
        """What a decoder beside an encoder reads; empty if there is none."""
        if self.target or "cross" not in self.reader.shape.kinds:
            return self.target
        return written(self.as_trained).text

    @property
    def is_cut(self) -> bool:
        """Whether there is more text than the model can read."""
        return self.reader.is_cut(self.sentence, self.second or None)

    @property
    def texts(self) -> str:
        """What is read, in one line."""
        return " / ".join(filter(None, (self.sentence, self.second)))

    @property
    def objective(self) -> Objective | None:
        """What effects are measured on, as the model is trained; None if there is nothing."""
        return self.reader.objective(self.tokens)

    def record(self, site: Site) -> AttentionRecord:
        """Return everything recorded at a site; not to be modified."""
        if site in self.trace.attention:
            return self.trace.attention[site]
        return _traced(self, site).attention[site]


def hiding(run: ModelRun, places: Collection[int]) -> ModelRun:
    """Return a run with the words at these places hidden from the model, as far as it can."""
    if not places or "mask words" in run.reader.missing:
        return run
    tokens = enumerate(run.tokens.source_tokens)
    written = (place for place, token in tokens if not token.is_special)
    return replace(run, masked=tuple(place for place in written if place in places))


@model_call("Reading …")
def _traced(run: ModelRun, site: Site | None) -> Trace:
    """Record a run, of a large model one site in full, or none."""
    model = run.reader
    read = run.target
    if not read and "cross" in model.shape.kinds:
        read = written(run.as_trained)
    try:
        trace = model.trace(
            run.sentence,
            read or None,
            second=run.second or None,
            masked=run.masked,
            pad_to=run.pad_to,
            edits=run.changes,
            sites=sites_in_full(run, read, site),
        )
        check_numbers(trace)
    except Exception as error:
        raise explained(error) from error
    return trace


def sites_in_full(run: ModelRun, read: str | Writing, site: Site | None) -> list[Site] | None:
    """Return the sites to be recorded in full; None if all of them can be."""
    shape = run.reader.shape
    heads = sum(layers * heads for layers, heads in shape.kinds.values())
    characters = max(len(run.texts), len(read if isinstance(read, str) else read.text))
    # A token has two characters or more, as a rule.
    longest = min(max(characters // 2, run.pad_to or 0), shape.max_positions)
    if heads * longest**2 <= IN_FULL:
        return None
    return [site] if site else []


@model_call()
def masks_of(run: ModelRun) -> tuple[Tensor, Tensor, Tensor]:
    """Return the padding mask, the look-ahead mask and both of a run, as a translator uses them."""
    return run.reader.masks(run.trace)


@model_call("Writing …")
def written(run: ModelRun) -> Writing:
    """Return what a model writes when it reads a run's text; not to be modified.

    Raise ValueError if it does not write.
    """
    return decoded(replace(run, target=""), Strategy()).writing


@model_call("Reading …")
def reading_its_own(run: ModelRun) -> Trace:
    """Record the logits if the decoder reads what the model writes as trained, token by token.

    Read as a text, that could be cut into other tokens.
    """
    own = written(run.as_trained)
    changed = run != run.as_trained
    edits = run.changes_of(len(own.target_tokens)) if changed else {}
    return run.reader.trace(run.sentence, own, pad_to=run.pad_to, edits=edits, sites=[])


@model_call("Decoding …")
def decoded(
    run: ModelRun, strategy: Strategy, longest: int | None = None, forced: tuple[int, ...] = ()
) -> Decoding:
    """Return what a model writes with every step; not to be modified.

    Raise ValueError for `forced` ids that it cannot begin with.
    """
    changed = run != run.as_trained
    edits = run.changes_of((longest or LONGEST_WRITING) + 1) if changed else {}
    options = {"longest": longest, "forced": forced, "pad_to": run.pad_to, "edits": edits}
    try:
        return run.reader.write(run.sentence, strategy, **options)
    except Exception as error:
        raise explained(error) from error
