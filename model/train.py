"""Train a Transformer on sentence pairs: python -m model.train --pairs FILE --valid FILE."""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from tqdm import tqdm

from model.checkpoint import save_checkpoint
from model.config import TransformerConfig
from model.device import best_device
from model.evaluate import score
from model.tokenizer import Tokenizer
from model.training.data import (
    bucketed_batches,
    bucketed_pairs,
    collate,
    encode_pairs,
    read_pairs,
)
from model.training.loop import (
    OPTIMIZERS,
    PRECISIONS,
    Place,
    Settings,
    learning_rate,
    load_training,
    make_optimizer,
    save_training,
    train,
    validation_loss,
)
from model.transformer import Transformer

LOG_COLUMNS = (
    "step", "epoch", "train_loss", "valid_loss", "bleu", "chrf", "learning_rate", "seconds",
)  # fmt: skip


class Log:
    """A CSV with one row each time the model is scored."""

    def __init__(self, path: Path, goes_on_at: int) -> None:
        self.path = path
        self.rows: list[dict] = []
        if goes_on_at and path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                self.rows = [row for row in csv.DictReader(file) if int(row["step"]) <= goes_on_at]
        self.seconds_before = float(self.rows[-1]["seconds"]) if self.rows else 0.0
        self.started = time.monotonic()

    def write(self, **values: float) -> None:
        """Add a row, in place of an earlier one of the same step; losses in nats a token."""
        values["seconds"] = round(self.seconds_before + time.monotonic() - self.started)
        self.rows = [row for row in self.rows if int(row["step"]) != values["step"]] + [values]
        with self.path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, LOG_COLUMNS)
            writer.writeheader()
            writer.writerows(self.rows)


def run(arguments: argparse.Namespace, shape: dict, settings: Settings) -> None:
    """Train as the command line says, writing checkpoints, snapshots and the log to a folder.

    Raises ValueError if the folder and `--resume` do not fit.
    """
    folder: Path = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / "training.safetensors"
    if arguments.resume and not state.exists():
        raise ValueError(f"{folder} has no training to go on with; leave --resume out to begin.")
    if state.exists() and not arguments.resume:
        raise ValueError(f"{folder} holds a training; add --resume, or choose another --output.")

    torch.manual_seed(settings.seed)
    pairs, valid_pairs = read_pairs(arguments.pairs), read_pairs(arguments.valid)
    if arguments.resume or arguments.tokenizer:
        tokenizer = Tokenizer.from_file(
            folder / "tokenizer.json" if arguments.resume else arguments.tokenizer
        )
    else:
        texts = (text for pair in pairs for text in pair)
        tokenizer = Tokenizer.train_byte_pairs(texts, arguments.vocabulary)
    tokenizer.save(folder / "tokenizer.json")
    config = TransformerConfig(tokenizer.vocab_size, tokenizer.vocab_size, **shape)
    model = Transformer(config).to(best_device())
    optimizer = make_optimizer(model, settings.optimizer)
    place = load_training(state, model, optimizer, settings) if arguments.resume else Place()
    encoded = encode_pairs(pairs, tokenizer, config.max_positions)
    valid_encoded = encode_pairs(valid_pairs, tokenizer, config.max_positions)
    valid_batches = list(bucketed_batches(valid_encoded, settings.batch_tokens))
    log = Log(folder / "log.csv", goes_on_at=place.step)
    if place.step == 0 and 0 in arguments.snapshots:
        save_checkpoint(folder / "snapshots" / "step-000000", model, tokenizer)

    bar = tqdm(total=settings.steps, initial=place.step, unit="step", smoothing=0.02)

    def score_and_save() -> None:
        valid_loss = validation_loss(model, valid_batches)
        scores = score(model, tokenizer, valid_pairs)
        log.write(
            step=place.step,
            epoch=place.epoch,
            train_loss=round(place.loss, 4),
            valid_loss=round(valid_loss, 4),
            bleu=round(scores.bleu, 2),
            chrf=round(scores.chrf, 2),
            learning_rate=learning_rate(place.step, config.d_model, settings),
        )
        bar.write(f"step {place.step}: valid loss {valid_loss:.3f}, BLEU {scores.bleu:.1f}")
        save_checkpoint(folder, model, tokenizer)
        save_training(state, model, optimizer, place, settings)

    while place.step < settings.steps:
        shuffle = settings.seed * 1_000 + place.epoch
        batches = bucketed_pairs(encoded, settings.batch_tokens, shuffle)
        if place.batch >= len(batches):  # it goes on with other pairs, which are fewer
            place.epoch, place.batch = place.epoch + 1, 0
            continue
        left = map(collate, batches[place.batch :])
        for step in train(model, optimizer, left, settings, place.step + 1):
            place.step, place.batch = step.number, place.batch + 1
            place.loss = 0.99 * (place.loss or step.loss) + 0.01 * step.loss
            bar.update()
            bar.set_postfix(loss=f"{place.loss:.3f}", epoch=place.epoch, refresh=False)
            if step.number in arguments.snapshots:
                name = f"step-{step.number:06d}"
                save_checkpoint(folder / "snapshots" / name, model, tokenizer)
            ends = place.batch == len(batches) or step.number == settings.steps
            if arguments.score_every and step.number % arguments.score_every == 0 and not ends:
                score_and_save()
            # The last checkpoint is written below: before scoring, a resume would skip the scores.
            elif step.number % arguments.checkpoint_every == 0 and step.number < settings.steps:
                save_training(state, model, optimizer, place, settings)
        if place.batch == len(batches):
            place.epoch, place.batch = place.epoch + 1, 0
        score_and_save()
    bar.close()


