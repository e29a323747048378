"""Text in, traces and answers out: the interface of BERT for pages and notebooks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import tokenizers
import torch
from torch import Tensor

from headlight.model.library.answers import Answering, AnswerReader, masked_positions
from headlight.model.library.bert import Bert
from headlight.model.library.hub import LoadingError
from headlight.model.library.measuring import Parity, measure_parity
from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.library.pieces import SPACES, Piece
from headlight.model.questions import Request
from headlight.model.reader import OTHER_WORDS, Ability, Reader
from headlight.model.shape import shape_of
from headlight.model.stream import output_maps
from headlight.model.trace import Trace
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.trace import Run, RunEdits, Site

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

SAMPLE = "The cat sat on the mat."
NO_HEAD = (
    "This checkpoint was saved without the masked-word head, so it cannot predict words. Choose "
    "one that has it, such as google-bert/bert-base-uncased."
)
NO_DECODER = (
    "A BERT reads a text and does not write one. Choose a model with a decoder, such as the "
    "shipped ones."
)
NOT_FOR_BERT: Mapping[Ability, str] = {
    "write": NO_DECODER,
    "move positions": "The positions of a BERT are not changed here. Choose a model that writes, "
    "such as a shipped one or openai-community/gpt2.",
    "add up logits": NO_DECODER,
    "compare words": OTHER_WORDS,
}
ONE_SENTENCE = "This model was trained on single sentences: give it one only."


class Prediction(NamedTuple):
    """A piece of the vocabulary, and its probability at a masked position."""

    id: int
    text: str
    probability: float


class WordPieces(PieceTokenizer):
    """A BERT's tokenizer, which reads a text as [CLS] first [SEP] second [SEP].

    A piece is shown by its name in the vocabulary, such as ##ing, and punctuation is a word of its
    own. Raises LoadingError if the tokenizer in `folder` does not fit the model of this shape.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, config: TransformerConfig, folder: Path
    ) -> None:
        super().__init__(tokenizer, config.max_positions, config.source_vocab_size)
        count, pad_id = len(tokenizer), tokenizer.pad_token_id
        misfits = {
            "is not one of BERT's word pieces with [MASK] and [PAD]": not tokenizer.is_fast
            or None in (tokenizer.mask_token_id, pad_id),
            f"has {count} tokens, but the model knows {self.known}": count > self.known,
            f"pads with the token {pad_id}, but the model with {config.pad_id}": pad_id
            != config.pad_id,
        }
        if why := [words for words, is_so in misfits.items() if is_so]:
            raise LoadingError(
                f"The tokenizer in {folder} {why[0]}. Save both from the same model, or choose "
                "another BERT, such as google-bert/bert-base-uncased."
            )

    def piece(self, index: int) -> Piece:
        """Return the piece of an id, as a text of its own; empty if only the model has that id."""
        text = self.name(index) if index < self.size else ""
        return Piece(index, text, 0, 0, role=self.role(index))

    def with_spans(self, encoding: tokenizers.Encoding, texts: Sequence[str]) -> list[Piece]:
        """Return the pieces of an encoding, with their words counted along the line."""
        pieces: list[Piece] = []
        word, before = -1, None
        for index, text, (start, end), segment, number, sequence in zip(
            encoding.ids, encoding.tokens, encoding.offsets, encoding.type_ids, encoding.word_ids,
            encoding.sequence_ids, strict=True,
        ):  # fmt: skip
            if number is None or (sequence, number) != before:
                word += 1
            if number is None and pieces:
                start = end = pieces[-1].end
            before = sequence, number
            pieces.append(Piece(index, text, start, end, word, segment, self.role(index)))
        return pieces


