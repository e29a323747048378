"""Fetch the files of a model from the Hugging Face Hub, or find its folder; read its card.

A model's card names its licence. Each problem raises a LoadingError with a sentence or two.
"""

import io
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm.asyncio import tqdm

# called by several threads, with the bytes downloaded so far and in all
Progress = Callable[[int, int], None]

CONFIG_FILE = "config.json"
WEIGHTS_FILE, INDEX_FILE = "model.safetensors", "model.safetensors.index.json"
FILES = ("*.json", "*.txt", "*.model", "*.spm", WEIGHTS_FILE, "model-*.safetensors")
LONGEST_LINE = 400  # the most characters that are shown of another library's message
CARD_FILE = "README.md"
LONGEST_CARD = 20_000  # the most characters that are read of a card
FRONT_MATTER = re.compile(r"\A---\s*\n(.*?)^---\s*$", re.DOTALL | re.MULTILINE)
FIELD = r"^{name}:[ \t]*[\"']?([\w.+-][\w.+ -]{{0,60}})[\"']?[ \t]*$"
ON_THE_HUB = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?", re.ASCII)


class LoadingError(ValueError):
    """Raised if a model cannot be loaded; the message says why, and what to do."""


def fetch(name: str, files: Sequence[str] = FILES, progress: Progress | None = None) -> Path:
    """Return the folder with a model's `files`, which are downloaded unless `name` is a folder.

    Files that were downloaded before need no network. Raises LoadingError if this fails.
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
    except LoadingError:  # raised by `progress` to stop the download
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
    # any error, such as a full disk, a proxy, or an error answer of the hub
    except Exception as error:
        raise LoadingError(
            f"{name} could not be downloaded: {first_line(error)} Try again later."
        ) from error


def as_folder(name: str) -> Path | None:
    """Return the folder of this name on this computer, or None."""
    with suppress(OSError, ValueError, RuntimeError):  # raised for a name that cannot be a path
        folder = Path(name).expanduser()
        if folder.is_dir():
            return folder
    return None


def progress_bar(progress: Progress) -> type[tqdm]:
    """Return a class of progress bars for downloads that call `progress` and draw nothing."""

    class ProgressBar(tqdm):
        def __init__(self, *items: Any, **options: Any) -> None:
            self.counts_bytes = options.get("unit") == "B"
            super().__init__(*items, **{**options, "file": io.StringIO(), "disable": False})

        def update(self, n: float | None = 1) -> bool | None:
            shown = super().update(n)
            if self.counts_bytes and self.total:
                progress(int(self.n), int(self.total))
            return shown

    return ProgressBar


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message as a sentence, cut if it is too long."""
    line = next(iter(str(error).strip().splitlines()), type(error).__name__).strip()
    line = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} …"
    return line if line.endswith((".", "!", "?")) else f"{line}."


@dataclass(frozen=True)
class Card:
    """A model's licence as named by its card, and the address of its page; each "" if unknown."""

    licence: str = ""
    page: str = ""


def read_card(name: str) -> Card:
    """Return the card of a model, given its name on the hub or its folder."""
    on_the_hub = ON_THE_HUB.fullmatch(name) and not Path(name).expanduser().is_dir()
    page = f"https://huggingface.co/{name}" if on_the_hub else ""
    try:
        path = fetch(name, (CARD_FILE,)) / CARD_FILE
        if not path.is_file():
            return Card(page=page)
        with path.open(encoding="utf-8", errors="replace") as file:
            return Card(licence_in(file.read(LONGEST_CARD)), page)
    except (LoadingError, OSError):
        return Card(page=page)


def licence_in(text: str) -> str:
    """Return the licence that a card's front matter names, or an empty text."""
    front_matter = FRONT_MATTER.match(text)
    if front_matter is None:
        return ""
    fields = {
        name: match[1].strip()
        for name in ("license", "license_name")
        if (match := re.search(FIELD.format(name=name), front_matter[1], re.MULTILINE))
    }
    licence = fields.get("license", "")
    return fields.get("license_name", licence) if licence == "other" else licence