def add_dataclass_options(
    parser: argparse.ArgumentParser, defaults: object, names: Sequence[str]
) -> None:
    """One command-line option for each named field of a dataclass instance."""
    for name in names:
        default = getattr(defaults, name)
        option, words = f"--{name.replace('_', '-')}", f"({default})"
        if isinstance(default, bool):
            action = argparse.BooleanOptionalAction
            parser.add_argument(option, action=action, default=default, help=words)
        else:
            parser.add_argument(option, type=type(default), default=default, help=words)


SHAPE_OPTIONS = (
    "d_model", "heads", "encoder_layers", "decoder_layers", "d_ff", "dropout", "norm",
    "activation", "positions", "tie_embeddings", "look_ahead_mask",
)  # fmt: skip


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(prog="python -m model.train", description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True, help="source<TAB>target, may be .gz")
    parser.add_argument("--valid", type=Path, required=True, help="pairs to score each epoch on")
    parser.add_argument("--output", type=Path, default=Path("runs/en-fr"), help="(runs/en-fr)")
    parser.add_argument("--resume", action="store_true", help="go on with the training in --output")
    parser.add_argument("--vocabulary", type=int, default=8_000, help="(8000)")
    parser.add_argument("--tokenizer", type=Path, help="use this one in place of learning one")
    parser.add_argument(
        "--score-every", type=int, default=0, metavar="STEPS", help="(only after each epoch)"
    )
    parser.add_argument("--checkpoint-every", type=int, default=200, metavar="STEPS", help="(200)")
    parser.add_argument("--snapshots", type=int, nargs="*", default=[], metavar="STEP")
    add_dataclass_options(parser, TransformerConfig(1, 1), SHAPE_OPTIONS)
    add_dataclass_options(parser, Settings(), tuple(asdict(Settings())))
    arguments = parser.parse_args()
    if arguments.precision not in PRECISIONS:
        parser.error(f"--precision is one of {', '.join(PRECISIONS)}.")
    if arguments.optimizer not in OPTIMIZERS:
        parser.error(f"--optimizer is one of {', '.join(OPTIMIZERS)}.")
    settings = Settings(**{name: getattr(arguments, name) for name in asdict(Settings())})
    shape = {name: getattr(arguments, name) for name in SHAPE_OPTIONS}
    try:
        run(arguments, shape, settings)
    except (OSError, ValueError) as error:
        raise SystemExit(f"{parser.prog}: {error}") from error


if __name__ == "__main__":
    main()
