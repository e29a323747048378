"""The choices of the page Attention: which tokens are drawn, and as what."""

from __future__ import annotations

from model.library.selection import Between
from pages.shared.state.choice import one_of, text
from pages.shared.state.choices import LONGEST_SENTENCE

BETWEEN_WORDS: dict[Between, str] = {
    "all": "both",
    "first": "within 1",
    "second": "within 2",
    "first to second": "1 looks at 2",
    "second to first": "2 looks at 1",
}
BETWEEN = one_of("between", BETWEEN_WORDS, label="Sentences")
SPECIAL = one_of("special", {"shown": "shown", "hidden": "hidden"}, label="Special tokens")
UNITS = one_of("units", {"pieces": "pieces", "words": "words"}, label="Tokens as")
ROWS = one_of(
    "rows",
    {"run": "as in the run", "scaled": "scaled to 1"},
    label="Rows",
    old={"as in the run": "run", "scaled to 1": "scaled"},
)
# Of a decoder beside an encoder; empty for what the model writes.
READS = text("decoder_text", "", LONGEST_SENTENCE)
CHOICES = (BETWEEN, SPECIAL, UNITS, ROWS, READS)
