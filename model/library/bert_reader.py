"""Text in, traces and answers out: the interface of BERT for pages and notebooks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from model.decoding.steps import Decoding
from model.decoding.strategies import Strategy
from model.library.answers import Answering, Answers, class_labels, masked
from model.library.bert import Bert, bert_config, build_bert
from model.library.checks import check_weights
from model.library.files import count_numbers, read_config, read_tokenizer, read_weights
from model.library.hub import Progress, fetch
from model.library.memory_needed import check_memory
from model.library.parity import Parity, measure_parity
from model.library.pieces import Piece
from model.library.word_pieces import WordPieces
from model.memory_layout import best_device
from model.reader import Ability, Shape
from model.stream import DecoderStream
from model.tokens import Token
from model.trace import Run, RunEdits, Site, Trace

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

NO_HEAD = (
    "This checkpoint was saved without the masked-word head, so it cannot predict words. Choose "
    "one that has it, such as google-bert/bert-base-uncased."
)
NO_DECODER = (
    "A BERT reads a text and does not write one. Choose a model with a decoder, such as the "
    "shipped ones."
)
NOT_FOR_BERT: Mapping[Ability, str] = {
    "move positions": "Positions are moved, shuffled and left out in this project's own models.",
    "add up logits": NO_DECODER,
    "compare words": "Words are compared by the embeddings of this project's own models.",
}
ONE_SENTENCE = "This model was trained on single sentences: give it one only."


class Prediction(NamedTuple):
    """A piece of the vocabulary, and its probability at a masked position."""

    id: int
    text: str
    probability: float


class BertReader(Answering):
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
        self.model = model.eval()
        self.folder = folder
        self.title = title
        self.tokenizer = WordPieces(tokenizer, model.config, folder)
        self.answers = Answers(model.head_kind, self.tokenizer, dict(enumerate(labels)))
        self.mask_id: int = self.tokenizer.mask_id
        layers, heads = model.config.encoder_layers, model.config.heads
        self.shape = Shape({"encoder": (layers, heads)}, model.config.max_positions)

    @property
    def max_tokens(self) -> int:
        """The number of tokens that the model can read, including special tokens."""
        return self.model.config.max_positions

    @property
    def takes_pairs(self) -> bool:
        """Whether the model can tell a second sentence from the first."""
        return self.model.segments.num_embeddings > 1

    @property
    def predicts(self) -> bool:
        """Whether the checkpoint has the masked-word head."""
        return self.answers.head == "masked words"

    @property
    def missing(self) -> Mapping[Ability, str]:
        """The abilities that it lacks, each with one sentence that says why."""
        reasons: dict[Ability, str] = {"write": NO_DECODER} | NOT_FOR_BERT
        reasons |= {} if self.takes_pairs else {"read a pair": ONE_SENTENCE}
        return reasons | ({} if self.predicts else {"mask words": NO_HEAD})

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
        if second and second.strip() and not self.takes_pairs:
            raise ValueError(ONE_SENTENCE)
        if pad_to is not None and pad_to > self.max_tokens:
            raise ValueError(f"Cannot pad to {pad_to} tokens: the model takes {self.max_tokens}.")
        return self.tokenizer.pad(self.tokenizer.read(first, second, masked), pad_to or 0)

    def is_cut(self, first: str, second: str | None = None) -> bool:
        return self.tokenizer.is_cut(first, second)

    def text(self, index: int) -> str:
        """Return a piece of the vocabulary by its id; empty if only the model has that id."""
        return self.tokenizer.text(index)

    @torch.inference_mode()
    def trace(
        self,
        text: str,
        target: str | None = None,
        *,
        second: str | None = None,
        masked: Collection[int] = (),
        pad_to: int | None = None,
        edits: RunEdits | None = None,
        sites: Collection[Site] | None = None,
    ) -> Trace:
        """Record every head while the model reads; see `read` for the arguments and errors.

        The tokens of the trace are Pieces, and all its sites the encoder's. The rows of its logits
        are those of the masked tokens, one of classes, or the beginning and the end of an answer.
        """
        trace = self.tokenized(text, target, second=second, masked=masked, pad_to=pad_to)
        trace.full = sites
        self.rerun(trace, Run(edits or {}, trace))
        return trace

    def tokenized(
        self,
        text: str,
        target: str | None = None,
        *,
        second: str | None = None,
        masked: Collection[int] = (),
        pad_to: int | None = None,
        edits: RunEdits | None = None,
    ) -> Trace:
        """Return a trace with only its tokens; see `Reader.tokenized`."""
        if target is not None:
            raise ValueError(f"There is no decoder to read a target. {NO_DECODER}")
        return Trace(source_tokens=self.read(text, second, masked=masked, pad_to=pad_to))

    @torch.inference_mode()
    def read_together(self, traces: Sequence[Trace], run: Run) -> None:
        """Run over a batch, without logits; see `Reader.read_together`."""
        longest = max(len(trace.source_tokens) for trace in traces)
        lines = [self.tokenizer.pad(trace.source_tokens, longest) for trace in traces]
        ids, segments = zip(*map(self.model.inputs, lines), strict=True)
        self.model(torch.cat(ids), torch.cat(segments), run)

    def rerun(self, trace: Trace, run: Run) -> Tensor:
        """Run again over the tokens of a trace; return the logits (B, N, V) of the same rows.

        N is 0 if nothing is masked for a masked-word head, or if the checkpoint has no head.
        """
        states = self.model(*self.model.inputs(trace.source_tokens), run)
        if self.model.head is None:
            logits = states.new_empty(len(states), 0, 0)
        elif self.predicts:
            logits = self.model.head(states[:, masked(trace)])
        else:
            logits = self.model.head(states)
        if run.trace is not None and logits.size(1):
            run.trace.logits = logits
        return logits

    def heads_to_stream(self, site: Site) -> Tensor:
        """Return the map from each head's output to the stream: (H, D, d_model)."""
        return self.model.attention_at(site).to_stream

    @property
    def vocabulary(self) -> Sequence[int]:
        return self.tokenizer.written_ids

    @torch.inference_mode()
    def trace_ids(self, ids: Sequence[int], edits: RunEdits | None = None) -> Trace:
        """Record a run over ids between [CLS] and [SEP]; see `Reader.trace_ids`."""
        if len(ids) > self.max_tokens - 2:
            raise ValueError(f"The model reads at most {self.max_tokens - 2} pieces.")
        first, *_, last = self.tokenizer.read("a", None, ())
        trace = Trace([first, *map(self.tokenizer.piece, ids), last])
        self.rerun(trace, Run(edits or {}, trace))
        return trace

    @property
    def unembedding(self) -> None:
        """None: a separate network lies between a BERT's last layer and its logits."""
        return None

    def decoder_stream(self, trace: Trace, edits: RunEdits, recorded: Trace) -> DecoderStream:
        """Raise ValueError: a BERT has no decoder."""
        raise ValueError(NO_DECODER)

    def write(
        self,
        text: str,
        strategy: Strategy = Strategy(),
        *,
        longest: int | None = None,
        forced: Sequence[int] = (),
        pad_to: int | None = None,
        edits: RunEdits | None = None,
    ) -> Decoding:
        """Raise ValueError: a BERT does not write."""
        raise ValueError(NO_DECODER)

    def begin(self, text: str) -> list[Token]:
        """Raise ValueError: a BERT does not write."""
        raise ValueError(NO_DECODER)

    @torch.inference_mode()
    def predictions(self, trace: Trace, top: int = 10) -> dict[int, list[Prediction]]:
        """Return the most likely pieces for every [MASK] of a trace, by position, best first.

        Raises ValueError if the checkpoint has no masked-word head.
        """
        places = masked(trace)
        probabilities = self.probabilities(trace, places)  # (masks, V)
        likeliest = probabilities.topk(min(top, probabilities.size(-1)))
        return {
            place: [
                Prediction(index, self.text(index), probability)
                for index, probability in zip(indices, probabilities, strict=True)
            ]
            for place, indices, probabilities in zip(
                places, likeliest.indices.tolist(), likeliest.values.tolist(), strict=True
            )
        }

    @torch.inference_mode()
    def probabilities(self, trace: Trace, places: Collection[int]) -> Tensor:
        """Return the probability of every piece of the vocabulary at these positions: (places, V).

        Raises ValueError if the checkpoint has no masked-word head.
        """
        if not self.predicts:
            raise ValueError(NO_HEAD)
        return self.model.head(trace.outputs["encoder"][0, list(places)]).softmax(dim=-1)

    def predict(
        self,
        first: str,
        second: str | None = None,
        *,
        edits: RunEdits | None = None,
        masked: Collection[int] = (),
        top: int = 10,
    ) -> dict[int, list[Prediction]]:
        """Return the most likely pieces for every [MASK] of a text; see `predictions`."""
        trace = self.trace(first, second=second, edits=edits, masked=masked)
        return self.predictions(trace, top)

    def parity(self, first: str, second: str | None = None, *, pad_to: int | None = None) -> Parity:
        """Compare with transformers' own BertModel, with eager attention, on a text.

        Loads the checkpoint a second time.
        """
        trace = self.trace(first, second=second, pad_to=pad_to)
        return measure_parity(self.model, trace, self.folder)


def load_bert(name: str | Path, progress: Progress | None = None) -> BertReader:
    """Load a BERT by its name on the Hugging Face Hub, or from a folder; onto the GPU if any.

    `progress` is called with the bytes downloaded. Raises LoadingError with a message that says
    what to do.
    """
    name = str(name)
    config = read_config(name)
    bert_config(config, name)  # refuses other models before their weights are fetched
    folder, device = fetch(name, progress=progress), best_device()
    check_memory(count_numbers(folder), name, device)
    tokenizer = read_tokenizer(folder, config)
    model = build_bert(config, read_weights(folder), name)
    check_weights(model)
    return BertReader(model.to(device), tokenizer, folder, title=name, labels=class_labels(config))
