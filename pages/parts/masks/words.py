"""The captions of the page Masks."""

from headlight.model.insight.masks import Method

MASK_WORDS = {
    "padding mask": (
        "**Padding mask** `(B, 1, 1, K)`: one row of keys for each sentence. The dimensions of "
        "size 1 are broadcast: every head and query sees the same keys, all except `<pad>`."
    ),
    "look-ahead mask": (
        "**Look-ahead mask** `(1, 1, Q, K)`: one triangle for all sentences and heads. A query "
        "sees itself and earlier tokens."
    ),
    "both": (
        "**Both** `(B, 1, Q, K)`: the decoder's own mask. A cell is open where both masks, "
        "broadcast to one shape, leave it open."
    ),
    "together": "Which cells are open if there are several masks. Masks that only lower scores "
    "close no cell. Cells that you click override all masks.",
    "library": (
        "Each drawing shows a mask on 64 tokens. Click it to use that mask on your sentence, with "
        "smaller sizes. The figures are for {length:,} tokens. A cell takes 2 · d multiplications "
        "in each head: d for its score, and d for its share of the value. Keys to keep: the most "
        "keys that later tokens still look at, over all steps; each takes 2 · d numbers in the "
        "cache for each head. What a token draws on: the tokens that reach it through all {layers} "
        "layers, counted on a text of {within}."
    ),
    "own": (
        "The pictures are the [masks] of this run on your text: filled cells are open. In bold are "
        "the layers that share a mask, followed by the mask that the configuration names."
    ),
    "as configured": " In every layer the run used the mask that the configuration names.",
    "idle": (
        "{mask}: this changes nothing on a text of {tokens}. Choose smaller numbers, or type a "
        "longer text."
    ),
    "empty": (
        "Query {queries} sees no key in {heads} of this layer. There the weights are all 0, and "
        "the head adds zeros to the residual stream."
    ),
    "flash": (
        "FlashAttention reads the [keys] in blocks that fit into the fastest memory. For each row "
        "it keeps the maximum so far, the sum of e^(score − maximum) and the output so far; where "
        "the maximum rises, both are multiplied by e^(old − new). At the end the output is divided "
        "by the sum, and is exactly that of the softmax. No row of [scores] or [weights] is ever "
        "stored; training computes them again. A GPU does this for many rows at once."
    ),
    "other than configured": (
        "{cells} of this run's mask differ from the mask that the configuration names. The picture "
        "shows the mask that the model's code used."
    ),
    "too wide": (
        "This is larger than your text, so it closes nothing here: type a longer text to see it."
    ),
    "click": "Click or tap a cell to close or open it in {heads}.",
    "edit": (
        "Crossed cells are closed; a ring marks cells that you changed. Drag a mouse over several "
        "cells, or use the arrow keys and space."
    ),
    "written": "A row's label: the token that is read, an arrow, and the token to write next.",
    "cheating": (
        "The decoder is trained to predict each token from those before it. Without the [mask] it "
        "sees the very token it is asked for: it learns to copy it, and finds a known target "
        "almost certain. That is cheating, because when it translates there is no next token to "
        "copy yet, and it has learned nothing else."
    ),
    "nothing to hide": (
        "Without padding the padding mask has nothing to hide, so nothing changes. Choose a length "
        "to pad to first, under More."
    ),
    "opened elsewhere": (
        "The change is in the encoder and in the cross-attention: there every token now looks at "
        "`<pad>` too. Here only the cells from `<pad>` to `<pad>` open, because the "
        "look-ahead mask closes everything to the right of a token."
    ),
    "look-ahead off": (
        "The decoder now sees the very token it is asked for, and yet finds it less likely: it was "
        "trained with the mask and never learned to use what it sees. The text that it writes "
        "changes little or not at all, since no later token exists while it is written."
    ),
    "pad to": "Appends `<pad>` tokens, so that there is something for the padding mask to hide.",
}

BLOCKING: dict[Method, str] = {
    "-inf": (
        "A blocked [score] becomes −∞, and its [weight] exactly 0. The other weights of the row "
        "still sum to 1; a query that may see nothing takes nothing. This is what the model does."
    ),
    "large negative": (
        "A billion is subtracted from every blocked [score]. The weights are the same, unless a "
        "whole row is blocked: then all its scores are lowered equally, and the softmax spreads "
        "the whole [weight] over blocked [keys]."
    ),
    "zero after": (
        "The softmax runs over all keys, then blocked [weights] are set to 0. Their share is lost: "
        "the rows no longer sum to 1, and blocked keys still affect the weights of the others."
    ),
}
