"""The plain words of the page Attention."""

from __future__ import annotations

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
    "mean": "Shown: the mean over all layers of what is chosen as head.",
    "max": "Shown: the maximum over all layers of what is chosen as head, cell by cell.",
}
NUMBERS_ALONE = (
    "Heads with the same number in two layers have nothing to do with each other; their mean or "
    "maximum over layers says where the model as a whole looks at most."
)
EMPTY = "Nothing is left to draw: show the special tokens, or choose other sentences."
