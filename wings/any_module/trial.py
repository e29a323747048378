"""Make the trial texts on which a module is opened, and refuse a module that fails on them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from headlight.model.library.checks import Differences
from headlight.model.library.foreign_code import IncompleteError
from headlight.model.library.meeting import UNCOMPILED, meeting
from headlight.model.library.observing import Observed
from headlight.wings.any_module.called import Called
from headlight.wings.any_module.proof import Trial

ROWS, SOURCE, TARGET = 2, 7, 5  # how many trial texts, tokens of a source, and tokens of a target
MOST = 40  # the most ids that are tried
NEAR = 1e-2  # the most that a text's weights may differ when it is read alone and in a batch


def table_sizes(model: nn.Module) -> list[int]:
    """Return the number of rows of each embedding table, such as those of ids and positions."""
    # If a model names its input embeddings, only they count: tables of token types are smaller.
    inputs = getattr(model, "get_input_embeddings", lambda: model)()
    return [part.num_embeddings for part in inputs.modules() if isinstance(part, nn.Embedding)]


def check_padding(padding: int, model: nn.Module) -> None:
    """Raise ValueError if `padding` is not an id that a model knows."""
    known = max(table_sizes(model), default=0)
    is_id = isinstance(padding, int) and not isinstance(padding, bool)
    if not is_id or not 0 <= padding < (known or math.inf):
        size = f", which knows {known:,} tokens, from 0" if known else ""
        raise ValueError(
            f"padding={padding!r} is no id of this model{size}: give the id that its texts are "
            "padded with, or leave padding= out."
        )


def trial_of(called: Called) -> list[Tensor]:
    """Return the ids (ROWS, T) of the trial's sources, and of its targets if the model reads both.

    Ids that the model's mask hides, such as padding, are left out. The model must have
    the hooks of `prepare`.
    """
    ids = torch.tensor(seen_ids(called), device=called.device)
    lengths = (SOURCE, TARGET)[: 1 + called.two_sided]
    rows = torch.arange(ROWS, device=called.device)[:, None]
    return [
        ids[(torch.arange(length, device=called.device) + rows) % len(ids)] for length in lengths
    ]


def seen_ids(called: Called) -> list[int]:
    """Return ids that a model's masks do not hide.

    These are the ids that, repeated as a text, have the fewest masked scores.
    """
    known = min(table_sizes(called.model), default=SOURCE)
    closed: dict[int, float] = {}
    fewest: list[int] = []
    for index in [*range(1, known), 0][:MOST]:
        if index == called.padding and known > 1:
            continue
        closed[index] = closed_cells(called, index)
        fewest = [each for each, count in closed.items() if count == min(closed.values())]
        if len(fewest) == ROWS + SOURCE - 1:
            break
    return fewest


def closed_cells(called: Called, index: int) -> float:
    """Return how many scores a model's masks hide in texts of one id; infinite if a call fails."""
    trial = Trial()
    lengths = (SOURCE, TARGET)[: 1 + called.two_sided]
    texts = [torch.full((ROWS, length), index, device=called.device) for length in lengths]
    try:
        with torch.no_grad(), meeting(trial):
            called.logits(*texts)
    except ValueError:  # the model cannot read this id
        return math.inf
    return trial.closed


def check_padded(called: Called, texts: Sequence[Tensor], outputs: Tensor, title: str) -> None:
    """Raise ValueError if padding after the texts of the trial changes a model's outputs.

    Nothing is checked if the texts are as long as the model can read.
    """
    if called.padding is None or called.max_tokens <= SOURCE:
        return
    padding = torch.full((ROWS, 1), called.padding, device=called.device)
    with UNCOMPILED:  # so that the model is not compiled for another length
        padded = called.logits(*(torch.cat([text, padding], dim=1) for text in texts))
    if outputs.dim() > 2 and padded.size(1) == outputs.size(1) + 1:
        padded = padded[:, :-1]
    try:
        Differences.between(padded, outputs).checked(title)
    except ValueError as error:
        raise ValueError(
            f"{title} gives other results for a text if the padding {called.padding} follows it, "
            "so the model does not hide this id: leave padding= out, or give the id that its mask "
            "hides."
        ) from error


def misfit(
    title: str, observed: Observed, names: Mapping[nn.Module, str], why: IncompleteError
) -> str:
    """Return an error sentence on attention that fits into no layer, and on what to do."""
    number = why.numbers[0]
    name = names[observed.modules[number]] or title
    return (
        f"The attention of {title} does not fit its texts of {SOURCE} tokens, or {TARGET} of a "
        f"target. The weights (texts, heads, queries, keys) of {name} "
        f"{tuple(observed.records[number].weights.shape)} do not: {why.why}. Let kinds= tell which "
        "modules are encoder, decoder or cross, or look at this attention by `watch`."
    )


def together(
    title: str, observed: Observed, alone: Observed, names: Mapping[nn.Module, str]
) -> float:
    """Return the largest difference between a text's weights when it is read alone and in a batch.

    Raises ValueError if it is too large for a rounding error.
    """
    pairs = zip(observed.records, alone.records, strict=True)
    apart = [(one.weights[0] - other.weights[0]).abs().max().item() for one, other in pairs]
    largest = max(apart)
    if not largest <= NEAR:
        number = apart.index(largest)
        shape = tuple(observed.records[number].weights.shape)
        raise ValueError(
            f"The weights {shape} of {names[observed.modules[number]] or title} over a text change "
            f"by {largest:.2g} if another text is in the batch, so heads and texts cannot be told "
            "apart. Make the model read each text by itself, as in evaluation mode, or use `watch`."
        )
    return largest
