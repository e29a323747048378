"""Loading models of the transformers library so that attention can be recorded and changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from model.device import best_device
from model.library.answers import Head
from model.library.attachment import Attachment, attach
from model.library.hub import (
    LoadingError,
    Progress,
    fetch,
    first_line,
    read_config,
    read_tokenizer,
    weight_files,
)
from model.library.memory_needed import check_memory
from model.library.piece_tokenizer import PieceTokenizer
from model.library.softmax_attachment import attach_softmax
from model.library.transformers_reader import TransformersReader

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

LONGEST = 512  # tokens read if a model's config names no limit, or a larger one
SHORT_TEXT = "The cat sat on the mat because it was tired."  # that attention is compared on


def load_transformers_reader(
    name: str | Path, progress: Progress | None = None
) -> TransformersReader:
    """Load a model by its name on the Hugging Face Hub, or from a folder; on the GPU if any.

    It has the head that it was saved with. `progress` is called with the bytes downloaded. Raises
    LoadingError, which says what to do.
    """
    name, device = str(name), best_device()
    config = read_config(name)
    folder = fetch(name, progress=progress)
    check_memory(weight_files(folder), name, device)
    tokenizer = read_tokenizer(folder)
    head = saved_head(config)
    model = load_model(folder, config, head, name).to(device).eval().requires_grad_(False)
    tokens = PieceTokenizer(tokenizer, longest_text(model))
    attached = attach_somehow(model, short_inputs(model, tokens), name)
    if head == "next token" and "decoder" not in attached.kinds:
        head = None  # XLNet and XLM see the whole text, and do not say what follows it
    return TransformersReader(name, model, tokens, head, attached)


def attach_somehow(model: PreTrainedModel, inputs: Mapping[str, Tensor], name: str) -> Attachment:
    """Attach to a model's attention, or else to its softmax; raises LoadingError."""
    try:
        return attach(model, inputs, name)
    except LoadingError:
        return attach_softmax(model, inputs, name)


def saved_head(config: PreTrainedConfig) -> Head | None:
    """Return what the head says that a checkpoint was saved with; None if there is no such head."""
    if config.is_encoder_decoder:
        return "next token"
    heads: dict[str, Head] = {
        "ForMaskedLM": "masked words",
        "ForSequenceClassification": "class",
        "ForQuestionAnswering": "span",
        "ForCausalLM": "next token",
        "LMHeadModel": "next token",
        "ForConditionalGeneration": "next token",  # of models for pictures and text
    }
    architecture = (config.architectures or [""])[0]
    return next((head for end, head in heads.items() if architecture.endswith(end)), None)


def load_model(
    folder: Path, config: PreTrainedConfig, head: Head | None, name: str
) -> PreTrainedModel:
    """Return the model in a folder, with eager attention; raises LoadingError."""
    import transformers

    kinds = {
        None: transformers.AutoModel,
        "masked words": transformers.AutoModelForMaskedLM,
        "class": transformers.AutoModelForSequenceClassification,
        "span": transformers.AutoModelForQuestionAnswering,
        "next token": transformers.AutoModelForSeq2SeqLM
        if config.is_encoder_decoder
        else transformers.AutoModelForCausalLM,
    }
    try:
        model, report = kinds[head].from_pretrained(
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
    # A pooler is often not saved, and not shown unless classes are read from it.
    needed = sorted(key for key in report["missing_keys"] if head == "class" or "pooler" not in key)
    if needed:
        raise LoadingError(
            f"The weights of {name} lack {len(needed)} tensors, such as {needed[0]}. Download "
            "or save it again, or choose another model."
        )
    settings = model.config.get_text_config()
    if head == "class" and settings.pad_token_id is None:
        settings.pad_token_id = -1  # or a decoder with classes reads no batch
    return model


def longest_text(model: PreTrainedModel) -> int:
    """Return how many tokens of a text the model is given to read."""
    config = model.config.get_text_config()
    named = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", 0)
    for place, part in model.named_modules():
        # RoBERTa counts its positions from after that of padding.
        if place.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None:
            named -= part.padding_idx + 1
    return min(named or LONGEST, LONGEST)


def short_inputs(model: PreTrainedModel, tokens: PieceTokenizer) -> dict[str, Tensor]:
    """Return a short text as a model takes it, for its decoder too if it has both."""
    ids = [piece.id for piece in tokens.read(SHORT_TEXT)]
    inputs = {"input_ids": torch.tensor([ids], device=model.device)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = inputs["input_ids"]
    return inputs
