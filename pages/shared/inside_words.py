"""The plain words of the page Inside a head."""

from __future__ import annotations

STEPS = {
    "input": (
        "Every token begins as its embedding, scaled by √d_model, plus its position. Each layer "
        "then adds to this vector; in layer {layer} the head reads what the layers before made of "
        "it, through the block's layer norm where the norm comes first."
    ),
    "projections": (
        "Three linear maps of this head, each a part of a larger matrix, turn what is read into a "
        "query for the token that looks, and a key and a value for the token looked at."
    ),
    "dot": (
        "Query and key are multiplied number by number, and the products summed. Framed are the "
        "numbers that add the most. A large sum says that what is asked for and what is offered "
        "point the same way."
    ),
    "scale": (
        "The sum is divided by the square root of the head's width, else it would grow with the "
        "width and the softmax would leave room for one key only."
    ),
    "mask": "Where the mask blocks a key, the score becomes −∞, and the weight exactly 0.",
    "softmax": (
        "The exponentials of the scores, divided by their sum, are the weights of this query over "
        "all keys. The framed one is the weight you came for."
    ),
    "values": (
        "Every value is multiplied by its weight, and the sum of them all is what the head takes "
        "from the sentence. Shown are the keys with the largest weights; the others are summed in "
        "one row."
    ),
    "output": (
        "The outputs of all heads stand side by side, this head's framed, and the output "
        "projection maps them back to d_model numbers. Because it is linear, each head's part can "
        "be told apart: the parts and the bias sum to what the block computes."
    ),
    "residual": (
        "What the block computes is added to the vector that came in. A pre-norm model, such as "
        "the shipped one, has normed the input; a post-norm model norms this sum."
    ),
}

TAB_WORDS = {
    "beyond": (
        "A weight says where a head looks, not what that does. Five views of the same query, each "
        "with what it says and does not say. Nothing guarantees that they agree."
    ),
    "lens": (
        "What the output layer would already write if the decoder stopped after each layer: the "
        "likeliest token, its probability, and the rank that the final answer has there. Early "
        "layers were not trained to be read this way. Each column is a token the decoder has read."
    ),
    "words": (
        "The cosine of the angle between two vectors, from −1 to 1. The embedding of a word is the "
        "same everywhere; what the encoder makes of it depends on the sentence around it."
    ),
}
