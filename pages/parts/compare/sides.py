"""The two kinds of sides of the page Compare: a model's run, and a snapshot of a training."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np

from headlight.model.edits import Edits, read_edits
from headlight.model.reader import Reader
from headlight.model.snapshots import Snapshots
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.shared.runs.arrays import as_array, heads_meant, one_head
from headlight.pages.shared.runs.readers import reader
from headlight.pages.shared.runs.run import ModelRun, hiding
from headlight.pages.shared.runs.shipped import recorded_training
from headlight.pages.shared.show.captions import labels_at_snapshots, labels_of, site_words
from headlight.pages.shared.state import choices, models
from headlight.pages.shared.state.choice import Choice, like
from headlight.pages.shared.state.choices import KINDS, SUMMARIES, HeadChoice, places_in
from headlight.pages.shared.state.wings import WINGS, first_known
from headlight.pages.shared.widgets.choose import place_options

NO_TRAINING = (
    "This session has no training to show here. Start one on the page Training, or choose "
    "another model below."
)
# In a link: the training and its step, such as en-fr.400.
SNAPSHOT = like("compare_snapshot", "", r"(en-fr|toy)\.\d{1,9}")
OWN_TRAINING = "toy"


def held(choice: Choice) -> Any:
    return field(default=choice.default, metadata={"choice": choice})


@dataclass(frozen=True)
class ShownModel:
    """What a side shows: the model's title, the weights (H, Q, K) of chosen layers, the tokens."""

    of: str
    layers: Sequence[np.ndarray]
    tokens: tuple[list[str], list[str]]  # the labels of the queries and of the keys
    reads: list[str]  # the tokens read by the decoder, if there is one


@dataclass(frozen=True)
class AnySide:
    """One side of the page Compare: a text and a head that reads it.

    `refused` names the values of a link that were invalid. Properties that need a model or a
    training raise ValueError if it is gone.
    """

    kind: Kind = held(choices.KIND)
    layer: HeadChoice = held(choices.LAYER)
    head: HeadChoice = held(choices.HEAD)
    text: str = held(choices.SENTENCE)
    target: str = held(choices.TARGET)  # what the decoder reads; if empty, the model's own text
    edits: str = held(choices.EDITS)
    refused: tuple[str, ...] = field(default=(), compare=False)
    second = masked = ""
    kinds = tuple(KINDS)  # the kinds of attention that the model has
    changes = Edits()  # the `edits` as a record; ValueError if the model cannot take them

    @property
    def shape(self) -> tuple[int, int]:
        """The number of layers with the side's kind of attention, and of heads in each."""
        raise NotImplementedError

    @property
    def writer(self) -> str | None:
        """The key of the model that writes the text the decoder reads by default, or None."""
        raise NotImplementedError

    @property
    def shown(self) -> ShownModel:
        raise NotImplementedError

    def readable(self) -> Self:
        """Return the side with a model and a text that exist, and edits that its model can take."""
        raise NotImplementedError

    @property
    def place(self) -> str:
        return site_words(self.kind, self.layer, self.head)

    @property
    def weights(self) -> np.ndarray:
        """The weights (Q, K) of the chosen head, or of the chosen mean or maximum of several."""
        heads = [one_head(layer, self.head) for layer in self.shown.layers]
        return one_head(np.stack(heads), self.layer if isinstance(self.layer, str) else 0)

    @property
    def layers(self) -> list[int]:
        return heads_meant(self.layer, self.shape[0])

    @classmethod
    def held_choices(cls) -> dict[str, Choice]:
        """Return the choices that a link to this side contains, by the names of the fields."""
        return {item.name: item.metadata["choice"] for item in fields(cls) if item.metadata}

    def without(self, name: str) -> Self:
        """Return the side with the field `name` set to its default and added to `refused`."""
        choice = self.held_choices()[name]
        return replace(self, **{name: choice.default}, refused=(*self.refused, choice.key))

    def fitted(self) -> Self:
        """Return the side with a model, text, head and edits that exist.

        If the model is not in memory, this cannot be checked, and the side is returned as it is.
        """
        side = self
        try:
            side = side.readable()
            if side.kind not in side.kinds:
                side = replace(side, kind=side.kinds[0])
            layers, heads = side.shape
        except ValueError:  # the model is gone, or not in memory
            return side
        layer = side.layer if isinstance(side.layer, str) else min(side.layer, layers - 1)
        head = side.head if side.head in place_options(heads) else choices.HEAD.default
        return replace(side, layer=layer, head=head)


