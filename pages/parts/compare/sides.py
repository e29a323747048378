"""What a side of the page Compare shows: a translator's run, a snapshot, or a library's model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from model import Translation
from model.edits import Edits, read_edits
from model.library.bert_reader import BertReader
from model.trace import Kind, Trace
from model.training.snapshots import Snapshots
from pages.parts.compare.words import NO_TRAINING, NOT_LOADED
from pages.shared.link import address
from pages.shared.runs.arrays import one_head, tokens_of, weights_of
from pages.shared.runs.library import heads_of
from pages.shared.runs.records import recorded_training
from pages.shared.runs.shelf import Loaded, shelf, short
from pages.shared.runs.translator import TranslatorRun, translated, translator
from pages.shared.show.captions import site_words
from pages.shared.state import catalog, choices, library_choices, models
from pages.shared.state.choice import Choice, like
from pages.shared.state.choices import KINDS, SUMMARIES, Head
from pages.shared.state.workshop import workshop
from pages.shared.widgets.choose import head_options

# Of whose training, and at which step: within the text of a side.
SNAPSHOT = like("compare_snapshot", "", r"(en-fr|toy)\.\d{1,9}")
OWN_TRAINING = "toy"


def held(choice: Choice) -> Any:
    """Return a field of a side, which links hold as a choice."""
    return field(default=choice.default, metadata={"choice": choice})


@dataclass(frozen=True)
class Run:
    """A model in words, with the heads of every layer of one kind (H, Q, K), and the tokens."""

    title: str
    layers: Sequence[np.ndarray]
    tokens: tuple[list[str], list[str]]  # of the queries and of the keys
    reads: list[str]  # by the decoder


@dataclass(frozen=True)
class Side:
    """A text and one head that reads it; `refused` names what in its link made no sense.

    Whatever takes a model or a training that is gone raises ValueError.
    """

    kind: Kind = held(choices.KIND)
    layer: Head = held(choices.LAYER)
    head: Head = held(choices.HEAD)
    text: str = held(choices.SENTENCE)
    target: str = held(choices.TARGET)  # empty for what the model itself writes
    edits: str = held(choices.EDITS)
    refused: tuple[str, ...] = field(default=(), compare=False)
    second = ""  # sentence
    kinds = tuple(KINDS)  # of attention, that there are
    changes = Edits()  # the edits as the model takes them; raises ValueError if it cannot
    writer: ClassVar[str | None] = None  # the translator whose text its decoder reads by default

    @property
    def run(self) -> Run:
        """Every head of its kind on its text."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, int]:
        """How many layers of its kind there are, and heads in each."""
        layers = self.run.layers
        return len(layers), len(layers[0])

    @property
    def title(self) -> str:
        """What is shown, in words."""
        return f"{self.run.title}. {site_words(self.kind, self.layer, self.head)}"

    @property
    def weights(self) -> np.ndarray:
        """The weights (Q, K) of its head, or a mean or maximum over heads and layers."""
        heads = [one_head(layer, self.head) for layer in self.run.layers]
        return one_head(np.stack(heads), self.layer)

    @classmethod
    def held_choices(cls) -> dict[str, Choice]:
        """Return the choices that links hold, by the names of their fields."""
        return {one.name: one.metadata["choice"] for one in fields(cls) if one.metadata}

    @classmethod
    def of_session(cls) -> Self:
        """Return what the other pages show now."""
        return cls(**{name: address.now(choice) for name, choice in cls.held_choices().items()})

    def without(self, name: str) -> Self:
        """Return it with the default of a field that makes no sense."""
        choice = self.held_choices()[name]
        return replace(self, **{name: choice.default}, refused=(*self.refused, choice.key))

    def readable(self) -> Self:
        """Return it with a model and a text that there are."""
        return self

    def fitted(self) -> Self:
        """Return it with everything that there is, as far as is known: model, text, head, edits."""
        side = self
        try:
            side = side.readable()
            if side.kind not in side.kinds:
                side = replace(side, kind=side.kinds[0])
            try:
                _ = side.changes
            except ValueError:
                side = side.without("edits")
            layers, heads = side.shape
        except ValueError:  # what reads it is gone, or cannot read it
            return side
        layer = side.layer if side.layer in SUMMARIES else min(side.layer, layers - 1)
        head = side.head if side.head in head_options(heads) else choices.HEAD.default
        return replace(side, layer=layer, head=head)


Pair = tuple[Side, Side]


