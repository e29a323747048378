"""The texts on the page Inside a head."""

STEPS = {  # title and words of each step
    "input": (
        "What is read",
        "Each strip is a vector, and each cell in it a number. A token begins as its embedding, "
        "scaled by √d_model, plus its position. The [head] in layer {layer} reads the vector "
        "after all blocks before it; a pre-norm model first applies a layer norm.",
    ),
    "projections": (
        "Query, key and value",
        "The **query** says what the token that looks is looking for. The **key** says what the "
        "token looked at can be found by, and the **value** is what that token hands over. Three "
        "linear maps of this head, each a part of a larger matrix, compute them from the input.",
    ),
    "dot": (
        "The dot product",
        "Query and [key] are multiplied number by number: the last strip has the products, and "
        "their sum is the dot product. The largest products are framed.",
    ),
    "scale": (
        "The scaling",
        "The dot product is divided by the square root of the head's width. Otherwise it would "
        "grow with the width, and the softmax would give almost all weight to one [key].",
    ),
    "mask": (
        "The mask",
        "The first row has this query's [score] with each [key], the second the same scores after "
        "the [mask]. Where it blocks a key, the score becomes −∞, and the [weight] exactly 0.",
    ),
    "softmax": (
        "The softmax",
        "From row to row, this query's [scores] become its [weights] over all [keys]: the largest "
        "score is subtracted, which changes no weight, and each exponential is divided by the sum "
        "of all.",
    ),
    "values": (
        "The weighted sum of values",
        "Each strip is the [value] of one token times its [weight]. The last strip is the sum of "
        "these: what the head takes from the sentence. Only the tokens with the largest weights "
        "have a strip of their own; the others are summed in one.",
    ),
    "output": (
        "All heads, and the output projection",
        "The first strip has the outputs of all heads, with this head's framed. The output "
        "projection maps them back to d_model numbers. It is linear, so the result is a sum of one "
        "part for each head: the strips below.",
    ),
    "residual, pre-norm": (
        "Into the residual stream",
        "The first strip is the input vector. The second, the block's output, is added to it. A "
        "pre-norm model, such as this one, normalizes the block's input; a post-norm model "
        "normalizes the sum.",
    ),
    "residual, post-norm": (
        "Into the residual stream",
        "The first strip is the input vector. The second, the block's output, is added to it. "
        "Then the sum is normalized. A pre-norm model normalizes the block's input instead.",
    ),
}
ADDED = {  # sentences on what some models do in addition
    "who wrote": "The tab “Why it looks there”, above, says which parts wrote them.",
    "rotated": (
        "Query and key are shown after the rotation that tells this model where its tokens are: "
        "the product depends on how far apart the two tokens are."
    ),
    "shared keys": (
        "The keys and values are shared: {heads} heads have {key_heads} keys and values for each "
        "token between them."
    ),
    "biases not known": "If this model adds biases here, the formula leaves them out.",
    "bias": "A number learned for each distance between query and key is added: {bias}.",
    "softcap": (
        "The score is then bent so that it never passes {softcap:g} on either side: "
        "{softcap:g} × tanh(score / {softcap:g})."
    ),
    "sink": (
        "This model's heads have a sink: one more score, {sink}, that stands for no token. It "
        "takes its share of the softmax, so the weights of a row sum to less than 1."
    ),
    "own scale": (
        "The sum is multiplied by a number of this model's own, {scale:.6f}, while other models "
        "divide by the square root of the head's width."
    ),
    "no scale": (
        "Other models divide the sum by the square root of the head's width. This one does not."
    ),
    "output bias": "The parts and the bias sum to what the block computes.",
}
OF_THE_QUERY = (
    "All strips but the last belong to the query token; the last is what the head reads of the key "
    "token."
)
INPUT_OF_LIBRARY = (
    "Each strip is a vector, and each cell in it a number. A token begins as its embedding, with "
    "its position where this model adds one. The [head] in layer {layer} reads the vector after "
    "all blocks before it and the norm of its own block."
)
INPUT_OF_BERT = (
    "Each strip is a vector, and each cell in it a number. A token begins as its embedding, plus "
    "a vector for the sentence it belongs to, plus its position, normalized. Each layer then adds "
    "to this vector and normalizes it again. The [head] in layer {layer} reads the vector after "
    "all layers before it."
)

