"""Text in, traces and masked-word predictions out: what pages and notebooks call for BERT."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import tokenizers
import torch
from torch import Tensor

from model.device import best_device
from model.library.bert import Bert, bert_config, build_bert
from model.library.hub import (
    LoadingError,
    Progress,
    fetch,
    read_config,
    read_tokenizer,
    read_weights,
)
from model.library.pieces import Piece, Role
from model.tokens import check_characters
from model.trace import Kind, Run, RunEdits, Trace

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


NO_HEAD = (
    "This checkpoint was saved without the masked-word head, so it cannot predict words. Choose "
    "one that has it, such as google-bert/bert-base-uncased."
)


class Prediction(NamedTuple):
    """A piece of the vocabulary, and how likely the model finds it in a masked place."""

    id: int
    text: str
    probability: float


class Parity(NamedTuple):
    """The largest absolute differences from transformers' BertModel on one text."""

    states: float  # of the last hidden states
    weights: float  # of the weights of every head in every layer


class BertReader:
    """A BERT with its tokenizer; holds no state of a call, so threads may share it.

    `folder` holds the checkpoint, which `parity` loads again. Raises LoadingError if the
    tokenizer does not fit the model.
    """

    kinds: tuple[Kind, ...] = ("encoder",)  # of attention

    def __init__(self, model: Bert, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
        self.model = model.eval()
        self.folder = folder
        if not tokenizer.is_fast or None in (tokenizer.mask_token_id, tokenizer.pad_token_id):
            raise LoadingError(
                f"The tokenizer in {folder} is not one of BERT's word pieces with [MASK] and "
                "[PAD]. Choose another BERT, such as google-bert/bert-base-uncased."
            )
        # Its own copy: cutting long texts is a setting of the tokenizer.
        self.backend = tokenizers.Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        self.backend.no_padding()
        self.backend.enable_truncation(model.config.max_positions)
        if self.backend.get_vocab_size() > model.config.source_vocab_size:
            raise LoadingError(
                f"The tokenizer in {folder} has {self.backend.get_vocab_size()} tokens, but the "
                f"model knows {model.config.source_vocab_size}. Save both from the same model."
            )
        if tokenizer.pad_token_id != model.config.pad_id:
            raise LoadingError(
                f"The tokenizer in {folder} pads with the token {tokenizer.pad_token_id}, but the "
                f"model with {model.config.pad_id}. Save both from the same model."
            )
        self.mask_id: int = tokenizer.mask_token_id
        self.roles: dict[int, Role] = {
            tokenizer.unk_token_id: "unknown",
            tokenizer.mask_token_id: "mask",
            tokenizer.pad_token_id: "special",
            tokenizer.cls_token_id: "special",
            tokenizer.sep_token_id: "special",
        }

    @property
    def max_tokens(self) -> int:
        """How many tokens the model can read, special tokens included."""
        return self.model.config.max_positions

    @property
    def takes_pairs(self) -> bool:
        """Whether the model can tell a second sentence from the first."""
        return self.model.segments.num_embeddings > 1

    @property
    def predicts(self) -> bool:
        """Whether the checkpoint has the masked-word head."""
        return self.model.head is not None

    def read(
        self,
        first: str,
        second: str | None = None,
        *,
        masked: Collection[int] = (),
        pad_to: int | None = None,
    ) -> list[Piece]:
        """Return what the model reads: [CLS] first [SEP], and second [SEP] if there is a second.

        `masked` are places in this list where [MASK] stands instead. As in transformers, a special
        token's name in the text is that token. A longer text is cut, from the longer sentence
        first; see `is_cut`. `pad_to` appends [PAD] until there are that many tokens. Raises
        ValueError for nothing to read, a second sentence too many, or too much padding.
        """
        if not first.strip():
            raise ValueError("There is nothing to read: type a sentence.")
        if second and second.strip() and not self.takes_pairs:
            raise ValueError("This model was trained on single sentences: give it one only.")
        if pad_to is not None and pad_to > self.max_tokens:
            raise ValueError(f"Cannot pad to {pad_to} tokens: the model takes {self.max_tokens}.")
        pieces = self.pieces(self.encode(first, second))
        for place in masked:
            pieces[place] = replace(
                pieces[place], id=self.mask_id, text=self.backend.id_to_token(self.mask_id),
                role="mask",
            )  # fmt: skip
        return pieces + self.padding(pieces[-1], (pad_to or 0) - len(pieces))

    def padding(self, last: Piece, count: int) -> list[Piece]:
        """So many [PAD] after the last token of a line, in the first segment as in transformers."""
        index = self.model.config.pad_id
        text = self.backend.id_to_token(index)
        return [
            Piece(index, text, last.end, last.end, last.word + 1 + place, 0, "special")
            for place in range(count)
        ]

    def is_cut(self, first: str, second: str | None = None) -> bool:
        """Return whether there is more text than the model can read."""
        return bool(self.encode(first, second).overflowing)

    def encode(self, first: str, second: str | None) -> tokenizers.Encoding:
        """Return the tokenizers library's encoding of one sentence, or of two."""
        for text in (first, second or ""):
            check_characters(text)
        return self.backend.encode(first, second if second and second.strip() else None)

    def pieces(self, encoding: tokenizers.Encoding) -> list[Piece]:
        """Return the tokens of an encoding, with their words counted along the line."""
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
            role = self.roles.get(index, "written")
            pieces.append(Piece(index, text, start, end, word, segment, role))
        return pieces

    @torch.inference_mode()
    def trace(
        self,
        first: str,
        second: str | None = None,
        *,
        edits: RunEdits | None = None,
        masked: Collection[int] = (),
        pad_to: int | None = None,
    ) -> Trace:
        """Record every head while the model reads; see `read` for the arguments and errors.

        The tokens of the trace are Pieces, and all its sites the encoder's.
        """
        trace = Trace(source_tokens=self.read(first, second, masked=masked, pad_to=pad_to))
        self.model(*self.model.inputs(trace.source_tokens), Run(edits or {}, trace))
        return trace

    @torch.inference_mode()
    def predictions(self, trace: Trace, top: int = 10) -> dict[int, list[Prediction]]:
        """Return the most likely pieces for every [MASK] of a trace, by its place, best first.

        Raises ValueError if the checkpoint has no masked-word head.
        """
        places = [i for i, piece in enumerate(trace.source_tokens) if piece.id == self.mask_id]
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
        """Return how likely every piece of the vocabulary is at places of a trace: (places, V).

        Raises ValueError if the checkpoint has no masked-word head.
        """
        if self.model.head is None:
            raise ValueError(NO_HEAD)
        return self.model.head(trace.outputs["encoder"][0, list(places)]).softmax(dim=-1)

    def text(self, index: int) -> str:
        """Return a piece of the vocabulary by its id; empty if only the model has that id."""
        return self.backend.id_to_token(index) or ""

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
        return self.predictions(self.trace(first, second, edits=edits, masked=masked), top)

    @torch.inference_mode()
    def parity(self, first: str, second: str | None = None, *, pad_to: int | None = None) -> Parity:
        """Compare with transformers' own BertModel, with eager attention, on a text.

        Loads the checkpoint a second time.
        """
        from transformers import BertModel

        theirs = BertModel.from_pretrained(
            self.folder,
            add_pooling_layer=False,
            attn_implementation="eager",
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
        )
        trace = self.trace(first, second, pad_to=pad_to)
        ids, segments = self.model.inputs(trace.source_tokens)
        outputs = theirs.to(self.model.device).eval()(
            ids,
            attention_mask=ids != self.model.config.pad_id,
            token_type_ids=segments,
            output_attentions=True,
        )
        their_weights = torch.cat(outputs.attentions)  # (layers, H, S, S)
        return Parity(
            states=(trace.outputs["encoder"] - outputs.last_hidden_state).abs().max().item(),
            weights=(trace.weights("encoder") - their_weights).abs().max().item(),
        )


def load_bert(name: str | Path, progress: Progress | None = None) -> BertReader:
    """Load a BERT by its name on the Hugging Face Hub, or from a folder; on the GPU if any.

    `progress` is called with the bytes downloaded. Raises LoadingError, which says what to do.
    """
    name = str(name)
    config = read_config(name)
    bert_config(config, name)  # refuses other models before their weights are fetched
    folder = fetch(name, progress=progress)
    model = build_bert(config, read_weights(folder), name)
    tokenizer = read_tokenizer(folder)
    return BertReader(model.to(best_device()), tokenizer, folder)
