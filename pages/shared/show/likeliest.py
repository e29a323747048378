"""The likeliest answers of a run of a model to a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torch import Tensor

from headlight.model.library.pieces import as_pieces
from headlight.model.questions import Question
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.runs.run import ModelRun
from headlight.viz import CanvasPicture, probability_bars

TOP = 8  # how many answers are shown


class AnswersOfRun(NamedTuple):
    """The answers of a run to a question, with their probabilities."""

    run: ModelRun
    question: Question

    @property
    def probabilities(self) -> Tensor:
        """The probability of every answer: (V,)."""
        return self.run.trace().logits[0, self.question.row].softmax(dim=-1)

    @property
    def best(self) -> list[int]:
        probabilities = self.probabilities
        return probabilities.topk(min(TOP, len(probabilities))).indices.tolist()

    @property
    def text(self) -> str:
        """The answer of several questions together, if there is one, else the likeliest answer."""
        return self.question.together or self.texts(self.best[:1])[0]

    def texts(self, answers: Sequence[int]) -> list[str]:
        label = self.run.reader.label
        return [label(self.run.trace(), self.question, answer) for answer in answers]

    def of_hidden_word(self) -> str:
        """Return a sentence on how probable the hidden word is; empty if no word is hidden here."""
        if not self.run.masked:
            return ""
        tokens = as_pieces(self.run.trace().source_tokens)
        masks = [token for token in tokens if token.role == "mask"]
        answer = masks[self.question.row].hides
        if answer is None:  # a mask that the visitor typed hides no word
            return ""
        probabilities = self.probabilities
        rank = int((probabilities > probabilities[answer]).sum()) + 1
        (text,) = self.texts([answer])
        return (
            f"The hidden word “{text}”: {probabilities[answer]:.3f}, "
            f"rank {rank} of {len(probabilities)}"
        )

    def is_comparable_to(self, other: AnswersOfRun) -> bool:
        """Return whether the answers with the same index are the same in another run."""
        if len(self.probabilities) != len(other.probabilities):
            return False
        shown = [*self.best, *other.best]
        return self.texts(shown) == other.texts(shown)


def likeliest(answers: Mapping[str, AnswersOfRun]) -> CanvasPicture:
    """Return bars with the likeliest answers of all runs; those of the last run come first."""
    each = list(answers.values())
    shown = list(dict.fromkeys(answer for run in reversed(each) for answer in run.best))
    bars = {label: as_array(run.probabilities[shown]) for label, run in answers.items()}
    return probability_bars(bars, each[-1].texts(shown))
