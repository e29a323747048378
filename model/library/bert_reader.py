"""The reader of a BERT for pages and notebooks: it takes texts, and returns traces and answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import tokenizers
import torch
from torch import Tensor

from headlight.model.library.answers import AnswerReader, PieceReader, masked_positions
from headlight.model.library.bert import Bert
from headlight.model.library.files import read_config
from headlight.model.library.hub import LoadingError
from headlight.model.library.measuring import Parity, parity_on, read_texts
from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.library.pieces import SPACES, Piece, as_pieces
from headlight.model.library.transformers_loading import load_pretrained
from headlight.model.questions import Request
from headlight.model.reader import OTHER_WORDS
from headlight.model.shape import Ability, shape_of
from headlight.model.stream import output_maps
from headlight.model.tokens import Token
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
    "move positions": "The positions of a BERT cannot be changed here. Choose a model that writes, "
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
    """A BERT's tokenizer, which reads two texts as [CLS] first [SEP] second [SEP].

    A piece is shown by its name in the vocabulary, such as ##ing; each punctuation mark is a word.
    Raises LoadingError if the tokenizer in `folder` does not fit a model of this `config`.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, config: TransformerConfig, folder: Path
    ) -> None:
        super().__init__(tokenizer, config.max_positions, config.source_vocab_size)
        has_spans = tokenizer.is_fast and self.mask_id is not None
        same_padding = tokenizer.pad_token_id == config.pad_id
        if not has_spans or not same_padding or len(tokenizer) > self.known:
            raise LoadingError(
                f"The tokenizer in {folder} is not that of a BERT with {self.known:,} tokens of "
                f"which number {config.pad_id} is [PAD]. Save both from the same model, or choose "
                "another BERT, such as google-bert/bert-base-uncased."
            )

    def append(self, text: str, before: Sequence[Token], index: int) -> tuple[str, Piece]:
        return text, Piece(index, self.name(index), 0, 0, role=self.role(index))

    def with_spans(self, encoding: tokenizers.Encoding, texts: Sequence[str]) -> list[Piece]:
        """Return the pieces of an encoding; their words are numbered through both texts."""
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


class BertReader(PieceReader):
    """A BERT with its tokenizer, with the methods of model/reader.py; threads may share it.

    `folder` holds the checkpoint, which `parity` loads again; `labels` are the names of the classes
    if the model is a classifier.
    """

    def __init__(
        self,
        model: Bert,
        tokens: WordPieces,
        folder: Path,
        *,
        title: str = "BERT",
        labels: Sequence[str] = (),
    ) -> None:
        self.answers = AnswerReader(model.head_kind, tokens, dict(enumerate(labels)))
        self.missing = dict(NOT_FOR_BERT)
        if model.segments.num_embeddings == 1:
            self.missing["read a pair"] = ONE_SENTENCE
        if model.head_kind != "masked words":
            self.missing["mask words"] = NO_HEAD
        self.model, self.tokens = model.eval(), tokens
        self.title, self.folder = title, folder
        self.shape = shape_of(model.config)

    def tokenized(self, request: Request) -> Trace:
        """Return a trace with only its tokens; see `read` for the errors.

        The tokens are Pieces. After a run, all sites of the trace are the encoder's, and its logits
        have the rows of `AnswerReader.rows`.
        """
        if request.target is not None:
            raise ValueError(f"There is no decoder to read a target. {NO_DECODER}")
        read = self.read(request.text, request.second, masked=request.masked, pad_to=request.pad_to)
        return Trace(source_tokens=read)

    @torch.inference_mode()
    def read_together(self, traces: Sequence[Trace], run: Run) -> None:
        longest = max(len(trace.source_tokens) for trace in traces)
        lines = [self.tokens.pad(as_pieces(trace.source_tokens), longest) for trace in traces]
        self.model(*self.model.inputs(*lines), run)

    def rerun(self, trace: Trace, run: Run) -> Tensor:
        """Run again over the tokens of a trace; return the logits (B, N, V) as in the trace.

        N is 0 if a masked-word head gets no masked word, or if the checkpoint has no head.
        """
        states = self.model(*self.model.inputs(trace.source_tokens), run)
        if self.answers.head == "masked words":
            states = states[:, masked_positions(trace)]
        logits = self.model.logits(states)
        if run.trace is not None and logits.size(1):
            run.trace.logits = logits
        return logits

    def heads_to_stream(self, site: Site) -> Tensor:
        return output_maps(self.model.attention_at(site))

    @property
    def position_table(self) -> Tensor:
        return self.model.positions.table

    @torch.inference_mode()
    def trace_ids(self, ids: Sequence[int], edits: RunEdits | None = None) -> Trace:
        """Record a run over ids, with [CLS] before and [SEP] after them; see `Reader.trace_ids`."""
        trace = Trace(self.tokens.framed(ids))
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
        """Return the likeliest pieces for each [MASK] of a text, by its position, likeliest first.

        Raises ValueError if the checkpoint has no masked-word head.
        """
        if "mask words" in self.missing:
            raise ValueError(NO_HEAD)
        trace = self.trace(first, second=second, edits=edits, masked=masked)
        if trace.logits is None:
            return {}
        probabilities = trace.logits[0].softmax(dim=-1)  # (masks, V)
        best, likeliest = probabilities.topk(min(top, probabilities.size(-1)))
        return {
            position: [
                Prediction(index, self.tokens.name(index).lstrip("".join(SPACES)), probability)
                for index, probability in zip(indices.tolist(), row.tolist(), strict=True)
            ]
            for position, indices, row in zip(masked_positions(trace), likeliest, best, strict=True)
        }

    @torch.inference_mode()
    def parity(
        self, first: str = SAMPLE, second: str | None = None, *, pad_to: int | None = None
    ) -> Parity:
        """Compare with the transformers library's own BERT, with eager attention, on a text.

        The checkpoint is loaded a second time for this.
        """
        trace = self.trace(first, second=second, pad_to=pad_to)
        config, device = read_config(str(self.folder)), self.model.device
        theirs = load_pretrained(self.folder, config, None, self.title, device)
        ids, segments = self.model.inputs(trace.source_tokens)
        mask = ids != self.tokens.pad_id
        inputs = {"input_ids": ids, "token_type_ids": segments, "attention_mask": mask}
        (text,) = read_texts(theirs, [inputs], self.title)
        return parity_on(text, trace, trace.outputs["encoder"])
