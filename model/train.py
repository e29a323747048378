"""Train a Transformer on sentence pairs: python -m model.train --pairs FILE --valid FILE."""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import tqdm

from model.checkpoint import copy_weights, save_checkpoint, save_tensors
from model.config import TransformerConfig
from model.data import Batch, EncodedPair, bucketed_batches, encode_pairs, read_pairs
from model.evaluate import score
from model.tokenizer import Tokenizer
from model.transformer import Transformer

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class Settings:
    """How a model is trained; `steps` and `cooldown` are counted in optimizer steps."""

    steps: int = 12_000
    warmup: int = 2_000
    cooldown: int = 4_000
    rate: float = 1.0  # times the paper's schedule
    label_smoothing: float = 0.1
    clip: float = 1.0  # largest norm of the gradient
    batch_tokens: int = 3_072  # padded tokens of a batch, on either side
    seed: int = 0
    precision: str = "float32"


@dataclass(frozen=True)
class Step:
    """One optimizer step: its number from 1, its loss in nats a token, its learning rate."""

    number: int
    loss: float
    learning_rate: float


def learning_rate(step: int, d_model: int, settings: Settings) -> float:
    """The warm-up schedule, with a straight line to zero over the last `cooldown` steps.

    Source: "Attention Is All You Need", section 5.3; the line to zero is ours.
    """
    warmed = settings.rate * d_model**-0.5 * min(step**-0.5, step * settings.warmup**-1.5)
    return warmed * min(1.0, (settings.steps - step + 1) / max(1, settings.cooldown))


def make_optimizer(model: nn.Module) -> torch.optim.Adam:
    """Adam as in section 5.3 of the paper; the schedule sets its learning rate at every step."""
    return torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)


