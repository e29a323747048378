"""Train a Transformer on sentence pairs: python -m headlight.model.train --pairs FILE.

From top to bottom: options, data, evaluation, checkpoint, training. A step, with its loss, its
learning rate and the optimizers, is in `training/step.py`.
"""

import argparse
import csv
import hashlib
import itertools
import json
import math
import os
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor, distributed
from tqdm import tqdm

from headlight.model import checkpoint
from headlight.model.checkpoint import TOKENIZER, WEIGHTS, save_checkpoint
from headlight.model.evaluate import score
from headlight.model.memory_layout import best_device
from headlight.model.shape import CHOICES, checked_config
from headlight.model.tokenizer import Tokenizer
from headlight.model.training import data
from headlight.model.training.data import Batch, EncodedPair, Pairs
from headlight.model.training.step import (
    DIVERGED,
    Optimizers,
    Settings,
    batch_loss,
    learning_rate,
    make_optimizers,
    processes,
    train_step,
)
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.transformer import Transformer

STATE = "training.safetensors"  # the file with everything that a training needs to resume
SHAPE = (
    "d_model", "heads", "encoder_layers", "decoder_layers", "d_ff", "dropout", "norm",
    "activation", "positions", "tie_embeddings", "look_ahead_mask",
)  # fmt: skip
SETTINGS = tuple(asdict(Settings()))
CHOSEN = {**CHOICES, "precision": ("float32", "bfloat16"), "optimizer": ("adam", "muon")}
MAY_CHANGE = ("steps", "cooldown")  # the options that may differ when a training resumes


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with all options of the model and of its training."""
    parser = argparse.ArgumentParser(
        prog="python -m headlight.model.train", description="Train a Transformer on sentence pairs."
    )
    parser.add_argument("--pairs", type=Path, required=True, help="source<TAB>target, may be .gz")
    parser.add_argument("--valid", type=Path, required=True, help="pairs to score after each epoch")
    parser.add_argument("--output", type=Path, default=Path("runs/en-fr"), help="(runs/en-fr)")
    parser.add_argument("--resume", action="store_true", help="resume the training in --output")
    parser.add_argument("--vocabulary", type=int, default=8_000, help="(8000)")
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer to use; else one is learned")
    parser.add_argument(
        "--begin-with", type=Path, metavar="FOLDER", help="begin with a checkpoint's weights"
    )
    parser.add_argument("--score-every", type=int, metavar="STEPS", help="(only after each epoch)")
    parser.add_argument("--checkpoint-every", type=int, default=200, metavar="STEPS", help="(200)")
    parser.add_argument("--snapshots", type=int, nargs="*", default=[], metavar="STEP")
    for names, defaults in ((SHAPE, TransformerConfig(1, 1)), (SETTINGS, Settings())):
        for name in names:
            default = getattr(defaults, name)
            kind: dict[str, Any] = {"type": type(default), "choices": CHOSEN.get(name)}
            if isinstance(default, bool):
                kind = {"action": argparse.BooleanOptionalAction}
            option = f"--{name.replace('_', '-')}"
            parser.add_argument(option, default=default, help=f"({default})", **kind)
    return parser


def make_tokenizer(options: argparse.Namespace, pairs: Pairs) -> Tokenizer:
    """Return the tokenizer of --tokenizer or of --begin-with, or learn one from the pairs."""
    if options.tokenizer or options.begin_with:
        return Tokenizer.from_file(options.tokenizer or options.begin_with / TOKENIZER)
    return Tokenizer.train_byte_pairs((text for pair in pairs for text in pair), options.vocabulary)


def epochs(
    pairs: Sequence[EncodedPair], settings: Settings
) -> Iterator[tuple[int, bool, list[EncodedPair]]]:
    """Yield batches without end: the epoch, whether it ends with this batch, and the pairs."""
    for epoch in itertools.count():
        shuffle = settings.seed * 1_000 + epoch
        batches = data.bucketed_pairs(pairs, settings.batch_tokens, shuffle)
        for number, batch in enumerate(batches, start=1):
            yield epoch, number == len(batches), batch


def share(pairs: Sequence[EncodedPair]) -> Batch:
    """Return this process's share of a batch; its `weight` is its share of the target tokens."""
    part = pairs[rank() :: processes()]
    here, everywhere = (sum(len(pair.target) + 1 for pair in some) for some in (part, pairs))
    # All processes wait for each other, so one without pairs computes a pair with weight 0.
    return replace(data.collate(part or pairs[:1]), weight=here / everywhere)


