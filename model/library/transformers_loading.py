"""Loads models of the transformers library so that attention can be recorded and edited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from headlight.model.library.attachment import (
    Attachment,
    PartlyRecordedError,
    attach,
    attach_code,
)
from headlight.model.library.checks import check_weights
from headlight.model.library.files import (
    count_numbers,
    counted,
    read_config,
    read_tokenizer,
    saved_dtype,
    weight_files,
)
from headlight.model.library.hub import LoadingError, Progress, fetch, first_line
from headlight.model.library.output_heads import OF_A_TEXT, OutputHead, classifier_head
from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.library.transformers_reader import TransformersReader
from headlight.model.memory import check_memory
from headlight.model.memory_layout import best_device, dtype_on

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

CANNOT_LOAD = (
    "The transformers library cannot load {name}: {why} Download or save it again, or choose "
    "another model."
)
LONGEST = 512  # the tokens read if a model's config names no limit, or a larger limit
SHORT_TEXT = "The cat sat on the mat because it was tired."  # a text on which attention is compared
BEYOND = 8  # how many tokens a compared text is longer than the largest window, chunk or block
# Entries of a config that give the width of a window, a chunk or a block in tokens.
SPANS = re.compile(
    r"\w*(window|chunk_size|chunk_length|block_size|radius|compress_rate|local_attention)\w*"
)
NO_SPANS = re.compile(r"\w*(layers|pattern|feed_forward)\w*")


def load_transformers_reader(
    name: str | Path, progress: Progress | None = None
) -> TransformersReader:
    """Load a model by its name on the Hugging Face Hub, or from a folder; onto the GPU if any.

    The model has the head that it was saved with. `progress` is called with the bytes downloaded.
    Raises LoadingError with a message that says what to do.
    """
    name, device = str(name), best_device()
    config = read_config(name)
    folder = fetch(name, progress=progress)
    dtype = dtype_on(device, saved_dtype(folder))
    check_memory(count_numbers(folder), name, device, dtype)
    tokenizer = read_tokenizer(folder, config)
    if getattr(config, "attention_type", None) == "block_sparse":
        # BigBird itself reads short texts with full attention
        config.attention_type = "original_full"
    head = saved_head(config)
    model = load_pretrained(folder, config, head, name, device, dtype)
    tokens = PieceTokenizer(tokenizer, longest_text(model), known_tokens(model))
    attached = attach_somehow(model, compared_texts(model, tokens), name)
    return TransformersReader(name, model, tokens, head_of(config, attached), attached)


def head_of(config: PreTrainedConfig, attached: Attachment) -> OutputHead | None:
    """Return the kind of output head of a model; None if its attention does not fit the head."""
    head = saved_head(config)
    # XLNet and XLM see the whole text, and do not predict what follows it.
    return None if head == "next token" and "decoder" not in attached.kinds else head


def attach_somehow(
    model: PreTrainedModel, texts: Sequence[Mapping[str, Tensor]], name: str
) -> Attachment:
    """Attach to a model's attention, or else to its softmax; raises LoadingError.

    On `texts`, a short one and longer ones, the recorded attention is compared with the library's.
    """
    short, *longer = texts
    try:
        return attach(model, short, name, *longer)
    except LoadingError as error:
        by_its_function = error
    try:
        return attach_code(model, short, name, *longer)
    except PartlyRecordedError:
        raise by_its_function from None


def saved_head(config: PreTrainedConfig) -> OutputHead | None:
    """Return the kind of head that a checkpoint was saved with, if any."""
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING

    if config.is_encoder_decoder:
        return "next token"
    heads: dict[str, OutputHead] = {
        "ForMaskedLM": "masked words",
        "ForSequenceClassification": classifier_head(config),
        "ForTokenClassification": "tags",
        "ForQuestionAnswering": "span",
        "ForCausalLM": "next token",
        "LMHeadModel": "next token",
        "ForConditionalGeneration": "next token",  # the class name of models for pictures and text
    }
    architecture = (config.architectures or [""])[0]
    if architecture.endswith("LMHeadModel") and type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        return "masked words"  # Flaubert calls its head for masked words LMHeadModel
    return next((head for end, head in heads.items() if architecture.endswith(end)), None)


def model_class(config: PreTrainedConfig, head: OutputHead | None) -> type:
    """Return the library's class that loads the model of a config with this head."""
    import transformers

    kinds = {
        None: transformers.AutoModel,
        "masked words": transformers.AutoModelForMaskedLM,
        **dict.fromkeys(OF_A_TEXT, transformers.AutoModelForSequenceClassification),
        "tags": transformers.AutoModelForTokenClassification,
        "span": transformers.AutoModelForQuestionAnswering,
        "next token": transformers.AutoModelForSeq2SeqLM
        if config.is_encoder_decoder
        else transformers.AutoModelForCausalLM,
    }
    return kinds[head]


