"""Trainings, what was recorded of them, a model that cheats, and checkpoints from visitors."""

import gc
from hashlib import sha256
from threading import Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

import streamlit as st
from cachetools import LRUCache

from headlight.model.archive import unpack_checkpoint
from headlight.model.decoding.steps import Writing
from headlight.model.insight.scoring import trace_log_probabilities
from headlight.model.own_reader import OwnReader
from headlight.model.training.jobs import TrainingJob
from headlight.model.training.repeats import Lesion
from headlight.model.training.snapshots import Snapshots
from headlight.model.translator import PRETRAINED
from headlight.pages.shared.runs import limits
from headlight.pages.shared.runs.door import model_call
from headlight.pages.shared.runs.housekeeping import released
from headlight.pages.shared.runs.readers import translator
from headlight.pages.shared.state.models import DEFAULT, workshop

FOLDER = PRETRAINED / DEFAULT
UNMASKED = "en-fr-unmasked"  # a small model
MEGABYTE = 1_000_000
REFUSALS = 20  # remembered by a session
TOO_MUCH = (
    "In memory this model takes {size:,} MB, and your uploaded models may take {most:,} MB "
    "together, of which {taken:,} are taken. Remove some on the page Models."
)
TOO_MUCH_OF_ALL = (
    "In memory this model takes {size:,} MB, and the uploaded models of all visitors may take "
    "{most:,} MB together, of which {taken:,} are taken. Try again later, or run Headlight on your "
    "own computer."
)

_reading = Lock()  # held while a file is read, which takes several times the memory of its model
_taken: WeakKeyDictionary[OwnReader, int] = WeakKeyDictionary()  # bytes of all visitors' models


@st.cache_resource
def recorded_training() -> Snapshots:
    """Return the attention at steps of the shipped model's training; it must not be modified."""
    return Snapshots.from_file(FOLDER / "history.safetensors")


@model_call()
def answered(run: str, step: int, read: str, longest: int | None, _reader: OwnReader) -> Writing:
    """Return what a training's model writes after `step` steps, at most `longest` tokens."""
    return _reader.write(read, longest=longest).writing


@model_call()
def lesioned(run: str, step: int, _job: TrainingJob) -> Lesion:
    """Return what a training's decoder loses without a head, after `step` steps."""
    return _job.lesion()


class Cheat(NamedTuple):
    """What the model writes for a sentence if it can look ahead, and if it cannot."""

    score: float  # the log-probability of the whole target
    text: str  # written without a target


@model_call()
def cheat(sentence: str, target: str) -> Cheat:
    """Return how well the model copies the target, and what it writes without one."""
    model = translator(UNMASKED)
    score = trace_log_probabilities(model.trace(sentence, target)).sum().item()
    return Cheat(score, model.translate(sentence).text)


class NoRoomError(ValueError):
    """There is no memory for a model now, but there may be later."""


class Uploads:
    """The results of a session's uploads: the newest model, and why others were refused."""

    def __init__(self) -> None:
        self.digest = ""
        self.newest: OwnReader | None = None
        self.refused: LRUCache[str, str] = LRUCache(REFUSALS)


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda _: released())
def uploads() -> Uploads:
    return Uploads()


def uploaded(data: bytes) -> OwnReader:
    """Return the model in an uploaded file, which is read only once.

    Raise ValueError with a sentence if there is none, or NoRoomError if there is too little room.
    """
    mine, digest = uploads(), sha256(data).hexdigest()
    if digest in mine.refused:
        raise ValueError(mine.refused[digest])
    if mine.newest is None or mine.digest != digest:
        let_go()
        try:
            mine.newest = _read(data)
        except NoRoomError:
            raise
        except ValueError as error:
            mine.refused[digest] = str(error)
            raise
        finally:
            released()
        mine.digest = digest
    return mine.newest


def let_go() -> None:
    """Forget the newest model, unless the other pages may show it."""
    uploads().newest = None


def _read(data: bytes) -> OwnReader:
    sizes: list[int] = []

    def reserve(size: int) -> None:
        refuse_if_full(size)
        sizes.append(size)

    with st.spinner("Reading …"), _reading:
        reader = unpack_checkpoint(data, reserve)
        _taken[reader] = sizes[0]
    return reader


def refuse_if_full(size: int) -> None:
    """Raise NoRoomError if a model of `size` bytes is too much for the visitor, or for all."""
    mine = sum(_taken.get(reader, 0) for _, reader in workshop().models.values())
    refuse_above(limits.UPLOAD_MEGABYTES, size, mine, TOO_MUCH)
    if size + sum(_taken.values()) > limits.ALL_UPLOADS_MEGABYTES * MEGABYTE:
        gc.collect()  # sessions that ended hold on to themselves in reference cycles
    refuse_above(limits.ALL_UPLOADS_MEGABYTES, size, sum(_taken.values()), TOO_MUCH_OF_ALL)


def refuse_above(most: int, size: int, taken: int, words: str) -> None:
    """Raise NoRoomError with these words if `taken` and `size` bytes exceed `most` megabytes."""
    if size + taken > most * MEGABYTE:
        size, taken = (-(-number // MEGABYTE) for number in (size, taken))
        raise NoRoomError(words.format(size=size, most=most, taken=taken))
