"""Other models of the transformers library, run by that library, and the weights of their heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from model.device import best_device
from model.library.hub import (
    LoadingError,
    Progress,
    fetch,
    first_line,
    read_config,
    read_tokenizer,
    weight_files,
)
from model.library.pieces import Piece, Role
from model.tokens import check_characters
from model.trace import Kind

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

LONGEST = 512  # tokens read if a model's config names no limit, or a larger one
WHY_NOT = (
    "This model runs in the transformers library, which gives the weights of its heads but has no "
    "place to change them. Masks and heads can be edited in the shipped model and in a BERT."
)


@dataclass(frozen=True)
class Attentions:
    """The weights of every head of a model on one text, by kind, and the tokens of both axes.

    As in a `Trace`, a decoder's rows are labelled with the tokens it *read*. A model without
    decoder has no target, one without encoder no source. The pieces' spans count characters of
    `source` and `target`.
    """

    weights: Mapping[Kind, Sequence[np.ndarray]]  # (H, Q, K) of each layer
    source: str = ""
    target: str = ""  # what the decoder wrote, or was given to read
    source_tokens: Sequence[Piece] = field(default=())
    target_tokens: Sequence[Piece] = field(default=())

    def query_tokens(self, kind: Kind) -> Sequence[Piece]:
        """Return the tokens whose queries are the rows of this kind's weights."""
        return self.source_tokens if kind == "encoder" else self.target_tokens

    def key_tokens(self, kind: Kind) -> Sequence[Piece]:
        """Return the tokens whose keys are the columns of this kind's weights."""
        return self.target_tokens if kind == "decoder" else self.source_tokens