def load_pretrained(
    folder: Path,
    config: PreTrainedConfig,
    head: OutputHead | None,
    name: str,
    device: torch.device,
    dtype: torch.dtype = torch.float32,
) -> PreTrainedModel:
    """Return the model in a folder, for inference with eager attention; raises LoadingError."""
    try:
        with counted(weight_files(folder)):
            model, report = model_class(config, head).from_pretrained(
                folder,
                config=config,
                attn_implementation="eager",
                dtype=dtype,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
    except Exception as error:  # errors of many kinds: no such class, other shapes, a broken file
        raise LoadingError(CANNOT_LOAD.format(name=name, why=first_line(error))) from error
    # A pooler is often not saved, and not shown unless classes are read from it.
    pooled = head in OF_A_TEXT
    needed = sorted(key for key in report["missing_keys"] if pooled or "pooler" not in key)
    if needed:
        raise LoadingError(
            f"The weights of {name} lack {len(needed)} tensors, such as {needed[0]}. Download "
            "or save it again, or choose another model."
        )
    settings = model.config.get_text_config()
    if pooled and settings.pad_token_id is None:
        # without a padding id, a decoder with a classifier head refuses batches
        settings.pad_token_id = -1
    check_weights(model)
    return model.to(device).eval().requires_grad_(False)


def known_tokens(model: PreTrainedModel) -> int | None:
    """Return the number of tokens that a model has embeddings for; None if unknown."""
    try:
        return getattr(model.get_input_embeddings(), "num_embeddings", None)
    except (AttributeError, NotImplementedError):  # raised if the model's embeddings are no table
        return None


def longest_text(model: PreTrainedModel) -> int:
    """Return the most tokens of a text that the model is given to read."""
    config = model.config.get_text_config()
    named = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", 0)
    for name, part in model.named_modules():
        # RoBERTa's positions count from the one after its padding_idx.
        padding = getattr(part, "padding_idx", None)
        if name.endswith("position_embeddings") and padding is not None:
            named -= padding + 1
    longest = min(named, LONGEST) if named > 0 else LONGEST  # XLNet names -1 for no limit
    return min(longest, dense_text(config) or LONGEST)


def dense_text(config: PreTrainedConfig) -> int | None:
    """Return the number of tokens up to which BigBird attends without blocks; None for others."""
    if not hasattr(config, "num_random_blocks"):
        return None
    return (5 + 2 * config.num_random_blocks) * config.block_size


def compared_texts(model: PreTrainedModel, tokens: PieceTokenizer) -> list[dict[str, Tensor]]:
    """Return the texts on which attention is compared, as a model's inputs.

    One is short. Another is longer than the model's windows, chunks and blocks, if it has some and
    can read such a text.
    """
    spans = spans_in(model.config.get_text_config().to_dict())
    met = [span for span in spans if 1 < span < tokens.max_tokens]
    texts = [inputs_of(model, tokens, SHORT_TEXT)]
    if met:
        length = min(max(met) + BEYOND, tokens.max_tokens)
        texts.append(inputs_of(model, tokens, " ".join([SHORT_TEXT] * length), length))
    return texts


def inputs_of(
    model: PreTrainedModel, tokens: PieceTokenizer, text: str, length: int | None = None
) -> dict[str, Tensor]:
    """Return `length` tokens of a text as inputs of a model; both sides get the same tokens."""
    ids = [piece.id for piece in tokens.read(text)][:length]
    inputs = {"input_ids": torch.tensor([ids], device=model.device)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = inputs["input_ids"]
    return inputs


def spans_in(value: object, counts: bool = False) -> Iterator[int]:
    """Yield the widths in tokens of all windows, chunks and blocks in a part of a config."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            spans = SPANS.fullmatch(str(name)) and not NO_SPANS.fullmatch(str(name))
            yield from spans_in(part, counts or bool(spans))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from spans_in(part, counts)
    elif counts and type(value) is int:
        yield value
