"""What a model with an output head predicts, and the objective that effects are measured on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from headlight.model.library.output_heads import OF_A_TEXT, OutputHead, rows_by_text
from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.library.pieces import Piece, as_pieces, whole_words
from headlight.model.questions import Objective, Question
from headlight.model.reader import Reader
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Site


class NamedIds(Protocol):
    """A vocabulary that gives the text of an id."""

    def piece(self, index: int) -> Piece:
        """Return the piece of an id, as in a text of only this token."""
        ...


class Answer(NamedTuple):
    """The words of a text that answer a question, and their probability in the model."""

    start: int  # the positions of the answer's first and last token
    end: int
    text: str  # the answer's words with spaces between them
    probability: float  # the probability of this first token times that of this last token


class AnswerReader:
    """Reads the logits that a model's output head gives; without a `head` there are no logits.

    `classes` are the names of the classes by number. `ends` are the ids that end a decoder's text,
    the usual one first.
    """

    def __init__(
        self,
        head: OutputHead | None,
        tokens: NamedIds,
        classes: Mapping[int, str],
        ends: Sequence[int] = (),
    ) -> None:
        self.head = head
        self.tokens = tokens
        self.classes = classes
        self.ends = ends

    def rows(self, trace: Trace, outputs: Mapping[str, Tensor]) -> Tensor | None:
        """Return the rows (B, N, V) of a head's logits that apply to the tokens of a trace.

        There is one row for each token that a decoder read or that gets a tag, for each masked
        token, for the classes of a text, for each label or score, or for each end of an answer.
        """
        if self.head is None:
            return None
        if self.head == "span":
            return torch.stack([outputs["start_logits"], outputs["end_logits"]], dim=1).float()
        logits = outputs["logits"].float()
        if self.head in OF_A_TEXT:
            return rows_by_text(self.head, logits)
        return logits[:, masked_positions(trace)] if self.head == "masked words" else logits

    def questions(self, trace: Trace) -> list[Question]:
        """Return the questions that a trace's logits answer; for a decoder, only the next token."""
        if self.head == "next token":
            return [Question("The next token", len(read_ids(trace)) - 1)]
        if self.head == "masked words":
            positions = enumerate(masked_positions(trace))
            return [
                Question(f"In place of token {position + 1}", row) for row, position in positions
            ]
        if self.head == "span":
            begins = Question("Where the answer begins", 0, likeliest_answer(trace).text)
            return [begins, Question("Where the answer ends", 1)]
        if self.head == "tags":
            read = trace.source_tokens or trace.target_tokens
            rows = ((row, read[row].text) for row in read_rows(trace))
            return [Question(f"The tag of “{text}”, token {row + 1}", row) for row, text in rows]
        if self.head == "labels":
            return [
                Question(f"The label “{self.name(row)}”", row, kind="label") for row in self.classes
            ]
        if self.head == "score":
            return [Question(self.score_name(row), row, kind="score") for row in range(self.scores)]
        return [Question("The class", 0)] if self.head == "class" and len(self.classes) > 1 else []

    @property
    def scores(self) -> int:
        """The number of scores, if the model's output head gives scores."""
        return max(1, len(self.classes))

    def name(self, index: int) -> str:
        """Return the model's own name of a class, a label or a score."""
        return self.classes.get(index, f"Class {index + 1}")

    def score_name(self, row: int) -> str:
        """Return the name of a score, or 'The score' if the model gives only one."""
        return "The score" if self.scores == 1 else f"The score “{self.name(row)}”"

    def label(self, trace: Trace, row: int, index: int) -> str:
        """Return the text of one possible answer in a row of logits.

        It is a token of the vocabulary, a class, whether a text has a label, or a position with its
        token, such as '5: Paris'.
        """
        if self.head in ("class", "tags"):
            return self.name(index)
        if self.head == "labels":
            return f"{'' if index else 'not '}{self.name(row)}"
        if self.head == "score":
            return self.score_name(row)
        if self.head == "span":
            return f"{index + 1}: {trace.source_tokens[index].text}"
        return self.tokens.piece(index).text

    def objective(
        self, trace: Trace, site: Site | None = None, query: int | None = None
    ) -> Objective | None:
        """Return the objective: the tokens a decoder should write, or the likeliest prediction.

        With one query of a decoder it is only the token after that query. For masked words it is
        the hidden words, even if others are likelier. It is None without a head, if no
        word is masked, and for a text of one token.
        """
        if not self.questions(trace) or trace.logits is None:
            return None
        chosen = trace.logits[0].argmax(dim=-1).tolist()
        each = "token"
        match self.head:
            case "next token":
                what, ids = self.following(trace)
                if site is not None and site.kind != "encoder" and query in ids:
                    what, ids = "the token after this query", {query: ids[query]}
            case "masked words":
                pieces = as_pieces(trace.source_tokens)
                hidden = enumerate(piece.hides for piece in pieces if piece.role == "mask")
                what = "the masked words"
                ids = {row: index for row, index in hidden if index is not None}
                if not ids:  # masks were typed, so the hidden words are unknown
                    what, ids = "the likeliest words", dict(enumerate(chosen))
            case "class":
                what, ids, each = "the likeliest class", {0: chosen[0]}, "text"
            case "labels":
                what, ids = "each label’s likelier answer", dict(enumerate(chosen))
                each = "label"
            case "score":
                what = "the score" if self.scores == 1 else "the sum of all scores"
                ids, each = dict(enumerate(chosen)), "score"
            case "tags":
                ids = {row: chosen[row] for row in read_rows(trace)}
                what, each = "the likeliest tag of each token", "tag"
                if site is not None and query in ids:
                    what, ids = "the likeliest tag of this query", {query: ids[query]}
            case "span":
                start, end, *_ = likeliest_answer(trace)
                what, ids = "where the answer begins and ends", {0: start, 1: end}
        if not ids:
            return None
        texts = [self.label(trace, row, index) for row, index in ids.items()]
        if self.head == "tags":
            read = trace.source_tokens or trace.target_tokens
            texts = [f"{read[row].text}: {text}" for row, text in zip(ids, texts, strict=True)]
        return Objective.of(what, ids, texts, each)

    def following(self, trace: Trace) -> tuple[str, dict[int, int]]:
        """Return a description of the tokens after the first one, and the id that follows each row.

        The end token is one of them in an encoder-decoder, if the target ends.
        """
        ids = read_ids(trace)[1:]
        if not trace.source_tokens:
            return "the prompt after its first token", dict(enumerate(ids))
        if self.ends and trace.finished and not (ids and ids[-1] in self.ends):
            ids.append(self.ends[0])
        return "the whole target", dict(enumerate(ids))

    def answer(self, trace: Trace) -> Answer:
        """Return the likeliest answer in a trace; raises ValueError if there is none."""
        if self.head != "span":
            raise ValueError(
                "This checkpoint was saved without the head that finds answers. Choose one that "
                "was trained to answer questions."
            )
        return likeliest_answer(trace)


