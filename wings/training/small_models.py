"""Small models that learn a task while a visitor watches."""

import math
import random
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.model.decoding.search import decode
from headlight.model.shape import checked_config, shape_of
from headlight.model.snapshots import Snapshots
from headlight.model.tokenizer import Tokenizer
from headlight.model.tokens import pad, source_sequence
from headlight.model.trace import Trace
from headlight.model.training.data import Batch, EncodedPair, collate
from headlight.model.training.step import Settings, make_optimizers, train_step
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.trace import Kind
from headlight.model.transformer.transformer import Transformer
from headlight.model.translator import Translator
from headlight.wings.training.tasks import TASKS, Task, is_unseen

MAX_POSITIONS = 48  # of source and of target; even the longest sources need fewer
SNAPSHOTS = 59  # steps whose attention is kept; one more if the training is stopped between two
MATCHES = 40  # how often during a training the model writes the unseen examples
UNSEEN = 200  # unseen examples that the model writes each time

BOUNDS: dict[str, tuple[float, float]] = {
    "layers": (1, 4),
    "heads": (1, 8),
    "d_model": (8, 128),
    "d_ff": (8, 512),
    "steps": (10, 10_000),
    "batch_size": (1, 256),
    "warmup": (1, 5_000),
    "rate": (0.01, 10.0),
    "label_smoothing": (0.0, 0.5),
    "seed": (0, 999_999),
}


@dataclass(frozen=True)
class TrainingOptions:
    """The options of a training; encoder and decoder have `layers` layers each.

    `shortest` and `longest` are in the unit of the task, and 0 if it has none. `rate` multiplies
    the paper's schedule. Raises ValueError if an option is out of bounds.
    """

    task: str = "reverse"
    shortest: int = 1
    longest: int = 8
    layers: int = 2
    heads: int = 4
    d_model: int = 64
    d_ff: int = 256
    positions: str = "sinusoidal"
    norm: str = "pre"
    steps: int = 1_000
    batch_size: int = 64
    warmup: int = 200
    rate: float = 0.5
    label_smoothing: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        least, most = TASKS[self.task].lengths
        lengths = {"longest": (least, most), "shortest": (min(least, 1), self.longest)}
        refuse_outside(vars(self), lengths | BOUNDS)
        self.config(vocab_size=1)

    def config(self, vocab_size: int) -> TransformerConfig:
        """Return the model's config; no dropout, since all threads share torch's random state."""
        return checked_config(
            source_vocab_size=vocab_size,
            target_vocab_size=vocab_size,
            d_model=self.d_model,
            heads=self.heads,
            encoder_layers=0 if TASKS[self.task].decoder_only else self.layers,
            decoder_layers=self.layers,
            d_ff=self.d_ff,
            dropout=0.0,
            norm=self.norm,
            positions=self.positions,
            max_positions=self.positions_read,
        )

    @property
    def positions_read(self) -> int:
        """How many positions the model has. A decoder-only model has only those of its training.

        Such a model writes up to its last position; positions beyond its training would give noise.
        """
        return 2 * self.longest + 1 if TASKS[self.task].decoder_only else MAX_POSITIONS

    @property
    def settings(self) -> Settings:
        """The settings of the training steps; over the second half the learning rate falls to 0."""
        return Settings(
            steps=self.steps,
            warmup=self.warmup,
            cooldown=self.steps // 2,
            rate=self.rate,
            label_smoothing=self.label_smoothing,
            seed=self.seed,
        )


def refuse_outside(values: Mapping, bounds: Mapping[str, tuple[float, float]]) -> None:
    """Raise ValueError for any value outside its (inclusive) bounds.

    A value has to be a whole number if both of its bounds are.
    """
    for name, (least, most) in bounds.items():
        value = values[name]
        whole = isinstance(least, int) and isinstance(most, int)
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            raise ValueError(f"{name} has to be a {'whole ' if whole else ''}number.")
        if not least <= value <= most:
            raise ValueError(f"{name} has to be from {least} to {most}.")


DEFAULTS = {
    "reverse": TrainingOptions(),
    "copy": TrainingOptions("copy", steps=800),
    "sort": TrainingOptions("sort"),
    "add": TrainingOptions("add", longest=3, steps=2_500),
    "dates": TrainingOptions("dates", shortest=0, longest=0, steps=600),
    # One head a layer, so that each has one job, and a visitor can switch one off.
    "repeat": TrainingOptions(
        "repeat", shortest=3, longest=14, heads=1, positions="learned", steps=600, rate=1.0
    ),
}


def default_options(task: str) -> TrainingOptions:
    """Return options that learn a task within minutes; raises ValueError for an unknown task."""
    return DEFAULTS[task] if task in DEFAULTS else TrainingOptions(task)


