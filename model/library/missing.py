"""Say which abilities a model of the transformers library lacks here, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headlight.model.library.piece_tokenizer import NO_PADDING
from headlight.model.reader import OTHER_WORDS
from headlight.model.shape import Ability

if TYPE_CHECKING:
    from headlight.model.library.transformers_reader import TransformersReader

NO_STEPS = (
    "In the transformers library, this model gives other outputs if it writes step by step than if "
    "it reads the whole text at once, so no steps can be shown. Choose another model that writes."
)
NO_MOVES = (
    "Where this model uses its positions is not known well enough, so they cannot be changed. "
    "Choose a model with rotary positions, or with a learned table, such as openai-community/gpt2."
)
NO_SUM = (
    "The logits of this model are no plain sum of its parts, because norms after its blocks, or "
    "other steps, change the sum. Choose a pre-norm model, such as openai-community/gpt2."
)
NO_STREAM = (
    "The stream of this model is no plain sum of what its blocks add, because norms after them, or "
    "other steps, change the sum. Choose a pre-norm model, such as openai-community/gpt2."
)
ENCODERS_STREAM = (
    "Only a decoder's stream is recorded in models of the transformers library, and this one has "
    "no decoder that writes."
)


def what_is_missing(reader: TransformersReader) -> dict[Ability, str]:
    """Return the abilities that a model lacks, each with a sentence that says why."""
    missing: dict[Ability, str] = {
        "own layers": "This model runs in the transformers library, not in layers made here.",
        "compare words": OTHER_WORDS,
    }
    if not reader.attached.moves:
        missing["move positions"] = NO_MOVES
    if reader.answers.head != "next token":
        missing["write"] = "This model has no head that writes."
    elif not reader.attached.writes:
        missing["write"] = NO_STEPS
    if not reader.reads_source or not reader.tokens.takes_pairs:
        missing["read a pair"] = "This model reads one text at a time."
    if reader.tokens.pad_id is None:
        missing["pad"] = NO_PADDING
    if reader.answers.head != "masked words" or reader.tokens.mask_id is None:
        missing["mask words"] = "This model has no [MASK] token that it has learned to fill in."
    if any(reader.heads_to_stream(site) is None for site in reader.shape.sites):
        missing["add up heads"] = (
            "What a head of this model adds to the stream is not known, because its output "
            "projection has an unknown form."
        )
    if reader.attached.decoder is None:
        missing["show the stream"] = NO_STREAM if reader.reads_target else ENCODERS_STREAM
    if reader.attached.decoder is None or "write" in missing:
        missing["add up logits"] = missing.get("write", NO_SUM)
    return {**missing, **reader.attached.missing}