@dataclass(frozen=True)
class TranslatorSide(Side):
    """A sentence in one of Headlight's own models, shipped or a visitor's."""

    model: str = held(choices.MODEL)

    @property
    def writer(self) -> str:
        """The model itself."""
        return self.model

    @property
    def changes(self) -> Edits:
        """The edits as the model takes them."""
        return read_edits(self.edits, translator(self.model).model.config)

    @property
    def shape(self) -> tuple[int, int]:
        """How many layers of its kind there are, and heads in each."""
        config = translator(self.model).model.config
        return config.layers(self.kind), config.heads

    @property
    def trace(self) -> Trace:
        """Everything recorded while it runs."""
        return TranslatorRun(self.text, self.target, self.changes, model=self.model).trace

    @property
    def translation(self) -> Translation:
        """What the model writes."""
        return translated(self.text, self.changes, name=self.model)

    @property
    def run(self) -> Run:
        """Every head of its kind on its text."""
        state = "as trained" if self.changes == Edits() else "with changes"
        return Run(
            f"{models.choices()[self.model].title}, {state}",
            weights_of(self.trace, self.kind),
            tokens_of(self.trace, self.kind),
            [token.text for token in self.trace.target_tokens],
        )

    def readable(self) -> Self:
        """Return it with a model that there is, and something to read."""
        side = self if self.model in models.choices() else self.without("model")
        if not translator(side.model).tokenizer.encode(side.text):
            side = replace(side, text=models.choices()[side.model].examples[0])
        return side


def recordings() -> dict[str, tuple[str, Snapshots]]:
    """Return the trainings whose snapshots this visitor can see: title and snapshots of each."""
    title = f"{catalog.SHIPPED[catalog.DEFAULT].title}, during its training"
    found = {catalog.DEFAULT: (title, recorded_training())}
    if run := workshop().run:
        found[OWN_TRAINING] = f"Your training: {run.name}", run.job.look().snapshots
    return found


@dataclass(frozen=True)
class SnapshotSide(Side):
    """A recorded sentence at a step of a training."""

    snapshot: str = held(SNAPSHOT)

    @property
    def source(self) -> str:
        """Whose training it is of."""
        return self.snapshot.partition(".")[0]

    @property
    def writer(self) -> str | None:
        """The trained model, but for a visitor's own, whose decoder reads the right answer."""
        return None if self.source == OWN_TRAINING else self.source

    @property
    def recording(self) -> tuple[str, Snapshots]:
        """The training's title and its snapshots."""
        if found := recordings().get(self.source):
            return found
        raise ValueError(NO_TRAINING)

    @property
    def step(self) -> int:
        """The recorded step that is nearest to the one asked for."""
        wanted = int(self.snapshot.partition(".")[2])
        return min(self.recording[1].steps, key=lambda step: abs(step - wanted))

    @property
    def run(self) -> Run:
        """Every head of its kind on its text."""
        title, history = self.recording
        number = history.sentences.index(self.text)
        return Run(
            f"{title}, step {self.step:,}",
            history.weights[number][self.kind][history.steps.index(self.step)].cpu().numpy(),
            history.tokens(number, self.kind),
            history.target_tokens[number],
        )

    def readable(self) -> Self:
        """Return it with a recorded sentence."""
        _, history = self.recording
        return self if self.text in history.sentences else replace(self, text=history.sentences[0])


def at_step(side: Side, source: str, step: int) -> SnapshotSide:
    """Return what a side shows as it was at a step of a training."""
    snapshot = f"{source}.{step}"
    return SnapshotSide(side.kind, side.layer, side.head, side.text, snapshot=snapshot)


@dataclass(frozen=True)
class LibrarySide(Side):
    """One sentence or two in a model of the transformers library."""

    kind: Kind = held(library_choices.BERT_KIND)
    layer: Head = held(library_choices.BERT_LAYER)
    head: Head = held(library_choices.BERT_HEAD)
    text: str = held(library_choices.BERT_FIRST)
    target: str = held(library_choices.BERT_TARGET)
    edits: str = held(library_choices.BERT_EDITS)
    name: str = held(library_choices.BERT_NAME)
    second: str = held(library_choices.BERT_SECOND)
    masked: str = held(library_choices.BERT_MASKED)

    @property
    def loaded(self) -> Loaded:
        """The model."""
        if found := shelf().get(self.name):
            return found
        raise ValueError(NOT_LOADED.format(name=self.name))

    @property
    def kinds(self) -> Sequence[Kind]:
        """The kinds of attention that the model has."""
        return self.loaded.model.kinds

    @property
    def changes(self) -> Edits:
        """The switched heads as the model takes them."""
        model = self.loaded.model
        if isinstance(model, BertReader):
            return read_edits(self.edits, model.model.config)
        if self.edits:
            raise ValueError(f"No head of {self.name} can be switched.")
        return Edits()

    @property
    def run(self) -> Run:
        """Every head of its kind on its text."""
        second = self.second if self.loaded.model.takes_pairs else self.target
        found = heads_of(self.loaded, self.text, second, self.masked, self.changes)
        title = short(self.name) + (", heads switched" if self.changes != Edits() else "")
        pieces = found.query_tokens(self.kind), found.key_tokens(self.kind), found.target_tokens
        queries, keys, reads = ([piece.text for piece in row] for row in pieces)
        return Run(title, found.weights[self.kind], (queries, keys), reads)
