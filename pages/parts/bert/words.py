"""The plain words of the page BERT and others."""

from __future__ import annotations

from model.library.selection import Between
from model.library.transformers_model import WHY_NOT
from model.trace import Kind

PURPOSE = (
    "Name a model of the transformers library, or pick a suggestion, and press Load. A **BERT** "
    "runs in this project's own layers: everything can be recorded, switched off, masked and "
    "taken apart. **Others** (T5, BART, Marian, GPT-2 and their kind) run in the transformers "
    "library, and show what their heads look at. A name is downloaded once from the Hugging Face "
    "Hub; a folder needs no network. Only safetensors are loaded, and no model's own code is run."
)
BETWEEN_WORDS: dict[Between, str] = {
    "all": "both",
    "first": "within 1",
    "second": "within 2",
    "first to second": "1 looks at 2",
    "second to first": "2 looks at 1",
}
BERT_READING = (
    "When the model reads, every token looks at every token, to the left and to the right, in both "
    "sentences. The weights are those of the run with the tokens above."
)
SELECTED = (
    "Some tokens are not drawn; the model read them all the same. What is missing from 1 in a row "
    "went to tokens that are not drawn."
)
SCALED = (
    "Every row is divided by the sum of what is drawn, so that it sums to 1: these are no longer "
    "the run's own weights."
)
WORDS_RULE = (
    "Pieces are merged to words: the weight on a word is the sum over its pieces, and a word "
    "looks where its pieces look on average."
)
LAYER_SUMMARIES = {
    "mean": "Shown: the mean over all layers of what is chosen as head. ",
    "max": "Shown: the maximum over all layers of what is chosen as head, cell by cell. ",
}
HEAD_SUMMARIES = {
    "mean": "Of each layer: the mean of its heads.",
    "max": "Of each layer: the largest weight of its heads, cell by cell; rows sum to more than 1.",
}
NUMBERS_ALONE = (
    "Heads with the same number in two layers have nothing to do with each other; their mean or "
    "maximum over layers says where the model as a whole looks at most."
)
EMPTY = "Nothing is left to draw: show the special tokens, or choose other sentences."
LAST_TEXT = "Still showing the previous text:"
MASK_HINT = "Click a word to mask it and see what the model would put there"
PREDICTIONS = (
    "What the model finds likeliest in the place of the mask. The pictures below are of this very "
    "run: the model did not see the word."
)
SWITCHES = (
    "With heads switched, the same text runs through the model again; all pictures of this page "
    "are then of that run. The masked words' predictions above show both."
)
PARITY = (
    "The same checkpoint is loaded a second time, as the transformers library's own BertModel, "
    "and reads your text as you typed it, unmasked and with all heads on. Shown are the largest "
    "differences of any number. The states and weights are not rounded before they are compared; "
    "around 1e-6 is the rounding of 32-bit numbers."
)
NO_OBJECTIVE = "Not shown: mask a word above, and it is the effect on predicting that word."
TOO_MANY = (
    "Not shown: it takes a run for every token, and is left out beyond {most} tokens. Shorten the "
    "text to see it."
)
INSIDE_WORDS = (
    "How words compare, and what the decoder would already write, are shown for the shipped "
    "model only, on the page Inside a head."
)
FOREIGN = (
    f"{WHY_NOT} For the same reason no weight of it can be taken apart, and no word be masked here."
)
FOREIGN_KINDS: dict[Kind, str] = {
    "encoder": (
        "Encoder self-attention: every token of the text looks at every token of it, to the left "
        "and to the right."
    ),
    "decoder": (
        "Masked self-attention: every token looks at itself and at earlier tokens. A row is "
        "labelled with the token that was read; it is the row from which the next one is chosen."
    ),
    "cross": (
        "Cross-attention: the queries are the tokens that the decoder has read, the keys and "
        "values those of the text."
    ),
}
TARGET = "Text for the decoder; left empty, it reads what the model writes itself"
