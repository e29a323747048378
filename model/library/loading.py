"""Load any model by its name: a shipped one, a folder, or one of the transformers library."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from headlight.model.checkpoint import CONFIG, WEIGHTS, load_config
from headlight.model.library.bert import Bert, fits_our_layers, head_of, our_config
from headlight.model.library.bert_reader import BertReader, WordPieces
from headlight.model.library.bounds import check_counts, check_files, check_tokenizer
from headlight.model.library.files import (
    count_numbers,
    counted,
    read_config,
    read_tokenizer,
    saved_tensors,
    weight_files,
)
from headlight.model.library.hub import LoadingError, Progress, as_folder, fetch, first_line
from headlight.model.library.output_heads import class_labels
from headlight.model.library.transformers_loading import load_pretrained, load_transformers_reader
from headlight.model.memory import check_memory
from headlight.model.memory_layout import best_device
from headlight.model.own_reader import OwnReader
from headlight.model.reader import Reader
from headlight.model.transformer.transformer import Transformer
from headlight.model.translator import load, shipped_models

LARGEST_NUMBER = 4  # the most bytes that a number takes in a file of weights


def load_model(name: str | Path, progress: Progress | None = None) -> Reader:
    """Load a model by its name, from a folder or from the Hugging Face Hub; onto a GPU if any.

    `progress` is called with the bytes downloaded so far and in all. Raises ValueError or
    FileNotFoundError with a message that says what to do.
    """
    if not (isinstance(name, str | Path) and str(name).strip()):
        raise LoadingError(f"Give a name, such as {shipped_models()[0]}, or a model's folder.")
    if str(name) in shipped_models():
        return load(name)
    if folder := own_checkpoint(str(name)):
        return load_own(folder)
    return load_from_library(str(name), progress)


def own_checkpoint(name: str) -> Path | None:
    """Return the folder of this name if it holds one of this project's own models, or None."""
    folder = as_folder(name)
    return folder if folder and (folder / WEIGHTS).is_file() else None


def load_own(folder: Path) -> OwnReader:
    """Load one of this project's own models from a folder; raise LoadingError if that fails."""
    check_files(folder)
    try:
        check_tokenizer(folder)
        check_counts(json.loads((folder / CONFIG).read_bytes()), folder / CONFIG)
        with counted([folder / WEIGHTS]), torch.device("meta"):
            Transformer(load_config(folder / CONFIG))
        return load(folder)
    except LoadingError:
        raise
    except Exception as error:  # any error, such as a missing file or too little memory
        raise LoadingError(
            f"{folder} is not a checkpoint that can be read: {first_line(error)} Save it again, or "
            "choose another model."
        ) from error


def load_from_library(name: str, progress: Progress | None = None) -> Reader:
    """Load a model of the transformers library; a BERT that fits gets this project's own layers.

    Raises LoadingError with a message that says what to do.
    """
    try:
        if fits_our_layers(read_config(name)):
            return load_bert(name, progress)
        return load_transformers_reader(name, progress)
    except LoadingError:
        raise
    except Exception as error:  # any error, such as sizes of 0 or lists nested too deeply
        raise LoadingError(
            f"The files of {name} do not fit together: {first_line(error)} Choose another model."
        ) from error


def load_bert(name: str | Path, progress: Progress | None = None) -> BertReader:
    """Load a BERT into our layers by its name or from a folder, onto the GPU if there is one.

    `progress` is called with the bytes downloaded so far and in all. Raises ValueError with a
    message that says what to do.
    """
    name, device = str(name), best_device()
    config = read_config(name)
    shape = our_config(config)
    folder = fetch(name, progress=progress)
    check_memory(count_numbers(folder), name, device)
    tokens = WordPieces(read_tokenizer(folder, config), shape, folder)
    head = head_of(config, {tensor for tensor, *_ in saved_tensors(weight_files(folder))})
    theirs = load_pretrained(folder, config, head, name, device)
    model = Bert(theirs, shape, head)
    return BertReader(model, tokens, folder, title=name, labels=class_labels(config))


def fetch_model(name: str, progress: Progress | None = None) -> Path:
    """Download a model's files, if needed, and return their folder; the config is checked first.

    The download stops if the model will not fit into memory. Raises LoadingError if this fails.
    """
    if folder := own_checkpoint(name):
        return folder
    read_config(name)
    device = best_device()

    def watch(done: int, total: int) -> None:
        check_memory(total // LARGEST_NUMBER, name, device)
        if progress:
            progress(done, total)

    return fetch(name, progress=watch)
