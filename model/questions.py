"""What is passed to a reader or returned by it: a text to read, a question, and an objective."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import NamedTuple

from headlight.model.decoding.steps import Writing
from headlight.model.transformer.trace import RunEdits


class Question(NamedTuple):
    """A question that one row of a trace's logits answers, such as the next token or a class."""

    words: str  # such as "The next token", "In place of token 5" or "The class"
    row: int
    together: str = ""  # what this and later rows answer together, such as the words of an answer


@dataclass(frozen=True)
class Objective:
    """What an effect is measured on: the sum of the log-probabilities of some tokens."""

    rows: tuple[int, ...]  # (N,) the rows of the logits that predict the tokens
    ids: tuple[int, ...]  # (N,) the ids of the tokens
    description: str  # such as "the log-probability of the whole target"
    texts: tuple[str, ...] = ()  # (N,) the texts of the ids, if they have any

    @classmethod
    def of(cls, what: str, ids: Mapping[int, int], texts: Sequence[str]) -> Objective:
        """Return the objective `what`: the log-probability of `ids`, each by the row before it."""
        return cls(tuple(ids), tuple(ids.values()), f"the log-probability of {what}", tuple(texts))

    def only(self, index: int) -> Objective:
        """Return the objective of a single token, the one at `index` in `ids`."""
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
        """True if the target has an end: it was typed, or a model finished it."""
        return isinstance(self.target, str) or bool(self.target and self.target.finished)

    def __post_init__(self) -> None:
        object.__setattr__(self, "masked", tuple(map(index, self.masked)))
