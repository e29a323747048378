"""Loading models of the transformers library so that attention can be recorded and edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from model.library.answers import OutputHead
from model.library.attachment import Attachment, PartlyRecordedError, attach
from model.library.checks import check_weights
from model.library.files import count_numbers, read_config, read_tokenizer
from model.library.hub import LoadingError, Progress, fetch, first_line
from model.library.memory_needed import check_memory
from model.library.piece_tokenizer import PieceTokenizer
from model.library.softmax_attachment import attach_softmax
from model.library.text_lengths import compared_texts, longest_text
from model.library.transformers_reader import TransformersReader
from model.memory_layout import best_device

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

CANNOT_LOAD = (
    "The transformers library cannot load {name}: {why} Download or save it again, or choose "
    "another model."
)


def load_transformers_reader(
    name: str | Path, progress: Progress | None = None
) -> TransformersReader:
    """Load a model by its name on the Hugging Face Hub, or from a folder; onto the GPU if any.

    It has the head that it was saved with. `progress` is called with the bytes downloaded. Raises
    LoadingError with a message that says what to do.
    """
    name, device = str(name), best_device()
    config = read_config(name)
    folder = fetch(name, progress=progress)
    check_memory(count_numbers(folder), name, device)
    tokenizer = read_tokenizer(folder, config)
    if getattr(config, "attention_type", None) == "block_sparse":
        config.attention_type = "original_full"  # as BigBird does over texts that are short for it
    head = saved_head(config)
    model = load_model(folder, config, head, name).to(device).eval().requires_grad_(False)
    check_weights(model)
    tokens = PieceTokenizer(tokenizer, longest_text(model), known_tokens(model))
    attached = attach_somehow(model, compared_texts(model, tokens), name)
    if head == "next token" and "decoder" not in attached.kinds:
        head = None  # XLNet and XLM see the whole text, and do not predict what follows it
    return TransformersReader(name, model, tokens, head, attached)


def attach_somehow(
    model: PreTrainedModel, texts: Sequence[Mapping[str, Tensor]], name: str
) -> Attachment:
    """Attach to a model's attention, or else to its softmax; raises LoadingError.

    `texts` are a short one and longer ones, on which it is compared with the library's own.
    """
    short, *longer = texts
    try:
        return attach(model, short, name, *longer)
    except LoadingError as error:
        by_its_function = error
    try:
        return attach_softmax(model, short, name, *longer)
    except PartlyRecordedError:
        raise by_its_function from None


def saved_head(config: PreTrainedConfig) -> OutputHead | None:
    """Return the kind of head that a checkpoint was saved with, if any."""
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING

    if config.is_encoder_decoder:
        return "next token"
    heads: dict[str, OutputHead] = {
        "ForMaskedLM": "masked words",
        "ForSequenceClassification": "class",
        "ForQuestionAnswering": "span",
        "ForCausalLM": "next token",
        "LMHeadModel": "next token",
        "ForConditionalGeneration": "next token",  # of models for pictures and text
    }
    architecture = (config.architectures or [""])[0]
    if architecture.endswith("LMHeadModel") and type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        return "masked words"  # as Flaubert calls its head of these
    return next((head for end, head in heads.items() if architecture.endswith(end)), None)


def model_class(config: PreTrainedConfig, head: OutputHead | None) -> type:
    """Return the library's class that loads the model of a config with this head."""
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
    return kinds[head]


def load_model(
    folder: Path, config: PreTrainedConfig, head: OutputHead | None, name: str
) -> PreTrainedModel:
    """Return the model in a folder, with eager attention; raises LoadingError."""
    try:
        model, report = model_class(config, head).from_pretrained(
            folder,
            config=config,
            attn_implementation="eager",
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except Exception as error:  # of many kinds: no such class, other shapes, a broken file
        raise LoadingError(CANNOT_LOAD.format(name=name, why=first_line(error))) from error
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


def known_tokens(model: PreTrainedModel) -> int | None:
    """Return the number of tokens that a model has embeddings for; None if unknown."""
    try:
        return model.get_input_embeddings().num_embeddings
    except (AttributeError, NotImplementedError):  # embeddings of another form
        return None