TAB_WORDS = {
    "beyond": (
        "A [weight] says where a [head] looks, not what effect this has. These are five measures "
        "for the same query, which need not agree."
    ),
    "many keys": (
        "Not shown for more than {most} tokens, because it takes a run of the model for each. "
        "Shorten the text to see it."
    ),
    "no objective": (
        "Not shown: this model has no output here that can be measured. If it fills in words, "
        "hide a word above."
    ),
    "lens": (
        "What the output layer would write if the decoder stopped after each layer: a column for "
        "each token read, and a row for each layer. Early layers were not trained to be read this "
        "way."
    ),
    "words": (
        "The cosine of the angle between two vectors, from −1 to 1. The embedding of a word is "
        "the same everywhere; the encoder's output depends on the sentence around it. The model "
        "learned to translate, so words of similar meaning need not be similar here."
    ),
}

WHY_WORDS = {
    "sum": (
        "The [score] before the softmax is a sum over pairs: what one part of the model wrote into "
        "the token that looks, times what one part wrote into the token looked at. A score that is "
        "1 nat higher makes the [weight] e ≈ 2.7 times as large relative to other [keys]. Head "
        "2.5 is head 5 of layer 2."
    ),
    "rotated": (
        "This model rotates queries and keys by their positions, so the position affects every "
        "pair, and is not a separate part."
    ),
    "memory": "The encoder’s output is one part here, since it is not known what wrote it.",
    "post-norm": (
        "In this post-norm model a norm after every block rescales all that was written before; "
        "each of these norms is held fixed, too."
    ),
    "closed": "The [mask] closes this key: whatever its score, its weight is 0.",
    "margin": "Each bar sums up a part's pairs. Click a head to go to it and see where it looked.",
    "limits": (
        "Limits: norms are held fixed as in this run, so no part gets a share for changing one. A "
        "feed-forward layer is one part, whatever wrote what it read; the biases of all "
        "projections and norms are one part, too. The softmax comes after the sum. Source: Elhage "
        "et al. 2021, “A Mathematical Framework for Transformer Circuits”."
    ),
}

# The labels of the five views of one query; the keys are the fields of `Explanation`.
VIEWS = {
    "weights": "Weight",
    "value_norms": "Length of weight × value",
    "gradient_times_attention": "Gradient × weight",
    "rollout": "Rollout",
    "removals": "Effect of closing the cell",
}

SWITCH_WORDS = {
    "scale": (
        "The larger the factor, the more the softmax saturates, until its gradient vanishes. A "
        "temperature divides the [scores] once more. The curves are for this query's visible "
        "keys; a factor of 1 means no scale at all."
    ),
    "width": (
        "For a random query and 16 random [keys], of variance 1: without the scale a wide head "
        "looks at one key only; with it the width does not matter."
    ),
    "fused": (
        "Projecting to all heads at once with one matrix, or to each head with its own rows of it, "
        "is the same computation: the difference is 0 or rounding."
    ),
    "norm": (
        "Both start from the states before this block, without learned scale and shift. Layer norm "
        "uses the mean and variance of one token over its dimensions; batch norm those of one "
        "dimension over the tokens."
    ),
    "order": (
        "How long the query token's vector is along the stack. Pre-norm leaves the stream free to "
        "grow; post-norm brings it back to the same length after every sublayer."
    ),
    "activation": (
        "The query token in this layer's feed-forward network, the first {shown} of {all} "
        "dimensions. ReLU cuts off what is below 0; GELU lets a little of it through."
    ),
}