class Answering:
    """A mixin for readers that take their predictions from their `answers`."""

    answers: AnswerReader

    def questions(self, trace: Trace) -> list[Question]:
        return self.answers.questions(trace)

    def label(self, trace: Trace, question: Question, index: int) -> str:
        """Return the text of an answer to a question, such as a token, a class, or '5: Paris'."""
        return self.answers.label(trace, question.row, index)

    def objective(
        self, trace: Trace, site: Site | None = None, query: int | None = None
    ) -> Objective | None:
        return self.answers.objective(trace, site, query)

    def answer(self, trace: Trace) -> Answer:
        """Return the likeliest answer in a trace; raises ValueError if there is none."""
        return self.answers.answer(trace)


class PieceReader(Answering, Reader):
    """A reader that splits a text into pieces by the tokenizer `tokens`."""

    tokens: PieceTokenizer

    def read(
        self,
        text: str,
        second: str | None = None,
        *,
        masked: Collection[int] = (),
        pad_to: int | None = None,
    ) -> list[Piece]:
        """Return the tokens that the model reads of a text, or of two.

        `masked` are positions in this list that are hidden. As in transformers, the name of a
        special token in the text is that token. A text that is too long is cut, the longer of two
        first; see `is_cut`. `pad_to` appends padding until there are that many tokens. Raises
        ValueError if there is nothing to read, or if the model reads no pair or no masked word.
        """
        if not text.strip():
            raise ValueError("There is nothing to read: type a sentence.")
        second = self.second_text(second)
        if len(masked) and "mask words" in self.missing:
            raise ValueError(self.missing["mask words"])
        pieces = self.tokens.mask(self.tokens.read(text, second), masked)
        if not pieces:
            raise ValueError("There is nothing to read: the tokenizer finds no token in this text.")
        return self.tokens.pad(pieces, pad_to)

    def is_cut(self, text: str, second: str | None = None) -> bool:
        return self.tokens.is_cut(text, second if (second or "").strip() else None)

    @property
    def vocabulary(self) -> Sequence[int]:
        return self.tokens.written_ids


def masked_positions(trace: Trace) -> list[int]:
    """Return the positions of the masked tokens of a trace."""
    return [i for i, piece in enumerate(as_pieces(trace.source_tokens)) if piece.role == "mask"]


def read_rows(trace: Trace) -> list[int]:
    """Return the positions of the tokens of a text, without special ones."""
    pieces = as_pieces(trace.source_tokens or trace.target_tokens)
    return [row for row, piece in enumerate(pieces) if not piece.is_special]


def read_ids(trace: Trace) -> list[int]:
    """Return the ids that a decoder read, without padding."""
    return [piece.id for piece in trace.target_tokens if not piece.is_padding]


@torch.inference_mode()
def likeliest_answer(trace: Trace) -> Answer:
    """Return the likeliest span of words whose end is not before its beginning.

    Its words are in the second text if there are two, otherwise in the only one.
    """
    pieces = as_pieces(trace.source_tokens)
    begins, ends = trace.logits[0].log_softmax(dim=-1)  # (S,)
    within = max(piece.segment for piece in pieces)
    allowed = [piece.segment == within and not piece.is_special for piece in pieces]
    allowed = torch.tensor(allowed, device=begins.device)
    together = begins[:, None] + ends  # (S, S)
    together = together.masked_fill(~(allowed[:, None] & allowed).triu(), -torch.inf)
    start, end = divmod(int(together.argmax()), len(pieces))
    words = " ".join(word.text for word in whole_words(pieces[start : end + 1]))
    return Answer(start, end, words, together[start, end].exp().item())