def rank() -> int:
    """Return the number of this process, from 0; process 0 writes the files."""
    return distributed.get_rank() if processes() > 1 else 0


def wait() -> None:
    """Wait until all processes have reached this call."""
    if processes() > 1:
        distributed.barrier()


@torch.inference_mode()
def validation_loss(model: Transformer, batches: Iterable[Batch]) -> float:
    """Return the mean cross-entropy in nats per token, without label smoothing and dropout."""
    model.eval()
    total, count = 0.0, 0
    for batch in batches:
        batch = batch.to(model.device)
        tokens = int((batch.next_ids != model.config.pad_id).sum())
        total += batch_loss(model, batch).item() * tokens
        count += tokens
    return total / count


@dataclass
class Progress:
    """How far a training has come."""

    # the options and digests of files that must not change when a training resumes
    origin: dict[str, int | float | str]
    step: int = 0  # the number of finished steps
    loss: float | None = None  # the running mean of the loss
    rows: list[dict[str, float]] = field(default_factory=list)  # the rows of the log


def origin_of(options: argparse.Namespace, **files: Pairs) -> dict[str, int | float | str]:
    """Return the options that a resumed training may not change, and a digest of each file."""
    names = {*SHAPE, *SETTINGS, "vocabulary"}.difference(MAY_CHANGE)
    kept = {name: value for name, value in vars(options).items() if name in names}
    digests = {name: hashlib.sha256(repr(pairs).encode()) for name, pairs in files.items()}
    return kept | {name: digest.hexdigest() for name, digest in digests.items()}


def save_training(
    path: Path, model: Transformer, optimizers: Optimizers, progress: Progress
) -> None:
    """Write weights, the optimizers' states and the progress to one file."""
    tensors = {f"model.{name}": weight.detach() for name, weight in model.named_parameters()}
    for name, state in optimizer_states(model, optimizers).items():
        tensors |= {f"{key}.{name}": value for key, value in state.items()}
    checkpoint.save_tensors(path, tensors, {"progress": json.dumps(asdict(progress))})


def load_training(path: Path, model: Transformer, optimizers: Optimizers, origin: dict) -> Progress:
    """Restore weights and the optimizers' states from a file, and return the progress.

    Ends the program if the training was begun with another `origin`.
    """
    weights, states = dict(model.named_parameters()), optimizer_states(model, optimizers)
    with safe_open(path, framework="pt") as file, torch.no_grad():
        progress = Progress(**json.loads(file.metadata()["progress"]))
        if changed := [name for name, value in origin.items() if progress.origin[name] != value]:
            raise SystemExit(f"{path} was begun with other values of: {', '.join(changed)}.")
        for entry in file.keys():  # noqa: SIM118
            key, name = entry.split(".", 1)
            value = file.get_tensor(entry).to(model.device)
            if key == "model":
                weights[name].copy_(value)
            else:
                states[name][key] = value
    return progress


def optimizer_states(model: Transformer, optimizers: Optimizers) -> dict[str, dict[str, Tensor]]:
    """Return the state that the optimizers keep for each parameter, by the parameter's name."""
    names = {parameter: name for name, parameter in model.named_parameters()}
    return {
        names[parameter]: optimizer.state[parameter]
        for optimizer in optimizers
        for group in optimizer.param_groups
        for parameter in group["params"]
    }


