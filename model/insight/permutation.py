"""The encoder knows the order of its tokens only by their positions."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.model.tokens import Token
from headlight.model.trace import PositionEdit, Run
from headlight.model.transformer import Transformer
from headlight.model.translator import Translator


@dataclass(frozen=True)
class Shuffle:
    """The tokens of a sentence in another order, and its effect on the encoder's outputs."""

    tokens: list[Token]  # in the new order
    order: tuple[int, ...]  # the old position of each token
    without_positions: Tensor  # (S,): the largest difference of each token's output
    with_positions: Tensor  # (S,)
    largest_output: float


def shuffled(length: int, seed: int) -> tuple[int, ...]:
    """Return the numbers 0 to length - 1 in another order, the same for the same seed.

    A single number has no other order.
    """
    order = torch.arange(length)
    generator = torch.Generator().manual_seed(seed)
    while length > 1 and torch.equal(order, torch.arange(length)):
        order = torch.randperm(length, generator=generator)
    return tuple(order.tolist())


@torch.inference_mode()
def permutation_differences(
    model: Transformer, source_ids: Tensor, order: Sequence[int], edit: PositionEdit
) -> Tensor:
    """Return how shuffling the tokens changes the encoder's outputs, apart from their order.

    `source_ids` (1, S) are read in their order and in the given one, with the same positions. The
    two outputs of each token are compared by the largest difference of their numbers (S,), in the
    new order. All are 0, except for rounding, if the encoder is permutation equivariant, as it is
    without positions.
    """
    run = Run({"encoder": edit})
    plain = model.encode(source_ids, run)[0]  # (S, d_model)
    permuted = model.encode(source_ids[:, list(order)], run)[0]  # (S, d_model)
    return (permuted - plain[list(order)]).abs().amax(dim=-1)


@torch.inference_mode()
def shuffle_words(translator: Translator, sentence: str, seed: int) -> Shuffle:
    """Shuffle the words of a sentence; the end token stays last."""
    tokens = translator.read(sentence)
    order = (*shuffled(len(tokens) - 1, seed), len(tokens) - 1)
    ids = translator.ids(tokens)
    without, trained = (
        permutation_differences(translator.model, ids, order, edit)
        for edit in (PositionEdit(off=True), PositionEdit())
    )
    largest = translator.model.encode(ids).abs().max().item()
    return Shuffle([tokens[position] for position in order], order, without, trained, largest)
