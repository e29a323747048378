"""What a reader is asked: a text to read, a question to answer, and what to measure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import NamedTuple

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
    edits: RunEdits | None = None  # only for a target that the model writes itself

    @property
    def ends(self) -> bool:
        """Whether it has a target with an end: a typed one, or one that a model finished."""
        return isinstance(self.target, str) or bool(self.target and self.target.finished)

    def __post_init__(self) -> None:
        object.__setattr__(self, "masked", tuple(map(index, self.masked)))