def write_log(path: Path, rows: Sequence[dict[str, float]]) -> None:
    """Write the rows of a log as a CSV file."""
    with checkpoint.replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def train(options: argparse.Namespace) -> None:
    """Train with the options of the command line; write model, snapshots and log to a folder.

    Raises FloatingPointError if the training diverges; the last checkpoint stays.
    """
    folder, is_first = options.output, rank() == 0
    if not options.resume and any((folder / name).exists() for name in (STATE, WEIGHTS)):
        raise SystemExit(f"{folder} has a model: choose another --output, or add --resume.")

    settings = Settings(**{name: getattr(options, name) for name in SETTINGS})
    pairs, valid_pairs = data.read_pairs(options.pairs), data.read_pairs(options.valid)
    if is_first and not options.resume:
        folder.mkdir(parents=True, exist_ok=True)
        checkpoint.save_tokenizer(folder / TOKENIZER, make_tokenizer(options, pairs))
    wait()  # wait until the first process has written the tokenizer
    tokenizer = Tokenizer.from_file(folder / TOKENIZER)
    size, shape = tokenizer.vocab_size, {name: getattr(options, name) for name in SHAPE}
    config = checked_config(size, size, **shape)
    train_ids, valid_ids = (
        data.encode_pairs(some, tokenizer, config.max_positions) for some in (pairs, valid_pairs)
    )
    valid_batches = list(data.bucketed_batches(valid_ids, settings.batch_tokens))

    torch.manual_seed(settings.seed)
    model = Transformer(config).to(best_device())
    if options.begin_with:
        begun, _ = checkpoint.load_checkpoint(options.begin_with)
        checkpoint.copy_weights(model, dict(begun.named_parameters()))
    optimizers = make_optimizers(model, settings.optimizer)
    progress = Progress(origin_of(options, pairs=pairs, valid=valid_pairs))
    if options.resume:
        progress = load_training(folder / STATE, model, optimizers, progress.origin)
    elif is_first and 0 in options.snapshots:
        save_checkpoint(folder / "snapshots/step-000000", model, tokenizer)

    rows, done = progress.rows, progress.step
    began = time.monotonic() - (rows[-1]["seconds"] if rows else 0)
    batches = itertools.islice(epochs(train_ids, settings), done, settings.steps)
    length = {"initial": done, "total": settings.steps, "unit": "step", "smoothing": 0.02}
    bar = tqdm(batches, disable=not is_first, **length)
    for step, (epoch, is_last, batch) in enumerate(bar, start=done + 1):
        # The seed of dropout depends on the step, so that a resumed training draws the same
        # numbers.
        torch.manual_seed(random.Random(f"{settings.seed} {step} {rank()}").getrandbits(63))
        loss = train_step(model, optimizers, share(batch), step, settings)
        if not is_first:
            continue
        progress.step, progress.loss = step, 0.99 * (progress.loss or loss) + 0.01 * loss
        bar.set_postfix(loss=f"{progress.loss:.3f}", epoch=epoch, refresh=False)
        if step in options.snapshots:
            save_checkpoint(folder / f"snapshots/step-{step:06d}", model, tokenizer)
        is_due = options.score_every and step % options.score_every == 0
        if is_scored := is_last or is_due or step == settings.steps:
            valid_loss = validation_loss(model, valid_batches)
            if not math.isfinite(valid_loss):
                raise FloatingPointError(DIVERGED.format(step=step))
            scores = score(model, tokenizer, valid_pairs)
            row = {
                "step": step,
                "epoch": epoch + is_last,  # the number of complete epochs
                "train_loss": round(progress.loss, 4),
                "valid_loss": round(valid_loss, 4),
                "bleu": round(scores.bleu, 2),
                "chrf": round(scores.chrf, 2),
                "learning_rate": learning_rate(step, config.d_model, settings),
                "seconds": round(time.monotonic() - began),
            }
            rows.append(row)
            write_log(folder / "log.csv", rows)
            save_checkpoint(folder, model, tokenizer)
            bar.write(f"step {step}: valid loss {valid_loss:.3f}, BLEU {scores.bleu:.1f}")
        if is_scored or step % options.checkpoint_every == 0:
            save_training(folder / STATE, model, optimizers, progress)
    wait()  # wait until the last files are written: a process that ends early would end the others


def main() -> None:
    """Read the command line, join the other processes if torchrun started several, and train."""
    options = make_parser().parse_args()
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        kind = "nccl" if torch.cuda.is_available() else "gloo"
        if kind == "nccl":
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        # The time limit is a day, because processes wait while the first one scores and saves.
        distributed.init_process_group(kind, timeout=timedelta(days=1))
    train(options)
    if processes() > 1:
        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
