"""A model in a folder: weights.safetensors, config.json, tokenizer.json."""

import csv
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from headlight.model.shape import checked_config
from headlight.model.tokenizer import Tokenizer
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.trace import Side
from headlight.model.transformer.transformer import Transformer

WEIGHTS, CONFIG, TOKENIZER = "weights.safetensors", "config.json", "tokenizer.json"
# a file, which may be missing: the number of training pairs with a token at each position
POSITION_COUNTS = "reach.csv"
# The functions of torch.nn.init and methods of tensors that fill a tensor with random numbers.
DRAWING = {"normal_", "uniform_", "kaiming_uniform_"}


def save_checkpoint(
    folder: Path, model: Transformer, tokenizer: Tokenizer, dtype: torch.dtype = torch.float16
) -> None:
    """Write a model to a folder, its weights rounded to `dtype`."""
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / CONFIG) as path:
        path.write_text(json.dumps(asdict(model.config), indent=2) + "\n", encoding="utf-8")
    save_tokenizer(folder / TOKENIZER, tokenizer)
    weights = {name: parameter.detach().to(dtype) for name, parameter in model.named_parameters()}
    save_tensors(folder / WEIGHTS, weights)


def pack_checkpoint(model: Transformer, tokenizer: Tokenizer) -> bytes:
    """Return a zip file of the folder that `save_checkpoint` writes, with weights in float32."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(packed, "w") as archive:
        save_checkpoint(Path(folder), model, tokenizer, torch.float32)
        for name in (WEIGHTS, CONFIG, TOKENIZER):
            # ZipInfo sets a fixed date, so that the same model always gives the same bytes.
            entry = zipfile.ZipInfo(name)
            archive.writestr(entry, (Path(folder) / name).read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def load_config(path: Path) -> TransformerConfig:
    """Read the config of a checkpoint; raises ValueError for an unknown or missing entry."""
    entries = json.loads(path.read_text(encoding="utf-8"))
    unknown = set(entries) - {field.name for field in fields(TransformerConfig)}
    if unknown:
        raise ValueError(f"{path.name} has unknown entries: {', '.join(sorted(unknown))}.")
    try:
        return checked_config(**entries)
    except TypeError as error:
        raise ValueError(f"{path.name} lacks an entry: {error}.") from error


def load_checkpoint(folder: Path) -> tuple[Transformer, Tokenizer]:
    """Read a model from a folder, as float32 and ready for inference.

    Raises FileNotFoundError if a file is missing, and ValueError if files do not fit each other.
    """
    for name in (WEIGHTS, CONFIG, TOKENIZER):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} has no {name}, so it is not a checkpoint folder.")
    config = load_config(folder / CONFIG)
    tokenizer = Tokenizer.from_file(folder / TOKENIZER)
    try:
        weights = load_file(folder / WEIGHTS)
    except SafetensorError as error:
        raise ValueError(f"{folder / WEIGHTS} is not a safetensors file: {error}.") from error
    return assemble(config, tokenizer, weights), tokenizer


class NothingDrawn(TorchFunctionMode):
    """A context in which this thread's new weights stay uninitialized, which saves time.

    Random numbers would be wasted, because the weights from a file replace them.
    """

    def __torch_function__(
        self, function: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        """Call a function of torch; a function in DRAWING is skipped and its tensor returned."""
        kwargs = kwargs or {}
        if function.__name__ in DRAWING:
            return args[0] if args else kwargs["tensor"]
        return function(*args, **kwargs)


def assemble(
    config: TransformerConfig, tokenizer: Tokenizer, weights: dict[str, Tensor]
) -> Transformer:
    """Return a model with this config and these weights, as float32 and ready for inference.

    Raises ValueError if config, tokenizer and weights do not fit each other.
    """
    refuse_other_vocabulary(config, tokenizer)
    with NothingDrawn():
        model = Transformer(config)
    copy_weights(model, weights)
    return model.eval()


def refuse_other_vocabulary(config: TransformerConfig, tokenizer: Tokenizer) -> None:
    """Raise ValueError if a config and a tokenizer differ in their number of tokens."""
    for size in (config.source_vocab_size, config.target_vocab_size):
        if tokenizer.vocab_size != size:
            raise ValueError(
                f"{TOKENIZER} has {tokenizer.vocab_size} tokens, but {CONFIG} asks for {size}."
            )


def refuse_other_shapes(model: nn.Module, shapes: Mapping[str, Sequence[int]]) -> None:
    """Raise ValueError unless `shapes` names all of the model's parameters with their shapes."""
    parameters = dict(model.named_parameters())
    if missing := sorted(parameters.keys() - shapes.keys()):
        raise ValueError(f"The weights lack {len(missing)} tensors, such as {missing[0]}.")
    if unknown := sorted(shapes.keys() - parameters.keys()):
        raise ValueError(
            f"The weights have {len(unknown)} unknown tensors, such as {unknown[0][:80]}."
        )
    for name, parameter in parameters.items():
        if tuple(parameter.shape) != tuple(shapes[name]):
            raise ValueError(
                f"{name} has the shape {str(tuple(shapes[name]))[:80]}, "
                f"but the config asks for {tuple(parameter.shape)}."
            )


def copy_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copy named weights into a model; raises ValueError if a name or a shape does not fit."""
    refuse_other_shapes(model, {name: weight.shape for name, weight in weights.items()})
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])


def save_tokenizer(path: Path, tokenizer: Tokenizer) -> None:
    """Write a tokenizer to a file; an old file is replaced once the new one is complete."""
    with replacing(path) as unfinished:
        tokenizer.save(unfinished)


def save_tensors(
    path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None
) -> None:
    """Write tensors to a file; an old file is replaced once the new one is complete."""
    tensors = {name: tensor.contiguous().cpu() for name, tensor in tensors.items()}
    with replacing(path) as unfinished:
        save_file(tensors, unfinished, metadata)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file to write to, which replaces `path` once it is completely on disk.

    Raises OSError with a sentence, and leaves `path` as it was, if it cannot be written.
    """
    unfinished = path.with_name(path.name + ".part")
    try:
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except Exception as error:  # an OSError, or a library's error that wraps an OSError
        why = getattr(error, "strerror", None) or str(error)
        raise OSError(f"{path} could not be written, so it is unchanged: {why}.") from error
    finally:
        unfinished.unlink(missing_ok=True)


def load_position_counts(path: Path) -> dict[Side, list[int]]:
    """Read how many training pairs have a token at each position, for each side."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {side: [int(row[side]) for row in rows] for side in ("encoder", "decoder")}
