"""The choices for a model of the transformers library: its name, its text, and what is shown."""

from __future__ import annotations

from dataclasses import replace

from model.config import TransformerConfig
from pages.shared.state.choice import Choice, counted, like, one_of, text
from pages.shared.state.choices import (
    KINDS,
    LONGEST_EDITS,
    PICTURES,
    SUMMARIES,
    TOO_MANY,
    Head,
    write_head,
)

LONGEST_TEXT = 4_000  # characters: room for 512 tokens
LONGEST_NAME = 300
MOST_LAYERS = 99
PLACES = r"\d{1,3}(,\d{1,3}){0,511}"
A_GATE = r"gate\.encoder\.\d{1,2}\.\d{1,2}\.\d{1,3}"
GATES = rf"{A_GATE}(~{A_GATE})*|{TOO_MANY}"


def read_place(name: str, config: TransformerConfig) -> Head:
    """Read a layer or a head, from 1 in a link, or a summary; the model checks it later."""
    return name if name in SUMMARIES else NUMBER.read(name, config)


NUMBER = counted("", 0, MOST_LAYERS)

BERT_NAME = text("bert_name", "", LONGEST_NAME)
BERT_FIRST = text("bert_first", "The cat did not cross the street.", LONGEST_TEXT)
BERT_SECOND = text("bert_second", "It was too tired.", LONGEST_TEXT)
BERT_TARGET = text("bert_target", "", LONGEST_TEXT)
BERT_KIND = one_of("bert_kind", KINDS, label="Kind of attention")
BERT_LAYER = Choice("bert_layer", 0, read_place, write_head, label="Layer")
BERT_HEAD = Choice("bert_head", "mean", read_place, write_head, label="Head")
BERT_PICTURE = one_of("bert_picture", PICTURES, label="Picture")
BERT_MASKED = like("bert_masked", "", PLACES)  # places of tokens, from 0
BERT_EDITS = replace(like("bert_edits", "", GATES), room=LONGEST_EDITS, instead=TOO_MANY)
