"""Models of the transformers library, by their name on the Hugging Face Hub or as a folder.

Each problem with a model is a LoadingError of one sentence.
"""

import io
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from tqdm import tqdm

Progress = Callable[[int, int], None]  # bytes so far, bytes in all; called from several threads

CONFIG_FILE = "config.json"
WEIGHTS_FILE, INDEX_FILE = "model.safetensors", "model.safetensors.index.json"
FILES = ("*.json", "*.txt", "*.model", "*.spm", WEIGHTS_FILE, "model-*.safetensors")
LONGEST_LINE = 400  # characters of another library's message


class LoadingError(ValueError):
    """Why a model cannot be loaded, and what to do about it."""


def fetch(name: str, files: Sequence[str] = FILES, progress: Progress | None = None) -> Path:
    """Return the folder with these files of a model, downloaded unless `name` is a folder.

    Files that were downloaded before need no network. Raises LoadingError.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    if folder := as_folder(name):
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
    except LoadingError:  # of `progress`
        raise
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


def as_folder(name: str) -> Path | None:
    """Return the folder of this name on this computer, if any."""
    with suppress(OSError, ValueError, RuntimeError):  # too long, no text, no such user
        folder = Path(name).expanduser()
        if folder.is_dir():
            return folder
    return None


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


def first_line(error: BaseException) -> str:
    """Return the first line of an error as a sentence that is not too long."""
    line = next(iter(str(error).strip().splitlines()), type(error).__name__).strip()
    line = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} …"
    return line if line.endswith((".", "!", "?")) else f"{line}."