def batch_loss(model: Transformer, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
    """Cross-entropy of the expected tokens in nats a token, padding left out."""
    logits = model(batch.source_ids, batch.target_ids)  # (B, T, V)
    expected = batch.next_ids.flatten()
    return F.cross_entropy(
        logits.flatten(0, 1).float(),
        expected,
        ignore_index=model.config.pad_id,
        label_smoothing=label_smoothing,
    )


def train(
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[Batch],
    settings: Settings,
    first_step: int = 1,
) -> Iterator[Step]:
    """Teacher-forced steps over `batches`, until they or `settings.steps` end.

    The caller may stop between two steps, and look at or save the model there.
    """
    device = model.device
    precision = PRECISIONS[settings.precision]
    numbers = range(first_step, settings.steps + 1)
    for number, batch in zip(numbers, batches, strict=False):
        model.train()
        rate = learning_rate(number, model.config.d_model, settings)
        for group in optimizer.param_groups:
            group["lr"] = rate
        batch = Batch(*(ids.to(device) for ids in vars(batch).values()))
        enabled = precision != torch.float32
        with torch.autocast(device.type, precision, enabled=enabled):
            loss = batch_loss(model, batch, settings.label_smoothing)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        optimizer.step()
        yield Step(number, loss.item(), rate)


@torch.inference_mode()
def validation_loss(model: Transformer, batches: Iterable[Batch]) -> float:
    """Mean cross-entropy in nats a token, without smoothing or dropout."""
    model.eval()
    device = model.device
    total, count = 0.0, 0
    for batch in batches:
        batch = Batch(*(ids.to(device) for ids in vars(batch).values()))
        tokens = int((batch.next_ids != model.config.pad_id).sum())
        total += batch_loss(model, batch).item() * tokens
        count += tokens
    return total / count


def epochs(
    pairs: Sequence[EncodedPair], settings: Settings, epoch: int, batch: int
) -> Iterator[tuple[int, int, Batch]]:
    """Batches for ever, from the given place on: epoch from 0, number in the epoch, batch."""
    for number in itertools.count(epoch):
        shuffled = bucketed_batches(pairs, settings.batch_tokens, settings.seed * 1_000 + number)
        for index, drawn in enumerate(shuffled):
            if (number, index) >= (epoch, batch):
                yield number, index, drawn


@dataclass
class Place:
    """How far a training has come: steps done, and the next batch's epoch and number."""

    step: int = 0
    epoch: int = 0
    batch: int = 0


def save_training(
    path: Path, model: nn.Module, optimizer: torch.optim.Adam, place: Place, settings: Settings
) -> None:
    """Write all that a training needs to go on exactly here, in one file."""
    tensors = {"random.cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    for name, parameter in model.named_parameters():
        tensors[f"model.{name}"] = parameter.detach()
        for key, value in optimizer.state[parameter].items():
            tensors[f"optimizer.{key}.{name}"] = value
    metadata = {"place": json.dumps(asdict(place)), "settings": json.dumps(asdict(settings))}
    save_tensors(path, tensors, metadata)


def load_training(
    path: Path, model: nn.Module, optimizer: torch.optim.Adam, settings: Settings
) -> Place:
    """Put a model, its optimizer and the random state back to where `save_training` left them.

    `steps` and `cooldown` may differ from the interrupted training's; any other setting raises
    ValueError, because the result would be neither the one training nor the other.
    """
    device = model.device
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    saved = json.loads(metadata["settings"])
    changed = [
        f"--{name.replace('_', '-')} {saved[name]}"
        for name, value in asdict(settings).items()
        if saved[name] != value and name not in ("steps", "cooldown")
    ]
    if changed:
        raise ValueError(f"To go on with {path.parent}, start with {' '.join(changed)}.")
    copy_weights(model, {name[6:]: t for name, t in tensors.items() if name.startswith("model.")})
    for name, parameter in model.named_parameters():
        optimizer.state[parameter] = {
            key: tensors[f"optimizer.{key}.{name}"].to(device)
            for key in ("step", "exp_avg", "exp_avg_sq")
        }
    torch.set_rng_state(tensors["random.cpu"])
    if torch.cuda.is_available() and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"])
    return Place(**json.loads(metadata["place"]))


LOG_COLUMNS = (
    "step", "epoch", "train_loss", "valid_loss", "bleu", "chrf", "learning_rate", "seconds",
)  # fmt: skip


class Log:
    """A CSV with one row each time the model is scored."""

    def __init__(self, path: Path, goes_on_at: int) -> None:
        self.path = path
        rows = []
        if goes_on_at and path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                rows = [row for row in csv.DictReader(file) if int(row["step"]) <= goes_on_at]
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, LOG_COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
        self.seconds_before = float(rows[-1]["seconds"]) if rows else 0.0
        self.started = time.monotonic()

    def write(self, **values: float) -> None:
        """Append one row; losses in nats a token, time in seconds of training so far."""
        values["seconds"] = round(self.seconds_before + time.monotonic() - self.started)
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, LOG_COLUMNS).writerow(values)


def run(arguments: argparse.Namespace, config_options: dict, settings: Settings) -> None:
    """Train as the command line says, writing checkpoints, snapshots and the log to a folder."""
    folder: Path = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / "training.safetensors"
    if arguments.resume and not state.exists():
        raise SystemExit(f"{folder} has no training to go on with; leave --resume out to begin.")
    if state.exists() and not arguments.resume:
        raise SystemExit(f"{folder} holds a training; add --resume, or choose another --output.")

    torch.manual_seed(settings.seed)
    train_pairs, valid_pairs = read_pairs(arguments.pairs), read_pairs(arguments.valid)
    if arguments.resume:
        tokenizer = Tokenizer.from_file(folder / "tokenizer.json")
    else:
        texts = (text for pair in train_pairs for text in pair)
        tokenizer = Tokenizer.train_byte_pairs(texts, arguments.vocabulary)
        tokenizer.save(folder / "tokenizer.json")
    config = TransformerConfig(tokenizer.vocab_size, tokenizer.vocab_size, **config_options)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Transformer(config).to(device)
    optimizer = make_optimizer(model)
    place = load_training(state, model, optimizer, settings) if arguments.resume else Place()
    encoded = encode_pairs(train_pairs, tokenizer, config.max_positions)
    valid_encoded = encode_pairs(valid_pairs, tokenizer, config.max_positions)
    log = Log(folder / "log.csv", place.step)

    def evaluate(train_loss: float, rate: float) -> str:
        valid = validation_loss(model, bucketed_batches(valid_encoded, settings.batch_tokens))
        scores = score(model, tokenizer, valid_pairs)
        log.write(
            step=place.step,
            epoch=place.epoch,
            train_loss=round(train_loss, 4),
            valid_loss=round(valid, 4),
            bleu=round(scores.bleu, 2),
            chrf=round(scores.chrf, 2),
            learning_rate=round(rate, 8),
        )
        return f"step {place.step}: valid loss {valid:.3f}, BLEU {scores.bleu:.1f}"

    # The epoch generator runs one batch ahead of nothing: each step takes exactly one batch.
    stream = epochs(encoded, settings, place.epoch, place.batch)
    places: list[tuple[int, int]] = []

    def batches() -> Iterator[Batch]:
        for epoch, index, batch in stream:
            places.append((epoch, index))
            yield batch

    if not place.step and 0 in arguments.snapshots:
        save_checkpoint(folder / "snapshots" / "step-000000", model, tokenizer)
    recent = math.nan
    bar = tqdm(total=settings.steps, initial=place.step, unit="step", smoothing=0.02)
    for step in train(model, optimizer, batches(), settings, place.step + 1):
        epoch, index = places.pop()
        new_epoch = epoch > place.epoch
        place.step, place.epoch, place.batch = step.number, epoch, index + 1
        recent = step.loss if math.isnan(recent) else 0.99 * recent + 0.01 * step.loss
        bar.update()
        bar.set_postfix(loss=f"{recent:.3f}", epoch=epoch, refresh=False)
        if step.number in arguments.snapshots:
            name = f"step-{step.number:06d}"
            save_checkpoint(folder / "snapshots" / name, model, tokenizer)
        if new_epoch or step.number == settings.steps:
            bar.write(evaluate(recent, step.learning_rate))
            save_checkpoint(folder, model, tokenizer)
        if step.number % arguments.checkpoint_every == 0 or step.number == settings.steps:
            save_training(state, model, optimizer, place, settings)
    bar.close()


def add_dataclass_options(
    parser: argparse.ArgumentParser, defaults: object, names: Sequence[str]
) -> None:
    """One command-line option for each named field of a dataclass instance."""
    for name in names:
        default = getattr(defaults, name)
        parser.add_argument(
            f"--{name.replace('_', '-')}", type=type(default), default=default, help=f"({default})"
        )


SHAPE_OPTIONS = (
    "d_model", "heads", "encoder_layers", "decoder_layers", "d_ff", "dropout", "norm",
    "activation", "positions",
)  # fmt: skip


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(prog="python -m model.train", description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True, help="source<TAB>target, may be .gz")
    parser.add_argument("--valid", type=Path, required=True, help="pairs to score each epoch on")
    parser.add_argument("--output", type=Path, default=Path("runs/en-fr"), help="(runs/en-fr)")
    parser.add_argument("--resume", action="store_true", help="go on with the training in --output")
    parser.add_argument("--vocabulary", type=int, default=8_000, help="(8000)")
    parser.add_argument("--checkpoint-every", type=int, default=200, metavar="STEPS", help="(200)")
    parser.add_argument("--snapshots", type=int, nargs="*", default=[], metavar="STEP")
    add_dataclass_options(parser, TransformerConfig(1, 1), SHAPE_OPTIONS)
    add_dataclass_options(parser, Settings(), tuple(asdict(Settings())))
    arguments = parser.parse_args()
    if arguments.precision not in PRECISIONS:
        parser.error(f"--precision is one of {', '.join(PRECISIONS)}.")
    settings = Settings(**{name: getattr(arguments, name) for name in asdict(Settings())})
    run(arguments, {name: getattr(arguments, name) for name in SHAPE_OPTIONS}, settings)


if __name__ == "__main__":
    main()
