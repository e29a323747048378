"""Computes step by step the attention that torch computes in one call.

`scaled_dot_product_attention` and `flex_attention` take queries, keys and values.
`multi_head_attention_forward`, which nn.MultiheadAttention and nn.Transformer call, also projects
them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from headlight.model.edits.attention import Further
from headlight.model.library.flow import CLOSED

MORE_THAN_TOKENS = (
    "This model's nn.MultiheadAttention attends to a key that is no token (bias_k or "
    "add_zero_attn), which cannot be shown. Build it without these options."
)
PARAMETERS = inspect.signature(F.multi_head_attention_forward)


class Projected(NamedTuple):
    """The inputs of attention: scores are `scale` times q.k, plus `bias`, where `visible`.

    `added` returns what a function of the model's own adds to scores; it takes and returns the
    scores' own axes.
    """

    query: Tensor  # (B, H, Q, D)
    key: Tensor  # (B, key heads, K, D)
    value: Tensor  # (B, key heads, K, D)
    visible: Tensor | None  # bool, broadcasts to (B, H, Q, K): True where a query may see a key
    bias: Tensor | None
    scale: float
    added: Callable[[Tensor], Tensor] | None = None


# Attends, with edits and a record. Returns heads in the axes of the queries, and the weights.
Attend = Callable[[Projected], tuple[Tensor, Tensor]]


def read_mask(mask: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return a mask as booleans, True for visible keys, and the bias that it also holds.

    The bias is what a mask of numbers adds to the scores of visible keys; None if that is 0.
    """
    if mask.dtype == torch.bool:
        return mask, None
    visible = mask > CLOSED
    bias = mask.masked_fill(~visible, 0)
    return visible, bias if bias.any() else None


def scaled_dot_product(
    attend: Attend,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Attend as `scaled_dot_product_attention` does, without dropout."""
    visible, bias = (None, None) if attn_mask is None else read_mask(attn_mask)
    if is_causal:
        cells = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool, device=query.device)
        visible = cells.tril()
    factor = query.size(-1) ** -0.5 if scale is None else scale
    return attend(Projected(query, key, value, visible, bias, factor))[0]


def flex(
    attend: Attend,
    attention: Callable[..., tuple[Tensor, Tensor, Tensor]],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_function: Callable[..., Tensor],
    block_mask: tuple,
    scale: float,
    *others: Any,
    **options: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    """Attend as `flex_attention` does; `attention` is the operator of torch that it calls.

    The operator's functions, of scores and of the mask, take one cell; here they are computed for
    all cells. Returns the heads, and the operator's two statistics of each row.
    """
    sizes = *query.shape[:-1], key.size(-2)
    given = query, key, value, score_function, block_mask, scale, *others
    _, sums, largest = attention(*given, **options)
    visible = for_cells(block_mask[-1], sizes, query.device)

    def added(scores: Tensor) -> Tensor:
        return for_cells(score_function, sizes, query.device, scores) - scores

    heads, _ = attend(Projected(query, key, value, visible, None, scale, added))
    return heads, sums, largest


def for_cells(
    function: Callable[..., Tensor], sizes: Sequence[int], device: torch.device, *scores: Tensor
) -> Tensor:
    """Compute a function of one cell for all cells: (B, H, Q, K).

    The function takes the numbers of the text, the head, the query and the key, and before them the
    cell's score if `scores` (B, H, Q, K) are given.
    """
    from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

    for axis in reversed(range(4)):
        axes = [0 if other == axis else None for other in range(4)]
        function = torch.vmap(function, in_dims=(*[0 for _ in scores], *axes))
    with TransformGetItemToIndex():  # lets the function index a tensor by a cell's numbers
        cells = function(*scores, *(torch.arange(size, device=device) for size in sizes))
    return cells.expand(*sizes)


@dataclass
class Scored(Further):
    """An edit of attention in which a function of the model's own changes the scores first."""

    added: Callable[[Tensor], Tensor]

    def bias_of(self, scores: Tensor) -> Tensor | None:
        bias = self.added(scores)
        own = self.edit.bias_of(scores + bias)
        bias = bias if own is None else bias + own
        return bias if bias.any() else None


def multi_head(attend: Attend, *args: object, **kwargs: object) -> tuple[Tensor, Tensor | None]:
    """Attend as `multi_head_attention_forward` does, without dropout.

    Returns outputs (Q, B, d_model), and weights (B, Q, K) or (B, H, Q, K) if the caller wants them.
    Raises ValueError if some keys are not tokens.
    """
    given = PARAMETERS.bind(*args, **kwargs)
    given.apply_defaults()
    options = given.arguments
    extra = ("bias_k", "bias_v", "static_k", "static_v")
    if options["add_zero_attn"] or any(options[name] is not None for name in extra):
        raise ValueError(MORE_THAN_TOKENS)
    heads = options["num_heads"]
    states = [options[name] for name in ("query", "key", "value")]  # (T, B, d_model)
    batched = states[0].dim() == 3
    states = states if batched else [part.unsqueeze(1) for part in states]
    if options["use_separate_proj_weight"]:
        matrices = [options[f"{name}_proj_weight"] for name in "qkv"]
    else:
        matrices = options["in_proj_weight"].chunk(3)
    biases = options["in_proj_bias"]
    biases = [None] * 3 if biases is None else biases.chunk(3)
    query, key, value = (
        F.linear(*part).unflatten(-1, (heads, -1)).permute(1, 2, 0, 3)  # (B, H, T, D)
        for part in zip(states, matrices, biases, strict=True)
    )
    visible, bias = masks_of(options["attn_mask"], options["key_padding_mask"], heads)
    parts = Projected(query, key, value, visible, bias, query.size(-1) ** -0.5)
    joined, weights = attend(parts)
    joined = joined.permute(2, 0, 1, 3).flatten(2)  # (Q, B, d_model)
    outputs = F.linear(joined, options["out_proj_weight"], options["out_proj_bias"])
    weights = weights if options["need_weights"] else None
    if weights is not None and options["average_attn_weights"]:
        weights = weights.mean(dim=1)
    if batched:
        return outputs, weights
    return outputs.squeeze(1), None if weights is None else weights.squeeze(0)


def masks_of(
    mask: Tensor | None, padding: Tensor | None, heads: int
) -> tuple[Tensor | None, Tensor | None]:
    """Return the masks of nn.MultiheadAttention as `read_mask` does.

    In masks of nn.MultiheadAttention, True closes a cell.
    """
    if mask is not None and mask.dim() == 3:  # (B * H, Q, K)
        mask = mask.unflatten(0, (-1, heads))
    if padding is not None:  # (B, K)
        padding = padding.reshape(-1, 1, 1, padding.size(-1))
    visible, bias = None, None
    for part in (mask, padding):
        if part is None:
            continue
        seen, added = read_mask(~part if part.dtype == torch.bool else part)
        visible = seen if visible is None else visible & seen
        if added is not None:
            bias = added if bias is None else bias + added
    return visible, bias