class BertReader(Answering, Reader):
    """A BERT with its tokenizer, as described in model/reader.py; threads may share it.

    `folder` holds the checkpoint, which `parity` loads again; `labels` are the classes of a
    classifier. Raises LoadingError if the tokenizer does not fit the model.
    """

    def __init__(
        self,
        model: Bert,
        tokenizer: PreTrainedTokenizerBase,
        folder: Path,
        *,
        title: str = "BERT",
        labels: Sequence[str] = (),
    ) -> None:
        pieces = WordPieces(tokenizer, model.config, folder)
        self.answers = AnswerReader(model.head_kind, pieces, dict(enumerate(labels)))
        self.predicts = model.head_kind == "masked words"
        missing = dict(NOT_FOR_BERT)
        if model.segments.num_embeddings == 1:
            missing["read a pair"] = ONE_SENTENCE
        if not self.predicts:
            missing["mask words"] = NO_HEAD
        self.model = model.eval()
        self.tokenizer = pieces
        self.title = title
        self.missing = missing
        self.shape = shape_of(model.config)
        self.folder = folder
        self.mask_id = pieces.mask_id

    @property
    def max_tokens(self) -> int:
        return self.model.config.max_positions

    def read(
        self,
        first: str,
        second: str | None = None,
        *,
        masked: Collection[int] = (),
        pad_to: int | None = None,
    ) -> list[Piece]:
        """Return the tokens that the model reads: [CLS] first [SEP], then second [SEP] if given.

        `masked` are positions in this list that become [MASK]. As in transformers, the name of a
        special token in the text is that token. A longer text is cut, from the longer sentence
        first; see `is_cut`. `pad_to` appends [PAD] until there are that many tokens. Raises
        ValueError if there is nothing to read, if the model does not take a second sentence, or for
        too much padding.
        """
        if not first.strip():
            raise ValueError("There is nothing to read: type a sentence.")
        second = self.second_text(second)
        pieces = self.tokenizer.mask(self.tokenizer.read(first, second), masked)
        return self.tokenizer.pad(pieces, pad_to)

    def is_cut(self, first: str, second: str | None = None) -> bool:
        return self.tokenizer.is_cut(first, second if (second or "").strip() else None)

    def tokenized(self, request: Request) -> Trace:
        """Return a trace with only its tokens; see `read` for the errors.

        The tokens are Pieces, and all sites of a trace the encoder's. The rows of its logits are
        those of the masked tokens, one of classes, or the beginning and the end of an answer.
        """
        if request.target is not None:
            raise ValueError(f"There is no decoder to read a target. {NO_DECODER}")
        read = self.read(request.text, request.second, masked=request.masked, pad_to=request.pad_to)
        return Trace(source_tokens=read)

    @torch.inference_mode()
    def read_together(self, traces: Sequence[Trace], run: Run) -> None:
        longest = max(len(trace.source_tokens) for trace in traces)
        lines = [self.tokenizer.pad(trace.source_tokens, longest) for trace in traces]
        ids, segments = zip(*map(self.model.inputs, lines), strict=True)
        self.model(torch.cat(ids), torch.cat(segments), run)

    def rerun(self, trace: Trace, run: Run) -> Tensor:
        """Run again over the tokens of a trace; return the logits (B, N, V) of the same rows.

        N is 0 if nothing is masked for a masked-word head, or if the checkpoint has no head.
        """
        states = self.model(*self.model.inputs(trace.source_tokens), run)
        if self.predicts:
            states = states[:, masked_positions(trace)]
        head = self.model.head
        logits = states.new_empty(len(states), 0, 0) if head is None else head(states)
        if run.trace is not None and logits.size(1):
            run.trace.logits = logits
        return logits

    def heads_to_stream(self, site: Site) -> Tensor:
        return output_maps(self.model.attention_at(site))

    @property
    def position_table(self) -> Tensor:
        return self.model.positions.table

    @property
    def vocabulary(self) -> Sequence[int]:
        return self.tokenizer.written_ids

    @torch.inference_mode()
    def trace_ids(self, ids: Sequence[int], edits: RunEdits | None = None) -> Trace:
        """Record a run over ids between [CLS] and [SEP]; see `Reader.trace_ids`."""
        first, *_, last = self.tokenizer.read("a")
        trace = Trace([first, *map(self.tokenizer.piece, ids), last])
        self.record(trace, edits)
        return trace

    def predict(
        self,
        first: str,
        second: str | None = None,
        *,
        edits: RunEdits | None = None,
        masked: Collection[int] = (),
        top: int = 10,
    ) -> dict[int, list[Prediction]]:
        """Return the most likely pieces for every [MASK] of a text, by position, best first.

        Raises ValueError if the checkpoint has no masked-word head.
        """
        if not self.predicts:
            raise ValueError(NO_HEAD)
        trace = self.trace(first, second=second, edits=edits, masked=masked)
        positions = masked_positions(trace)
        if not positions:
            return {}
        probabilities = trace.logits[0].softmax(dim=-1)  # (masks, V)
        likeliest = probabilities.topk(min(top, probabilities.size(-1)))
        return {
            position: [
                Prediction(
                    index, self.tokenizer.piece(index).text.lstrip("".join(SPACES)), probability
                )
                for index, probability in zip(indices, best, strict=True)
            ]
            for position, indices, best in zip(
                positions, likeliest.indices.tolist(), likeliest.values.tolist(), strict=True
            )
        }

    def parity(
        self, first: str = SAMPLE, second: str | None = None, *, pad_to: int | None = None
    ) -> Parity:
        """Compare with transformers' own BertModel, with eager attention, on a text.

        Loads the checkpoint a second time.
        """
        trace = self.trace(first, second=second, pad_to=pad_to)
        return measure_parity(self.model, trace, self.folder)
