"""The choices for a model of the transformers library: its name, its text, and what is shown."""

from __future__ import annotations

from dataclasses import replace

from pages.shared.state.choice import counted, like, one_of, text
from pages.shared.state.choices import (
    KINDS,
    LONGEST_EDITS,
    PICTURES,
    TOO_MANY,
    or_summary,
)

LONGEST_TEXT = 4_000  # characters: room for 512 tokens
LONGEST_NAME = 300
MOST_PLACES = 99  # layers or heads in a link; the model checks them later
PLACES = r"\d{1,3}(,\d{1,3}){0,511}"
A_GATE = r"gate\.encoder\.\d{1,2}\.\d{1,2}\.\d{1,3}"
GATES = rf"{A_GATE}(~{A_GATE})*|{TOO_MANY}"


BERT_NAME = text("bert_name", "", LONGEST_NAME)
BERT_FIRST = text("bert_first", "The cat did not cross the street.", LONGEST_TEXT)
BERT_SECOND = text("bert_second", "It was too tired.", LONGEST_TEXT)
BERT_TARGET = text("bert_target", "", LONGEST_TEXT)
BERT_KIND = one_of("bert_kind", KINDS, label="Kind of attention")
BERT_LAYER = or_summary(counted("bert_layer", 0, MOST_PLACES, label="Layer"), 0)
BERT_HEAD = or_summary(counted("bert_head", 0, MOST_PLACES, label="Head"), "mean")
BERT_PICTURE = one_of("bert_picture", PICTURES, label="Picture")
BERT_MASKED = like("bert_masked", "", PLACES)  # places of tokens, from 0
BERT_EDITS = replace(like("bert_edits", "", GATES), room=LONGEST_EDITS, instead=TOO_MANY)

LIBRARY_CHOICES = (
    BERT_NAME, BERT_FIRST, BERT_SECOND, BERT_TARGET, BERT_KIND, BERT_LAYER, BERT_HEAD,
    BERT_PICTURE, BERT_MASKED, BERT_EDITS,
)  # fmt: skip
