"""A training on disk: everything that it needs to resume exactly, and its log, a CSV file."""

import csv
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

from headlight.model.checkpoint import WEIGHTS, copy_weights, replacing, save_tensors
from headlight.model.training.loop import Settings
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.transformer import Transformer

STATE = "training.safetensors"
OPTIMIZER_STATE = ("step", "exp_avg", "exp_avg_sq", "momentum")  # kept of a parameter, if there
MAY_CHANGE = ("steps", "cooldown")  # of a training that resumes

Value = int | float | str | bool | None
COLUMNS = (
    "step", "epoch", "train_loss", "valid_loss", "bleu", "chrf", "learning_rate", "seconds",
)  # fmt: skip


@dataclass
class Progress:
    """How far a training has come: finished steps, epochs, and batches of this epoch.

    It also has the running mean of the loss in nats a token.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    loss: float | None = None

    def __post_init__(self) -> None:
        counts = (self.step, self.epoch, self.batch)
        if not all(type(count) is int and count >= 0 for count in counts):
            raise ValueError("A place in a training has counts from 0.")
        if self.loss is not None and not math.isfinite(self.loss):
            raise ValueError("A place in a training has a loss that is a number.")


@dataclass(frozen=True)
class Saved:
    """The contents of a training's file."""

    place: Progress
    options: dict[str, Value]
    begun_with: dict[str, Value]
    tensors: dict[str, Tensor] = field(repr=False)


def chosen(config: TransformerConfig, settings: Settings) -> dict[str, Value]:
    """Return all options of a training, by name."""
    return {**asdict(config), **asdict(settings)}


def fingerprint(pairs: Sequence[tuple[str, str]]) -> str:
    """Return a fingerprint of these pairs in this order."""
    digest = sha256()
    for source, target in pairs:
        digest.update(f"{source}\t{target}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def save_training(
    path: Path,
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    settings: Settings,
    begun_with: Mapping[str, Value],
) -> None:
    """Write everything that a training needs to resume exactly here, in one file."""
    tensors = {"random.cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    for name, parameter in model.named_parameters():
        tensors[f"model.{name}"] = parameter.detach()
        for key, value in optimizer.state[parameter].items():
            tensors[f"optimizer.{key}.{name}"] = value
    metadata = {
        "place": asdict(progress),
        "settings": chosen(model.config, settings),
        "begun_with": dict(begun_with),
    }
    save_tensors(path, tensors, {name: json.dumps(entry) for name, entry in metadata.items()})


def open_folder(folder: Path, resume: bool) -> Saved | None:
    """Return the training to resume in a folder, or make the folder of a new one.

    Raises ValueError if there is no training to resume, or if a new one would replace files.
    """
    state = folder / STATE
    if resume:
        if not state.exists():
            raise ValueError(
                f"{folder} has no training to go on with; leave --resume out to begin."
            )
        return read_training(state)
    if state.exists():
        raise ValueError(f"{folder} holds a training; add --resume, or choose another --output.")
    if (folder / WEIGHTS).exists():
        raise ValueError(f"{folder} holds a model; choose another --output to keep it.")
    folder.mkdir(parents=True, exist_ok=True)
    return None


def read_training(path: Path) -> Saved:
    """Return the training that `save_training` wrote; raises ValueError for any other file."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = {name: json.loads(entry) for name, entry in file.metadata().items()}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        progress = Progress(**metadata["place"])
        options, begun_with = metadata["settings"], metadata["begun_with"]
        saved = Saved(progress, {**options}, {**begun_with}, tensors)
        floats = (tensor for tensor in tensors.values() if tensor.is_floating_point())
        if not ("random.cpu" in tensors and all(tensor.isfinite().all() for tensor in floats)):
            raise ValueError("It has numbers that are not finite, or lacks some.")
    except Exception as error:  # the library raises errors of many kinds
        raise ValueError(
            f"{path} is damaged, or not of a training: put back a copy of it, or begin anew with "
            "another --output."
        ) from error
    return saved


def refuse_other_options(folder: Path, saved: Saved, now: Mapping[str, Value]) -> None:
    """Raise ValueError if a training resumes with other options, which are named.

    It may resume for more steps; with any other change the result would be neither the one training
    nor the other.
    """
    before = {**saved.options, **saved.begun_with}
    changed = [
        option(name, before[name])
        for name, value in now.items()
        if name not in MAY_CHANGE and before.get(name, value) != value
    ]
    if changed:
        raise ValueError(f"To go on with {folder}, start with {' '.join(changed)}.")


def option(name: str, value: Value) -> str:
    """Return an option of the command line with its value."""
    words = name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{words}" if value else f"--no-{words}"
    return f"--{words} {value}"


def refuse_other_files(folder: Path, saved: Saved, files: Mapping[str, tuple[str, Path]]) -> None:
    """Raise ValueError if a training resumes with other pairs, or with another vocabulary.

    `files` has the fingerprint and the path of each, by the name under which it was saved.
    """
    for name, (digest, path) in files.items():
        if saved.begun_with.get(name) != digest:
            raise ValueError(f"To go on with {folder}, use the {name} it began with, not {path}.")


def put_back(
    path: Path, saved: Saved, model: Transformer, optimizer: torch.optim.Optimizer
) -> None:
    """Restore a model, its optimizer and the random state from where they were saved.

    Raises ValueError if the tensors are not those of this model.
    """
    tensors = saved.tensors
    copy_weights(model, {name[6:]: t for name, t in tensors.items() if name.startswith("model.")})
    for name, parameter in model.named_parameters():
        keys = {key: f"optimizer.{key}.{name}" for key in OPTIMIZER_STATE}
        state = {key: tensors[entry] for key, entry in keys.items() if entry in tensors}
        if any(tensor.shape not in (parameter.shape, ()) for tensor in state.values()):
            raise ValueError(f"{path} has the state of an optimizer for another model.")
        optimizer.state[parameter] = {key: value.to(model.device) for key, value in state.items()}
    try:
        torch.set_rng_state(tensors["random.cpu"])
        if torch.cuda.is_available() and "random.cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random.cuda"])
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"{path} has no state of random numbers.") from error


class Log:
    """The rows of earlier steps when a training resumes, and its new rows."""

    def __init__(self, path: Path, goes_on_at: int) -> None:
        self.path = path
        rows = read_rows(path) if goes_on_at else []
        self.rows: list[dict] = [row for row in rows if int(row["step"]) <= goes_on_at]
        self.seconds_before = float(self.rows[-1]["seconds"]) if self.rows else 0.0
        self.started = time.monotonic()

    def write(self, **values: float) -> None:
        """Add a row, or replace the row of the same step; losses are in nats a token."""
        values["seconds"] = round(self.seconds_before + time.monotonic() - self.started)
        self.rows = [row for row in self.rows if int(row["step"]) != values["step"]] + [values]
        with replacing(self.path) as path, path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(self.rows)


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the complete rows of a log; none if there is no log."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.endswith("\n") and "\0" not in line]
        return [row for row in csv.DictReader(lines) if is_whole(row)]


def is_whole(row: dict[str, str]) -> bool:
    """Return whether a row has a number in every column, and nothing else."""
    if row.keys() != set(COLUMNS):
        return False
    try:
        numbers = [float(row[name]) for name in COLUMNS]
    except (TypeError, ValueError):
        return False
    return all(map(math.isfinite, numbers)) and row["step"].isdecimal()