def early_steps(steps: int, count: int) -> list[int]:
    """Return at most `count` steps from 0 to the last, denser at the beginning."""
    return sorted({round(steps * (position / (count - 1)) ** 2) for position in range(count)})


@dataclass(frozen=True)
class ScoredStep:
    """One step of a training, its loss in nats a token, and the score after it, if measured."""

    number: int
    loss: float
    score: float | None


class SmallModel:
    """A small model, its task, and its attention on one example during the training."""

    def __init__(self, options: TrainingOptions) -> None:
        self.options = options
        self.task: Task = TASKS[options.task]
        self.tokenizer = Tokenizer.train_characters([self.task.alphabet])
        self.model = Transformer(options.config(self.tokenizer.vocab_size))
        self.model.draw_weights(torch.Generator().manual_seed(options.seed))
        chance = random.Random(options.seed)
        self.unseen = [self.draw(chance, unseen=True) for _ in range(UNSEEN)]
        # The longest example shows most of the pattern.
        self.source, self.target = max(self.unseen[:20], key=lambda pair: len(pair[0]))
        self.shots: list[tuple[int, dict[Kind, Tensor]]] = []  # step, weights (layers, H, Q, K)
        self.keep_snapshot(0)

    def draw(self, chance: random.Random, unseen: bool) -> tuple[str, str]:
        """Return a random training pair, or, if `unseen`, one that is kept from training."""
        while True:
            pair = self.task.pair(chance, self.options.shortest, self.options.longest)
            if is_unseen(pair[0]) == unseen:
                return pair

    def batches(self) -> Iterator[Batch]:
        """Yield batches of new examples without end, the same for the same seed."""
        chance = random.Random(f"train {self.options.seed}")
        while True:
            yield self.collate(
                [self.draw(chance, unseen=False) for _ in range(self.options.batch_size)]
            )

    def collate(self, pairs: list[tuple[str, str]]) -> Batch:
        """Return pairs as a batch to train on."""
        ids = self.tokenizer.backend.get_vocab()
        return collate(
            [
                EncodedPair([ids[c] for c in source], [ids[c] for c in target])
                for source, target in pairs
            ]
        )

    def train(self) -> Generator[ScoredStep, None, None]:
        """Train to the last step, with the same steps as `python -m headlight.model.train`.

        Raises FloatingPointError if the loss or a gradient is not finite.
        """
        settings, optimizers = self.options.settings, make_optimizers(self.model)
        shown = set(early_steps(settings.steps, SNAPSHOTS))
        every = math.ceil(settings.steps / MATCHES)
        for number, batch in zip(range(1, settings.steps + 1), self.batches(), strict=False):
            loss = train_step(self.model, optimizers, batch, number, settings)
            if number in shown:
                self.keep_snapshot(number)
            counted = number % every == 0 or number == settings.steps
            yield ScoredStep(number, loss, self.score() if counted else None)

    def score(self) -> float:
        """Return the share of the unseen examples that greedy decoding writes without a mistake."""
        self.model.eval()
        sources, targets = zip(*self.unseen, strict=True)
        ids = self.tokenizer.encode_ids(sources)
        longest = max(len(target) for target in targets)
        written = decode(
            self.model,
            pad([source_sequence(row) for row in ids]),
            max_new_tokens=longest + 1,
        )
        right = sum(
            decoded.finished and self.tokenizer.decode(decoded.ids) == target
            for decoded, target in zip(written, targets, strict=True)
        )
        return right / len(targets)

    def lesion(self) -> None:
        """Return None; only `Repeats`, a decoder, measures what the removal of a head costs."""

    def keep_snapshot(self, step: int) -> None:
        """Keep the attention on the example after a step; see `trace_example`."""
        if self.shots and self.shots[-1][0] == step:
            return
        trace = self.trace_example()
        kinds = shape_of(self.model.config).kinds
        self.shots.append((step, {kind: trace.weights(kind) for kind in kinds}))
        self.source_tokens = [token.text for token in trace.source_tokens]
        self.target_tokens = [token.text for token in trace.target_tokens]

    def trace_example(self) -> Trace:
        """Trace the model on the example; its decoder reads the right target."""
        return Translator(self.model, self.tokenizer).trace(self.source, self.target)

    def snapshots(self) -> Snapshots:
        """Return the attention on the example at all snapshots so far."""
        steps, shots = zip(*self.shots[:], strict=True)
        weights = {kind: torch.stack([shot[kind] for shot in shots]) for kind in shots[0]}
        return Snapshots(
            list(steps),
            [self.source],
            [self.source_tokens],
            [self.target_tokens],
            [weights],
        )
