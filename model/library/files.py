"""The files of a model of the transformers library: what they may be, and how they are read.

Only safetensors are read, since other files of weights can hold code, and a model's own code is
never run. Sizes are compared with their bounds before a file is opened.
"""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from model.library.bounds import (
    CONFIG_BYTES,
    HEADER_BYTES,
    MEGABYTE,
    TOKENIZER_BYTES,
    check_config,
    check_header,
    without_switches,
)
from model.library.hub import (
    CONFIG_FILE,
    INDEX_FILE,
    WEIGHTS_FILE,
    LoadingError,
    fetch,
    first_line,
)
from model.safetensors_header import without_repeats

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

VOCABULARIES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "source.spm",
    "sentencepiece.bpe.model",
)
WEIGHTS_SUFFIX = ".safetensors"
# Files by which the library would read other weights than those that stand here.
ELSEWHERE = re.compile(r"adapter_config\.json|shard-\d{5}-model-.*\.safetensors")


def read_config(name: str) -> PreTrainedConfig:
    """Return the config of a model, by name or folder, without fetching its weights.

    Raises LoadingError if it cannot be read, or is beyond the bounds.
    """
    from transformers import AutoConfig

    entries = config_entries(fetch(name, (CONFIG_FILE,)), name)
    try:
        # The library reads a copy, which says nothing but what the model is made of.
        with TemporaryDirectory() as folder:
            copy = json.dumps(without_switches(entries))
            (Path(folder) / CONFIG_FILE).write_text(copy, encoding="utf-8")
            return AutoConfig.from_pretrained(
                folder, trust_remote_code=False, local_files_only=True
            )
    except Exception as error:  # of many kinds, from a wrong type to an unknown model_type
        raise LoadingError(
            f"The transformers library cannot read the {CONFIG_FILE} of {name}, of the type "
            f"{entries['model_type'][:60]!r}: {first_line(error)} Models that bring code of their "
            "own are not loaded."
        ) from error


def config_entries(folder: Path, name: str) -> dict:
    """Return what the config in a folder says, within the bounds; raises LoadingError."""
    path = folder / CONFIG_FILE
    if not is_file(path):
        raise LoadingError(
            f"{name} has no {CONFIG_FILE}, so it is not a model of the transformers library. Give "
            "the folder that save_pretrained wrote, or a name such as "
            "google-bert/bert-base-uncased."
        )
    try:
        entries = json.loads(read_small(path, CONFIG_BYTES))
        known = isinstance(entries["model_type"], str)
    except (ValueError, LookupError, TypeError, RecursionError):
        known = False
    if not known:
        raise LoadingError(
            f"The {CONFIG_FILE} of {name} names no model_type, so it is not one of the "
            "transformers library. Give the folder that save_pretrained wrote."
        )
    try:
        check_config(entries)
    except ValueError as error:
        raise LoadingError(
            f"The {CONFIG_FILE} of {name} is not accepted: {error}. Choose another model."
        ) from error
    return entries


def check_files(folder: Path, name: str) -> int:
    """Return how many numbers the weights in a folder have, once all its files are within bounds.

    Raises LoadingError.
    """
    for path in list_folder(folder):
        if ELSEWHERE.fullmatch(path.name):
            raise LoadingError(
                f"{name} holds {path.name}, which stands for weights that are kept elsewhere. Give "
                "a model whose weights are all in its own folder, as save_pretrained writes them."
            )
        if path.suffix in (".json", ".txt", ".model", ".spm", ".jinja"):
            refuse_large(path, TOKENIZER_BYTES)
    return sum(count_numbers(path) for path in weight_files(folder))


def count_numbers(path: Path) -> int:
    """Return how many numbers a safetensors file has, by its header; raises LoadingError."""
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            data_bytes = path.stat().st_size - 8 - length
            if not (length <= HEADER_BYTES and data_bytes >= 0):
                raise ValueError("its header is not in it, or too long")
            header = json.loads(file.read(length), object_pairs_hook=without_repeats)
            return check_header(header, data_bytes)
    except (OSError, struct.error, ValueError, RecursionError) as error:
        raise LoadingError(
            f"{path} is not a safetensors file that can be read: {first_line(error)} Delete it, "
            "and download or save the model again."
        ) from error


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a folder; raises LoadingError if there are none.

    None of them stands in another folder, whatever an index says.
    """
    if is_file(folder / WEIGHTS_FILE):
        return [folder / WEIGHTS_FILE]
    index = folder / INDEX_FILE
    if not is_file(index):
        raise LoadingError(
            f"{folder} has no {WEIGHTS_FILE}. Other files of weights can hold code and are not "
            "read: choose another model, or save this one again with save_pretrained."
        )
    try:
        names = set(json.loads(read_small(index, TOKENIZER_BYTES))["weight_map"].values())
        if any(Path(name).name != name or not name.endswith(WEIGHTS_SUFFIX) for name in names):
            raise ValueError("a name of a file is none of this folder")
        paths = [folder / name for name in sorted(names)]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise LoadingError(
            f"{index} does not say which files hold the weights. Download or save the model again."
        ) from error
    if missing := [path.name for path in paths if not is_file(path)]:
        raise LoadingError(
            f"{folder} lacks {missing[0][:200]}, which its index names. Download or save the model "
            "again."
        )
    return paths


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of a folder's safetensors, whether one file or several with an index.

    Raises LoadingError if there are none, one is missing, or one cannot be read.
    """
    weights: dict[str, Tensor] = {}
    for path in weight_files(folder):
        try:
            weights |= load_file(path)
        except (SafetensorError, OSError) as error:
            raise LoadingError(
                f"{path} is not a safetensors file: {first_line(error)} Delete it, and download or "
                "save the model again."
            ) from error
    return weights


def read_tokenizer(folder: Path, config: PreTrainedConfig) -> PreTrainedTokenizerBase:
    """Return the tokenizer in a folder; raises LoadingError if there is none that can be read."""
    from transformers import AutoTokenizer

    # Without any of these transformers makes an empty tokenizer, and does not say so.
    if not any(is_file(folder / name) for name in VOCABULARIES):
        raise LoadingError(
            f"{folder} has no tokenizer. Save the model's tokenizer there too, with its "
            "save_pretrained."
        )
    try:
        return AutoTokenizer.from_pretrained(
            folder, config=config, trust_remote_code=False, local_files_only=True
        )
    except Exception as error:  # the libraries underneath raise nothing narrower
        raise LoadingError(
            f"The tokenizer in {folder} cannot be read: {first_line(error)}"
        ) from error


def read_small(path: Path, most_bytes: int) -> str:
    """Return the text of a file; raises LoadingError if it is too large or cannot be read."""
    refuse_large(path, most_bytes)
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(most_bytes)
    except OSError as error:
        raise LoadingError(f"{path} cannot be read: {first_line(error)}") from error


def refuse_large(path: Path, most_bytes: int) -> None:
    """Raise LoadingError if a file is larger than what is read of its kind."""
    if is_file(path) and path.stat().st_size > most_bytes:
        raise LoadingError(
            f"{path} is larger than {most_bytes // MEGABYTE} MB, which no such file of a model is. "
            "Choose another model."
        )


def is_file(path: Path) -> bool:
    """Return whether there is a file, and not something that never ends."""
    try:
        return path.is_file()
    except OSError as error:  # nobody may look into the folder
        raise LoadingError(f"{path} cannot be read: {first_line(error)}") from error


def list_folder(folder: Path) -> list[Path]:
    """Return what stands in a folder; raises LoadingError if nobody may look into it."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise LoadingError(f"{folder} cannot be read: {first_line(error)}") from error