class TransformersModel:
    """A model of the transformers library with its tokenizer, which threads may share."""

    takes_pairs = False  # of sentences

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.tokenizing = Lock()  # some tokenizers switch to the target's language and back

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Which kinds of attention the model has."""
        if self.model.config.is_encoder_decoder:
            return ("encoder", "decoder", "cross")
        return ("decoder",) if is_decoder(self.model.config) else ("encoder",)

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text the model is given to read."""
        config = self.model.config
        named = getattr(config, "max_position_embeddings", None) or getattr(
            config, "n_positions", 0
        )
        return min(named or LONGEST, LONGEST)

    @torch.inference_mode()
    def attentions(self, text: str, target: str | None = None) -> Attentions:
        """Return the weights of all heads while the model reads a text.

        An encoder-decoder reads `target` with its decoder, or without one what it writes itself,
        greedily, up to 64 tokens. Raises ValueError if there is nothing to read, or the model
        gives no weights.
        """
        if not text.strip():
            raise ValueError("There is nothing to read: type a sentence.")
        ids = self.encode(text=text)
        if not self.model.config.is_encoder_decoder:
            outputs = self.model(input_ids=ids, output_attentions=True)
            kind = self.kinds[0]
            side = "source" if kind == "encoder" else "target"
            written, pieces = self.written(ids[0].tolist())
            weights = {kind: stacked(outputs.attentions, len(pieces), len(pieces))}
            return Attentions(weights, **{side: written, f"{side}_tokens": pieces})
        read = self.decoder_ids(ids, target)
        outputs = self.model(input_ids=ids, decoder_input_ids=read, output_attentions=True)
        source, source_tokens = self.written(ids[0].tolist())
        target, target_tokens = self.written(read[0].tolist())
        sizes = len(source_tokens), len(target_tokens)
        weights: dict[Kind, np.ndarray] = {
            "encoder": stacked(outputs.encoder_attentions, sizes[0], sizes[0]),
            "decoder": stacked(outputs.decoder_attentions, sizes[1], sizes[1]),
            "cross": stacked(outputs.cross_attentions, sizes[1], sizes[0]),
        }
        return Attentions(weights, source, target, source_tokens, target_tokens)

    def encode(self, **texts: str) -> Tensor:
        """Return a text, or a `text_target`, as ids (1, T) on the model's device.

        A long one is cut at `max_tokens`, and keeps its end token if it has one.
        """
        for text in texts.values():
            check_characters(text)
        ids = self.ids(**texts)
        if len(ids) > self.max_tokens:
            end = ids[-1:] if ids[-1] in self.tokenizer.all_special_ids else []
            ids = ids[: self.max_tokens - len(end)] + end
        return torch.tensor([ids], device=self.model.device)

    def ids(self, **texts: str) -> list[int]:
        """Return the ids of all of a text, or of a `text_target`."""
        with self.tokenizing:
            return self.tokenizer(**texts)["input_ids"]

    def is_cut(self, **texts: str) -> bool:
        """Return whether there is more text, or `text_target`, than the model is given to read."""
        return len(self.ids(**texts)) > self.max_tokens

    def decoder_ids(self, source_ids: Tensor, target: str | None) -> Tensor:
        """Return what the decoder reads (1, T): the start token and the target, without its end."""
        if target is not None:
            labels = self.encode(text_target=target)
            return self.model.prepare_decoder_input_ids_from_labels(labels=labels)
        ids = self.model.generate(
            source_ids,
            attention_mask=torch.ones_like(source_ids),
            max_new_tokens=min(64, self.max_tokens - 1),
            num_beams=1,
            do_sample=False,
        )
        ends = self.model.generation_config.eos_token_id
        finished = ids.size(1) > 1 and ids[0, -1].item() in np.atleast_1d(ends)
        return ids[:, :-1] if finished else ids

    def written(self, ids: Sequence[int]) -> tuple[str, list[Piece]]:
        """Return the text of ids, and each id as a piece of it; a space begins a word.

        A piece without characters of its own, such as a space, shows its name in the vocabulary.
        """
        written_too = {self.tokenizer.unk_token_id, self.tokenizer.mask_token_id}
        special = set(self.tokenizer.all_special_ids) - written_too
        text, word, opened, pieces = "", -1, False, []
        for place, index in enumerate(ids):
            before = text
            text = self.decode([index for index in ids[: place + 1] if index not in special])
            shown = text[len(before) :].strip()
            start = len(text) - len(shown)
            goes_on = pieces and not pieces[-1].is_special and (opened or pieces[-1].end == start)
            if index in special or not shown or not goes_on:
                word += 1
            opened = not shown  # a space begins a word
            pieces.append(
                Piece(
                    index,
                    shown or self.tokenizer.convert_ids_to_tokens(index),
                    start,
                    len(text),
                    word=word,
                    role="special" if index in special else self.role(index),
                )
            )
        return text, pieces

    def role(self, index: int) -> Role:
        """Return what a token that stands for something written is."""
        names: dict[int, Role] = {
            self.tokenizer.unk_token_id: "unknown",
            self.tokenizer.mask_token_id: "mask",
        }
        return names.get(index, "written")

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, spaces as the tokenizer puts them."""
        return self.tokenizer.decode(ids, clean_up_tokenization_spaces=False)


def stacked(layers: Sequence[Tensor | None] | None, queries: int, keys: int) -> np.ndarray:
    """Stack what transformers returns for one text, (1, H, Q, K) a layer, to (layers, H, Q, K).

    Raises ValueError if a model gives no weights, or others than one for each pair of tokens.
    """
    shapes = {None if layer is None else tuple(layer.shape) for layer in layers or [None]}
    if len(shapes) != 1 or None in shapes or next(iter(shapes))[2:] != (queries, keys):
        raise ValueError(
            "This model does not give one weight of every head for each pair of tokens, so its "
            "attention cannot be drawn. Choose another model."
        )
    return torch.cat(list(layers)).float().cpu().numpy()


def is_decoder(config: PreTrainedConfig) -> bool:
    """Return whether a model without encoder looks back only, as GPT-2; BERT's kind can be both."""
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING

    looks_back = type(config) in MODEL_FOR_CAUSAL_LM_MAPPING
    return looks_back and (type(config) not in MODEL_FOR_MASKED_LM_MAPPING or config.is_decoder)


def load_transformers_model(
    name: str | Path, progress: Progress | None = None
) -> TransformersModel:
    """Load a model by its name on the Hugging Face Hub, or from a folder; on the GPU if any.

    `progress` is called with the bytes downloaded. Raises LoadingError, which says what to do.
    """
    from transformers import AutoModel, AutoModelForSeq2SeqLM

    name = str(name)
    config = read_config(name)
    folder = fetch(name, progress=progress)
    weight_files(folder)
    tokenizer = read_tokenizer(folder)
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModel
    try:
        model, report = kind.from_pretrained(
            folder,
            attn_implementation="eager",
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except Exception as error:  # of many kinds: no such class, other shapes, a broken file
        raise LoadingError(
            f"The transformers library cannot load {name}: {first_line(error)} Download or save "
            "it again, or choose another model."
        ) from error
    # A pooler is not part of what is shown, and often not saved.
    if missing := sorted(key for key in report["missing_keys"] if "pooler" not in key):
        raise LoadingError(
            f"The weights of {name} lack {len(missing)} tensors, such as {missing[0]}. Download "
            "or save it again, or choose another model."
        )
    return TransformersModel(model.to(best_device()), tokenizer)
