"""Models of the transformers library, by their name on the Hugging Face Hub or as a folder.

Only safetensors are read, since other files of weights can hold code, and a model's own code is
never run. Whatever stands in the way of a model is one sentence, in a LoadingError.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from tqdm import tqdm

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

Progress = Callable[[int, int], None]  # bytes so far, bytes in all; called from several threads

CONFIG_FILE = "config.json"
WEIGHTS_FILE, INDEX_FILE = "model.safetensors", "model.safetensors.index.json"
VOCABULARIES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "source.spm",
    "sentencepiece.bpe.model",
)
FILES = ("*.json", "*.txt", "*.model", "*.spm", WEIGHTS_FILE, "model-*.safetensors")


class LoadingError(ValueError):
    """Why a model cannot be loaded, and what to do about it."""


def read_config(name: str) -> PreTrainedConfig:
    """Return the config of a model, by name or folder, without fetching its weights.

    Raises LoadingError if it cannot be read.
    """
    from transformers import AutoConfig

    path = fetch(name, (CONFIG_FILE,)) / CONFIG_FILE
    if not path.is_file():
        raise LoadingError(
            f"{name} has no {CONFIG_FILE}, so it is not a model of the transformers library. Give "
            "the folder that save_pretrained wrote, or a name such as "
            "google-bert/bert-base-uncased."
        )
    try:
        kind = json.loads(path.read_text(encoding="utf-8"))["model_type"]
    except (ValueError, LookupError, TypeError) as error:
        raise LoadingError(
            f"The {CONFIG_FILE} of {name} names no model_type, so it is not one of the "
            "transformers library. Give the folder that save_pretrained wrote."
        ) from error
    try:
        return AutoConfig.from_pretrained(
            path.parent, trust_remote_code=False, local_files_only=True
        )
    except Exception as error:  # of many kinds, from a wrong type to an unknown model_type
        raise LoadingError(
            f"The transformers library cannot read the {CONFIG_FILE} of {name}, of the type "
            f"{kind!r}: {first_line(error)} Models that bring code of their own are not loaded."
        ) from error


def fetch(name: str, files: Sequence[str] = FILES, progress: Progress | None = None) -> Path:
    """Return the folder with these files of a model, downloaded first if `name` is not a folder.

    What was downloaded once needs no network again. Raises LoadingError.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    try:
        return Path(
            snapshot_download(
                name,
                allow_patterns=list(files),
                ignore_patterns=["*/*"],
                tqdm_class=progress_bar(progress or (lambda done, total: None)),
            )
        )
    except HFValidationError as error:
        raise LoadingError(
            f"{name} is neither a folder nor a name on the Hugging Face Hub. Names look like "
            "google-bert/bert-base-uncased."
        ) from error
    except GatedRepoError as error:
        raise LoadingError(
            f"{name} is gated. Accept its terms at https://huggingface.co/{name}, log in on this "
            "computer with the command hf auth login, and try again."
        ) from error
    except RepositoryNotFoundError as error:
        raise LoadingError(
            f"There is no model {name} on the Hugging Face Hub, or it is private, and no such "
            "folder here. Check the spelling; names look like google-bert/bert-base-uncased."
        ) from error
    except LocalEntryNotFoundError as error:
        raise LoadingError(
            f"{name} is not on this computer, and the Hugging Face Hub cannot be reached. Check "
            "the network and try again, or give the folder of a model."
        ) from error
    except Exception as error:  # a full disk, a proxy, an answer of the hub's
        raise LoadingError(
            f"{name} could not be downloaded: {first_line(error)} Try again later."
        ) from error


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of a folder's safetensors, whether one file or several with an index.

    Raises LoadingError if there are none, one is missing, or one cannot be read.
    """
    weights: dict[str, Tensor] = {}
    for path in weight_files(folder):
        try:
            weights |= load_file(path)
        except SafetensorError as error:
            raise LoadingError(
                f"{path} is not a safetensors file: {error}. Delete it, and download or save the "
                "model again."
            ) from error
    return weights


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a folder; raises LoadingError if there are none."""
    if (folder / WEIGHTS_FILE).is_file():
        return [folder / WEIGHTS_FILE]
    if not (folder / INDEX_FILE).is_file():
        raise LoadingError(
            f"{folder} has no {WEIGHTS_FILE}. Other files of weights can hold code and are not "
            "read: choose another model, or save this one again with save_pretrained."
        )
    try:
        names = set(
            json.loads((folder / INDEX_FILE).read_text(encoding="utf-8"))["weight_map"].values()
        )
        paths = [folder / Path(name).name for name in sorted(names)]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise LoadingError(
            f"{folder / INDEX_FILE} does not say which files hold the weights. Download or save "
            "the model again."
        ) from error
    if missing := [path.name for path in paths if not path.is_file()]:
        raise LoadingError(
            f"{folder} lacks {missing[0]}, which its index names. Download or save the model again."
        )
    return paths


def read_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """Return the tokenizer in a folder; raises LoadingError if there is none that can be read."""
    from transformers import AutoTokenizer

    # Without any of these transformers makes an empty tokenizer, and does not say so.
    if not any((folder / name).is_file() for name in VOCABULARIES):
        raise LoadingError(
            f"{folder} has no tokenizer. Save the model's tokenizer there too, with its "
            "save_pretrained."
        )
    try:
        return AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # the libraries underneath raise nothing narrower
        raise LoadingError(
            f"The tokenizer in {folder} cannot be read: {first_line(error)}"
        ) from error


def progress_bar(progress: Progress) -> type[tqdm]:
    """Return a progress bar for the hub's downloads that calls `progress` and draws nothing."""

    class ProgressBar(tqdm):
        def __init__(self, *items: object, **options: object) -> None:
            self.counts_bytes = options.get("unit") == "B"
            super().__init__(*items, **{**options, "file": io.StringIO(), "disable": False})

        def update(self, n: float | None = 1) -> bool | None:
            shown = super().update(n)
            if self.counts_bytes and self.total:
                progress(int(self.n), int(self.total))
            return shown

    return ProgressBar


def first_line(error: Exception) -> str:
    """Return what an error says first, as a sentence."""
    line = next(iter(str(error).strip().splitlines()), type(error).__name__).strip()
    return line if line.endswith((".", "!", "?")) else f"{line}."
