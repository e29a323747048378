"""Loading models of the transformers library so that attention can be recorded and changed."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from model.device import best_device
from model.library.answers import Head
from model.library.attachment import Attachment, attach
from model.library.files import check_files, read_config, read_tokenizer
from model.library.hub import CONFIG_FILE, LoadingError, Progress, fetch, first_line
from model.library.memory_needed import check_memory
from model.library.piece_tokenizer import PieceTokenizer
from model.library.softmax_attachment import attach_softmax
from model.library.transformers_reader import TransformersReader

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

LONGEST = 512  # tokens read if a model's config names no limit, or a larger one
MOST_FILLED = 2  # numbers of a model that one of its files can fill, as some layers share theirs
SPARE = 20_000_000  # numbers of a model that no file holds
CANNOT_LOAD = (
    "The transformers library cannot load {name}: {why} Download or save it again, or choose "
    "another model."
)
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
    numbers = check_files(folder, name)
    check_memory(numbers, name, device)
    tokenizer = read_tokenizer(folder, config)
    head = saved_head(config)
    check_size(config, head, numbers, name)
    model = load_model(folder, config, head, name).to(device).eval().requires_grad_(False)
    tokens = PieceTokenizer(tokenizer, longest_text(model), known_tokens(model))
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


def model_class(config: PreTrainedConfig, head: Head | None) -> type:
    """Return the class of the library that chooses the model of a config with this head."""
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


def check_size(config: PreTrainedConfig, head: Head | None, numbers: int, name: str) -> None:
    """Raise LoadingError if a config asks for more numbers than files with so many can fill.

    No memory is taken: the model is built of shapes alone. What the library computes itself, such
    as tables of positions, is counted too.
    """
    try:
        with torch.device("meta"):
            built = model_class(config, head).from_config(
                deepcopy(config), attn_implementation="eager", dtype=torch.float32
            )
    except Exception as error:  # of many kinds: no such class, numbers that do not fit each other
        raise LoadingError(CANNOT_LOAD.format(name=name, why=first_line(error))) from error
    asked = sum(part.numel() for part in (*built.parameters(), *built.buffers()))
    if asked > MOST_FILLED * numbers + SPARE:
        raise LoadingError(
            f"The {CONFIG_FILE} of {name} asks for {asked:,} numbers, but the weights are "
            f"{numbers:,}. Download or save it again, or choose another model."
        )


def load_model(
    folder: Path, config: PreTrainedConfig, head: Head | None, name: str
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


def longest_text(model: PreTrainedModel) -> int:
    """Return how many tokens of a text the model is given to read."""
    config = model.config.get_text_config()
    named = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", 0)
    for place, part in model.named_modules():
        # RoBERTa counts its positions from after that of padding.
        if place.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None:
            named -= part.padding_idx + 1
    return min(named or LONGEST, LONGEST)


def known_tokens(model: PreTrainedModel) -> int | None:
    """Return how many tokens a model has embeddings of; None if that is not known."""
    try:
        return model.get_input_embeddings().num_embeddings
    except (AttributeError, NotImplementedError):  # embeddings of another form
        return None


def short_inputs(model: PreTrainedModel, tokens: PieceTokenizer) -> dict[str, Tensor]:
    """Return a short text as a model takes it, for its decoder too if it has both."""
    ids = [piece.id for piece in tokens.read(SHORT_TEXT)]
    inputs = {"input_ids": torch.tensor([ids], device=model.device)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = inputs["input_ids"]
    return inputs
