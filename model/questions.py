"""What a reader is asked: a text to read, a question to answer, and what to measure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from operator import index
from typing import NamedTuple, SupportsIndex

from headlight.model.decoding.steps import Writing
from headlight.model.transformer.trace import RunEdits


class Question(NamedTuple):
    """The prediction in one row of a trace's logits, such as the next token or a class."""

    words: str  # "The next token", "In place of token 5", "The class"
    row: int
    together: str = ""  # the joint result of this and later rows, such as the words of an answer


@dataclass(frozen=True)
class Objective:
    """The measure of an effect: the log-probability of ids, each after a row of logits."""

    rows: tuple[int, ...]  # (N,)
    ids: tuple[int, ...]  # (N,)
    description: str  # "the log-probability of the whole target"
    texts: tuple[str, ...] = ()  # (N,) the texts of the ids, if they have any

    @classmethod
    def of(cls, what: str, ids: Mapping[int, int], texts: Sequence[str]) -> Objective:
        """Return the log-probability of `what`: of ids by the row that each one follows."""
        return cls(tuple(ids), tuple(ids.values()), f"the log-probability of {what}", tuple(texts))

    def only(self, index: int) -> Objective:
        """Return the objective of only one of the ids, by its index."""
        chosen = slice(index, index + 1)
        what = "the log-probability of the chosen token"
        return Objective(self.rows[chosen], self.ids[chosen], what, self.texts[chosen])


@dataclass(frozen=True)
class Request:
    """A text for a model to read, with everything that decides its tokens; see `Reader.trace`."""

    text: str
    target: str | Writing | None = None
    second: str | None = None
    masked: Collection[int] = ()
    pad_to: int | None = None
    edits: RunEdits | None = None  # they only affect a target that the model writes itself

    @property
    def ends(self) -> bool:
        """Whether it has a target with an end: a typed one, or one that a model finished."""
        return isinstance(self.target, str) or bool(self.target and self.target.finished)

    def __post_init__(self) -> None:
        """Raise ValueError for what is no text, no positions, or no length."""
        texts = isinstance(self.text, str) and isinstance(self.second, str | None)
        if not (texts and isinstance(self.target, str | Writing | None)):
            raise ValueError("A text is one string; a target may also be write(...).writing.")
        try:
            object.__setattr__(self, "masked", tuple(map(index, self.masked)))
        except TypeError:
            raise ValueError(
                "Give the positions of masked tokens as whole numbers, such as [3]."
            ) from None
        check_count("pad_to", self.pad_to)


def check_count(what: str, count: object, least: int = 0) -> None:
    """Raise ValueError for a number of tokens that is neither None nor whole, from `least`."""
    if count is not None and not (isinstance(count, SupportsIndex) and count >= least):
        raise ValueError(f"Give {what} as a whole number of tokens, from {least}, not {count!r}.")


def check_options(write_text: Callable[..., object], options: Collection[str]) -> None:
    """Raise ValueError for options that a model's own `write_text` does not take."""
    _, _, *possible = signature(write_text).parameters
    if unknown := {*options} - {*possible}:
        raise ValueError(
            f"write takes no {min(unknown)}: it takes {', '.join(possible)}, pad_to and edits. "
            'What a strategy takes is given to it, as in Strategy("sample", seed=3).'
        )
