"""The command line of `python -m headlight.model.train`: its options, and the bounds of each."""

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from headlight.model.memory import memory_of_system
from headlight.model.training.loop import OPTIMIZERS, PRECISIONS, Settings
from headlight.model.transformer.config import CHOICES, TransformerConfig
from headlight.model.transformer.transformer import Transformer

SHAPE = (
    "d_model", "heads", "encoder_layers", "decoder_layers", "d_ff", "dropout", "norm",
    "activation", "positions", "tie_embeddings", "look_ahead_mask",
)  # fmt: skip
MOST_STEPS = 100_000_000
BOUNDS: dict[str, tuple[float, float]] = {
    "vocabulary": (300, 1_000_000),
    "score_every": (0, MOST_STEPS),
    "checkpoint_every": (1, MOST_STEPS),
    "d_model": (1, 16_384),
    "heads": (1, 1_024),
    "encoder_layers": (1, 200),
    "decoder_layers": (1, 200),
    "d_ff": (1, 131_072),
    "dropout": (0.0, 0.95),
    "steps": (1, MOST_STEPS),
    "warmup": (1, MOST_STEPS),
    "cooldown": (0, MOST_STEPS),
    "rate": (0.0, 1_000.0),
    "label_smoothing": (0.0, 0.95),
    "clip": (1e-6, 1e6),
    "batch_tokens": (1, 10_000_000),
    "seed": (0, 2**53),
}
ALLOWED = {"precision": tuple(PRECISIONS), "optimizer": OPTIMIZERS, **CHOICES}
OF_A_WEIGHT = 16  # bytes: itself, its gradient, and two means of an optimizer
OF_A_LOGIT = 12  # bytes: itself, its gradient, and a copy for the loss


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m headlight.model.train", description="Train a Transformer on sentence pairs."
    )
    parser.add_argument("--pairs", type=Path, required=True, help="source<TAB>target, may be .gz")
    parser.add_argument("--valid", type=Path, required=True, help="pairs to score each epoch on")
    parser.add_argument("--output", type=Path, default=Path("runs/en-fr"), help="(runs/en-fr)")
    parser.add_argument("--resume", action="store_true", help="go on with the training in --output")
    parser.add_argument("--vocabulary", type=int, default=8_000, help="(8000)")
    parser.add_argument("--tokenizer", type=Path, help="use this one in place of learning one")
    parser.add_argument(
        "--begin-with", type=Path, metavar="FOLDER", help="a checkpoint of this shape to train on"
    )
    parser.add_argument(
        "--score-every", type=int, default=0, metavar="STEPS", help="(only after each epoch)"
    )
    parser.add_argument("--checkpoint-every", type=int, default=200, metavar="STEPS", help="(200)")
    parser.add_argument("--snapshots", type=int, nargs="*", default=[], metavar="STEP")
    add_dataclass_options(parser, TransformerConfig(1, 1), SHAPE)
    add_dataclass_options(parser, Settings(), tuple(asdict(Settings())))
    return parser


def add_dataclass_options(
    parser: argparse.ArgumentParser, defaults: object, names: Sequence[str]
) -> None:
    """Add one command-line option for each named field of a dataclass instance."""
    for name in names:
        default = getattr(defaults, name)
        words = f"({default})"
        if isinstance(default, bool):
            action = argparse.BooleanOptionalAction
            parser.add_argument(option(name), action=action, default=default, help=words)
        else:
            parser.add_argument(option(name), type=type(default), default=default, help=words)


def option(name: str) -> str:
    """Return a field's name as an option of the command line."""
    return f"--{name.replace('_', '-')}"


def check(arguments: argparse.Namespace) -> None:
    """Raise ValueError with a sentence for an option that is not possible."""
    given = {option(name): value for name, value in vars(arguments).items()}
    refuse_outside(given, {option(name): bounds for name, bounds in BOUNDS.items()})
    for step in arguments.snapshots:
        refuse_outside({"--snapshots": step}, {"--snapshots": (0, MOST_STEPS)})
    for name, allowed in ALLOWED.items():
        if getattr(arguments, name) not in allowed:
            raise ValueError(f"{option(name)} is one of {', '.join(allowed)}.")
    size = arguments.vocabulary
    refuse_too_large(TransformerConfig(size, size, **shape_of(arguments)), arguments.batch_tokens)


def shape_of(arguments: argparse.Namespace) -> dict[str, int | float | str | bool]:
    return {name: getattr(arguments, name) for name in SHAPE}


def settings_of(arguments: argparse.Namespace) -> Settings:
    return Settings(**{name: getattr(arguments, name) for name in asdict(Settings())})


def refuse_too_large(config: TransformerConfig, batch_tokens: int) -> None:
    """Raise ValueError if this computer's memory cannot hold a training, without taking any."""
    with torch.device("meta"):
        weights = sum(weight.numel() for weight in Transformer(config).parameters())
    needed = OF_A_WEIGHT * weights + OF_A_LOGIT * batch_tokens * config.target_vocab_size
    if needed > (most := memory()):
        raise ValueError(
            f"Training {weights:,} parameters with these options takes {needed / 1e9:,.0f} GB of "
            f"memory, of which there are {most / 1e9:,.0f} GB: choose smaller ones."
        )


def memory() -> float:
    """Return the bytes of memory that a training can have; infinity if unknown."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_properties(0).total_memory
    return memory_of_system() or math.inf


def refuse_outside(values: Mapping, bounds: Mapping[str, tuple[float, float]]) -> None:
    """Raise ValueError for any value outside its (inclusive) bounds."""
    for name, (least, most) in bounds.items():
        if not least <= values[name] <= most:  # nor NaN
            raise ValueError(f"{name} has to be from {least} to {most}.")
