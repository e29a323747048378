"""The choices of the page BERT and others that no other page has."""

from __future__ import annotations

from pages.parts.bert.words import BETWEEN_WORDS
from pages.shared.inside import switches
from pages.shared.inside.tabs import tab_choice
from pages.shared.state.choice import counted, one_of

MOST_TOKENS = 512

BETWEEN = one_of("bert_between", BETWEEN_WORDS, label="Sentences")
SPECIAL = one_of("bert_special", {"shown": "shown", "hidden": "hidden"}, label="Special tokens")
UNITS = one_of("bert_units", {"pieces": "pieces", "words": "words"}, label="Tokens as")
ROWS = one_of(
    "bert_rows",
    {"run": "as in the run", "scaled": "scaled to 1"},
    label="Rows",
    old={"as in the run": "run", "scaled to 1": "scaled"},
)
QUERY = counted("bert_query", 0, MOST_TOKENS, label="Query: the token that looks")
KEY = counted("bert_key", 0, MOST_TOKENS, label="Key: the token looked at")
TAB = one_of(
    "bert_tab",
    {"attention": "Attention", "switches": "Switch heads", "inside": "Inside a head"},
    old={"Attention": "attention", "Switch heads": "switches", "Inside a head": "inside"},
)
INSIDE_TAB = tab_choice("bert_inside_tab")

CHOICES = (BETWEEN, SPECIAL, UNITS, ROWS, QUERY, KEY, TAB, INSIDE_TAB, *switches.CHOICES)
