"""Values that a model's reader takes or returns: a text to read, a question, and an objective."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import index
from typing import Literal, NamedTuple

from headlight.model.decoding.steps import Writing
from headlight.model.transformer.trace import RunEdits

# What answers a question: one of several choices, whether a text has a label, or a number in the
# model's own unit.
Kind = Literal["choice", "label", "score"]


class Question(NamedTuple):
    """A question that one row of a trace's logits answers: the next token, a class or a score."""

    # the question on screen, such as "The next token", "In place of token 5" or "The class"
    words: str
    row: int
    together: str = ""  # what this and later rows answer together, such as the words of an answer
    kind: Kind = "choice"


@dataclass(frozen=True)
class Objective:
    """What an effect is measured on: the sum of log-probabilities of some ids, or of scores."""

    rows: tuple[int, ...]  # (N,) the rows of the logits that predict the tokens
    ids: tuple[int, ...]  # (N,) the ids of the tokens
    description: str  # the objective in words, such as "the log-probability of the whole target"
    texts: tuple[str, ...] = ()  # (N,) the texts of the ids, if they have any
    # what each id belongs to: a token, a text, a label, a tag; "score" without ids
    each: str = "token"

    @classmethod
    def of(
        cls, what: str, ids: Mapping[int, int], texts: Sequence[str], each: str = "token"
    ) -> Objective:
        """Return the objective called `what`: each row's log-probability of its id, or scores."""
        described = what if each == "score" else f"the log-probability of {what}"
        return cls(tuple(ids), tuple(ids.values()), described, tuple(texts), each)

    @property
    def is_score(self) -> bool:
        """True if the numbers in the rows themselves are measured."""
        return self.each == "score"

    @property
    def unit(self) -> str:
        """The unit of the measure: nats of log-probability, or the model's own."""
        return "units of the score" if self.is_score else "nats"

    def only(self, index: int) -> Objective:
        """Return the objective of a single token, the one at `index` in `ids`."""
        chosen = slice(index, index + 1)
        what = f"the {'' if self.is_score else 'log-probability of the '}chosen {self.each}"
        rows, ids, texts = self.rows[chosen], self.ids[chosen], self.texts[chosen]
        return replace(self, rows=rows, ids=ids, description=what, texts=texts)


@dataclass(frozen=True)
class Request:
    """A text for a model to read, with everything that decides its tokens; see `Reader.trace`."""

    text: str
    target: str | Writing | None = None
    second: str | None = None
    masked: Collection[int] = ()
    pad_to: int | None = None
    # the edits that apply while the model writes the target itself
    edits: RunEdits | None = None

    @property
    def ends(self) -> bool:
        """True if the target has an end: it was typed, or a model finished it."""
        return isinstance(self.target, str) or bool(self.target and self.target.finished)

    def __post_init__(self) -> None:
        object.__setattr__(self, "masked", tuple(map(index, self.masked)))
