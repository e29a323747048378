"""The plain words of the page Inside a head."""

STEPS = {  # title and words of each step; the additional steps of some models have only words
    "input": (
        "What is read",
        "Every token begins as its embedding, scaled by √d_model, plus its position. The "
        "head in layer {layer} reads what the blocks before it made of that, through the block's "
        "layer norm where the norm comes first.",
    ),
    "projections": (
        "Query, key and value",
        "Three linear maps of this head, each a part of a larger matrix, turn what is read into a "
        "query for the token that looks, and a key and a value for the token looked at.",
    ),
    "dot": (
        "The dot product",
        "Query and key are multiplied number by number, and the products summed. The numbers "
        "that add the most are framed.",
    ),
    "who wrote": "The tab “Why it looks there”, above, says what wrote them.",
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
    "scale": (
        "The scaling",
        "The sum is divided by the square root of the head's width, else it would grow with the "
        "width and the softmax would leave room for one key only.",
    ),
    "own scale": (
        "The sum is multiplied by a number of this model's own, {scale:.6f}, where others divide "
        "by the square root of the head's width."
    ),
    "no scale": (
        "Other models divide the sum by the square root of the head's width. This one leaves it as "
        "it is."
    ),
    "mask": (
        "The mask",
        "Where the mask blocks a key, the score becomes −∞, and the weight exactly 0.",
    ),
    "softmax": (
        "The softmax",
        "The exponentials of the scores, divided by their sum, are the weights of this query over "
        "all keys. The largest score is taken off first, which changes no weight.",
    ),
    "values": (
        "The weighted sum of values",
        "Every value is multiplied by its weight; the sum is what the head takes from the "
        "sentence. The keys with the largest weights are shown, the others as one sum.",
    ),
    "output": (
        "All heads, and the output projection",
        "The output projection maps the outputs of all heads, this head's framed, back to d_model "
        "numbers. It is linear, so each head's part can be told apart.",
    ),
    "output bias": "The parts and the bias sum to what the block computes.",
    "residual, pre-norm": (
        "Into the residual stream",
        "What the block computes is added to the vector that came in. A pre-norm model, such as "
        "this one, has normed the input; a post-norm model norms this sum.",
    ),
    "residual, post-norm": (
        "Into the residual stream",
        "What the block computes is added to the vector that came in, and the sum is normed. "
        "A pre-norm model norms the input instead, and leaves the sum as it is.",
    ),
}
OF_THE_QUERY = "Down to “stream before this block”, the strips are of the query token."
INPUT_OF_LIBRARY = (
    "Every token begins as its embedding, with its position where this model adds one. The "
    "head in layer {layer} reads what the blocks before it made of that, through the norm before "
    "its block."
)
INPUT_OF_BERT = (
    "Every token begins as its embedding, plus a vector for the sentence it belongs to, plus "
    "its position, normed. Each layer then adds to this vector and norms it again. The "
    "head in layer {layer} reads what the blocks before it made of that."
)

TAB_WORDS = {
    "beyond": (
        "A weight says where a head looks, not what that does. These are five views of the same "
        "query, which need not agree."
    ),
    "many keys": (
        "Not shown beyond {most} tokens, because it takes a run for each. Shorten the text to see "
        "it."
    ),
    "no objective": (
        "Not shown: nothing that this model says here can be measured. If it fills in words, hide "
        "a word above."
    ),
    "lens": (
        "What the output layer would write if the decoder stopped after each layer: a column for "
        "each token read, and a row for each layer. Early layers were not trained to be read this "
        "way."
    ),
    "words": (
        "The cosine of the angle between two vectors, from −1 to 1. The embedding of a word is the "
        "same everywhere; what the encoder makes of it depends on the sentence around it."
    ),
}

WHY_WORDS = {
    "sum": (
        "The score before the softmax is a sum over pairs: what one part of the model wrote into "
        "the token that looks, times what one part wrote into the token looked at. A score that is "
        "1 nat higher makes the weight e ≈ 2.7 times as large relative to other keys. Head 2.5 "
        "is head 5 of layer 2."
    ),
    "rotated": (
        "This model turns queries and keys by their positions, so position is in every pair, and "
        "is no part of its own."
    ),
    "memory": "What wrote the encoder’s output is not known here, so it is one part.",
    "post-norm": (
        "In this post-norm model a norm after every block rescales all that was written before; "
        "each of these norms is held too."
    ),
    "closed": "The mask closes this key: whatever its score, its weight is 0.",
    "margin": "Its pairs added up. Click a head to go to it, and see where it looked itself.",
    "limits": (
        "Limits: norms are held at their values in this run, so no part gets a share for changing "
        "one. A feed-forward is one part, whoever wrote what it read, and so are the biases of all "
        "projections and norms. The softmax comes after the sum. Source: Elhage et al. 2021, “A "
        "Mathematical Framework for Transformer Circuits”."
    ),
}

# The five views of one query, by their names in model/insight/explain.py.
VIEWS = {
    "weights": "Weight",
    "value_norms": "Length of weight × value",
    "gradient_times_attention": "Gradient × weight",
    "rollout": "Rollout",
    "removals": "Effect of closing the cell",
}

SWITCH_WORDS = {
    "scale": (
        "The larger the factor, the more the softmax saturates, and its gradient vanishes. A "
        "temperature divides the scores once more. The curves are of this query's visible keys; a "
        "factor of 1 is no scale at all."
    ),
    "width": (
        "For random vectors of unit variance, 16 keys, drawn anew: without the scale a wider head "
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
        "grow; post-norm brings it back to one length after every sublayer."
    ),
    "activation": (
        "The query token in this layer's feed-forward network, the first {shown} of {all} "
        "dimensions. ReLU cuts off what is below 0; GELU lets a little of it through."
    ),
}