@dataclass(frozen=True)
class ModelSide(AnySide):
    """A side with a model: shipped, a visitor's own, or one of the transformers library."""

    second: str = held(choices.SECOND)
    masked: str = held(choices.MASKED)
    model: str = held(choices.MODEL)

    @property
    def reader(self) -> Reader:
        return reader(self.model)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(self.reader.shape.kinds)

    @property
    def shape(self) -> tuple[int, int]:
        return self.reader.shape.kinds[self.kind]

    @property
    def writer(self) -> str | None:
        """The key of the model if its decoder reads the text that the model writes, else None."""
        writes = "cross" in self.kinds and "write" not in self.reader.missing
        return self.model if writes else None

    @property
    def changes(self) -> Edits:
        return read_edits(self.edits, self.reader.shape)

    @property
    def run(self) -> ModelRun:
        run = ModelRun(self.text, self.target, self.changes, second=self.second, model=self.model)
        return hiding(run, places_in(self.masked))

    @property
    def shown(self) -> ShownModel:
        """The weights and tokens; for a single layer the weights are exact, never bytes."""
        run, sites = self.run, [Site(self.kind, layer) for layer in self.layers]
        weights = (
            [run.trace().site_weights(site) for site in sites]
            if self.layer in SUMMARIES
            else [run.record(site).weights[0] for site in sites]
        )
        return ShownModel(
            f"{models.named(self.model).title}, {'with changes' if self.edits else 'as trained'}",
            list(map(as_array, weights)),
            labels_of(run, self.kind),
            [token.text for token in run.trace().target_tokens],
        )

    def readable(self) -> Self:
        entry = models.named(self.model)
        side = self if entry.key == self.model else self.without("model")
        if not side.text.strip():
            side = replace(side, text=entry.examples[0])
        reads_pairs, masks = (
            ability not in side.reader.missing for ability in ("read a pair", "mask words")
        )
        edits = choices.known_edits(side.edits, side.reader.shape)
        if edits != side.edits:
            side = replace(side.without("edits"), edits=edits)
        return replace(
            side,
            second=side.second if reads_pairs else "",
            masked=side.masked if masks else "",
            target=side.target if "cross" in side.kinds else "",
        )


def recordings() -> dict[str, tuple[str, Snapshots]]:
    """Return the title and snapshots of every training that this visitor can see, by its key."""
    title = f"{models.SHIPPED[models.DEFAULT].title}, during its training"
    trainings = {models.DEFAULT: (title, recorded_training())}
    if own := first_known(wing.recording() for wing in WINGS):
        trainings[OWN_TRAINING] = own
    return trainings


@dataclass(frozen=True)
class SnapshotSide(AnySide):
    """A side that shows the attention on a sentence, recorded at a step of a training."""

    snapshot: str = held(SNAPSHOT)

    @property
    def source(self) -> str:
        return self.snapshot.partition(".")[0]

    @property
    def writer(self) -> str | None:
        """The key of the trained model; None for a visitor's own training.

        In a visitor's own training the decoder reads the right answers, not a text of the model.
        """
        return None if self.source == OWN_TRAINING else self.source

    @property
    def recording(self) -> tuple[str, Snapshots]:
        if recording := recordings().get(self.source):
            return recording
        raise ValueError(NO_TRAINING)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(self.recording[1].weights[0])

    @property
    def step(self) -> int:
        """The step of the training that was recorded and is nearest to the chosen step."""
        wanted = int(self.snapshot.partition(".")[2])
        return min(self.recording[1].steps, key=lambda step: abs(step - wanted))

    @property
    def shape(self) -> tuple[int, int]:
        _, layers, heads, *_ = self.recording[1].weights[0][self.kind].shape
        return layers, heads

    @property
    def shown(self) -> ShownModel:
        title, history = self.recording
        number = history.sentences.index(self.text)
        weights = history.weights[number][self.kind][history.steps.index(self.step)]
        return ShownModel(
            f"{title}, step {self.step:,}",
            [*as_array(weights[self.layers])],
            labels_at_snapshots(history, number, self.kind),
            history.target_tokens[number],
        )

    def readable(self) -> Self:
        _, history = self.recording
        return self if self.text in history.sentences else replace(self, text=history.sentences[0])


Side = ModelSide | SnapshotSide
Pair = tuple[Side, Side]


def hidden_words(side: Side) -> str:
    """Return words such as “Hidden: the tokens at 2, 5” for a side; empty if none are hidden."""
    places = ", ".join(str(index + 1) for index in sorted(places_in(side.masked)))
    return places and f"Hidden: the tokens at {places}"


def at_step(side: Side, source: str, step: int) -> SnapshotSide:
    snapshot = f"{source}.{step}"
    return SnapshotSide(side.kind, side.layer, side.head, side.text, snapshot=snapshot)
