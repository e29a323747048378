"""The files of a model of the transformers library, read as plain data.

Only safetensors are read, since other weight files can hold code; a model's own code is never run.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError, safe_open

from headlight.model.library.bounds import (
    Counted,
    check_counts,
    check_files,
    check_growth,
    check_header,
    check_tokenizer,
)
from headlight.model.library.hub import (
    CONFIG_FILE,
    INDEX_FILE,
    WEIGHTS_FILE,
    LoadingError,
    fetch,
    first_line,
)

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
ADAPTER_FILE = "adapter_config.json"
# The library replaces its own module at the end of its import: without this lock, threads that wait
# for the import would get the unfinished module.
FIRST_IMPORT = Lock()


def read_config(name: str) -> PreTrainedConfig:
    """Return the config of a model, by name or folder, without fetching its weights.

    Raises LoadingError if it cannot be read, or asks for weights that are not plain numbers.
    """
    with FIRST_IMPORT:
        from transformers import AutoConfig

    folder = fetch(name, (CONFIG_FILE,))
    check_files(folder)
    model_type = type_of_model(folder, name)
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # errors of many kinds, from a wrong type to an unknown model_type
        raise LoadingError(
            f"The transformers library cannot read the {CONFIG_FILE} of {name}, of the type "
            f"{model_type[:60]!r}: {first_line(error)} Models that bring code of their own are not "
            "loaded."
        ) from error
    if getattr(config, "quantization_config", None):
        raise LoadingError(
            f"The weights of {name} are quantized, and only plain ones are read. Choose another "
            "model."
        )
    config.transformers_weights = None  # this entry could name a file that is no safetensors
    return config


def type_of_model(folder: Path, name: str) -> str:
    """Return the model_type in the config of a folder; raises LoadingError if there is none."""
    path = folder / CONFIG_FILE
    try:
        entries = json.loads(path.read_bytes())
        check_counts(entries, path)
        model_type = entries["model_type"]
    except FileNotFoundError as error:
        refuse_adapter(fetch(name, (ADAPTER_FILE,)))
        raise LoadingError(
            f"{name} has no {CONFIG_FILE}, so it is not a model of the transformers library. Give "
            "the folder that save_pretrained wrote, or a name such as "
            "google-bert/bert-base-uncased."
        ) from error
    except OSError as error:
        raise LoadingError(f"{path} cannot be read: {first_line(error)}") from error
    except LoadingError:
        raise
    except (ValueError, LookupError, TypeError, RecursionError):
        model_type = None
    if not isinstance(model_type, str):
        raise LoadingError(
            f"The {CONFIG_FILE} of {name} names no model_type, so it is not one of the "
            "transformers library. Give the folder that save_pretrained wrote."
        )
    return model_type


def count_numbers(folder: Path) -> int:
    """Return the number of weights in a folder; see `numbers_by_dtype`."""
    return numbers_by_dtype(folder).total()


def saved_dtype(folder: Path) -> torch.dtype:
    """Return the half precision that most weights in a folder have, or else float32."""
    (name, _), *_ = numbers_by_dtype(folder).most_common(1) or [("F32", 0)]
    return {"F16": torch.float16, "BF16": torch.bfloat16}.get(name, torch.float32)


def numbers_by_dtype(folder: Path) -> Counter[str]:
    """Return the number of weights in a folder by their dtype, from the headers of their files.

    Raises LoadingError if there are none, one is missing, or one cannot be read.
    """
    counts: Counter[str] = Counter()
    for _, dtype, numbers in saved_tensors(weight_files(folder)):
        counts[dtype] += numbers
    return counts


def saved_tensors(paths: Iterable[Path]) -> Iterator[tuple[str, str, int]]:
    """Yield the name, the dtype and the number of weights of each tensor in safetensors files."""
    for path in paths:
        # If opened for torch, the file would reserve as much memory as it is long.
        with reading(path), safe_open(path, framework="numpy") as file:
            names = file.keys()
            for name, tensor in zip(names, map(file.get_slice, names), strict=True):
                yield name, tensor.get_dtype(), math.prod(tensor.get_shape())


def counted(paths: Iterable[Path]) -> Counted:
    """Return a mode of torch that refuses to make a model larger than its files."""
    numbers = [numbers for *_, numbers in saved_tensors(paths)]
    return Counted(sum(numbers), len(numbers))


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a folder; raises LoadingError if there are none."""
    refuse_adapter(folder)
    if (folder / WEIGHTS_FILE).is_file():
        return [folder / WEIGHTS_FILE]
    index = folder / INDEX_FILE
    if not index.is_file():
        raise LoadingError(
            f"{folder} has no {WEIGHTS_FILE}. Other files of weights can hold code and are not "
            "read: choose another model, or save this one again with save_pretrained."
        )
    try:
        names = set(json.loads(index.read_bytes())["weight_map"].values())
        if not all(name.endswith(WEIGHTS_SUFFIX) and Path(name).name == name for name in names):
            raise ValueError("it names files that can hold code, or are outside the folder")
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise LoadingError(
            f"{index} does not say which {WEIGHTS_SUFFIX[1:]} files hold the weights, or names "
            "some outside its folder. Download or save the model again."
        ) from error
    paths = [folder / name for name in sorted(names)]
    if missing := [path.name for path in paths if not path.is_file()]:
        raise LoadingError(
            f"{folder} lacks {missing[0][:200]}, which its index names. Download or save the model "
            "again."
        )
    return paths


def refuse_adapter(folder: Path) -> None:
    """Raise LoadingError if a folder has an adapter, as the library peft saves it."""
    if (folder / ADAPTER_FILE).is_file():
        raise LoadingError(
            f"{folder} has {ADAPTER_FILE}, so it changes a model that is kept elsewhere. Merge the "
            "two, and save the whole model with save_pretrained."
        )


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise LoadingError if a safetensors file cannot be read in this block."""
    try:
        check_header(path)
        yield
    except (SafetensorError, OSError) as error:
        raise LoadingError(
            f"{path} is not a safetensors file that can be read: {first_line(error)} Delete it, "
            "and download or save the model again."
        ) from error


def read_tokenizer(folder: Path, config: PreTrainedConfig) -> PreTrainedTokenizerBase:
    """Return the tokenizer in a folder; raises LoadingError if none can be read."""
    from transformers import AutoTokenizer

    check_files(folder)
    # Without any of these files, transformers makes an empty tokenizer and does not say so.
    if not any((folder / name).is_file() for name in VOCABULARIES):
        raise LoadingError(
            f"{folder} has no tokenizer. Save the model's tokenizer there too, with its "
            "save_pretrained."
        )
    try:
        check_tokenizer(folder)
        tokenizer = AutoTokenizer.from_pretrained(
            folder, config=config, trust_remote_code=False, local_files_only=True
        )
        # The tokenizer's normalizer may come from a file that was not checked, such as
        # sentencepiece's.
        if normalizer := getattr(getattr(tokenizer, "backend_tokenizer", None), "normalizer", None):
            check_growth(json.loads(normalizer.__getstate__()))
        return tokenizer
    except Exception as error:  # tokenizer libraries have no narrower class for their errors
        raise LoadingError(
            f"The tokenizer in {folder} cannot be read: {first_line(error)}"
        ) from error
