"""What the decoder would already write after each layer."""

from __future__ import annotations

import streamlit as st

from pages.shared.inside.words import TAB_WORDS
from pages.shared.runs.arrays import tokens_of
from pages.shared.runs.inside import lens_table
from pages.shared.runs.run import ModelRun
from pages.shared.show.glossary import caption


def decoder_lens(run: ModelRun) -> None:
    """Draw the table of what each layer would write after each token."""
    import pandas as pd  # takes long

    caption(TAB_WORDS["lens"])
    table, tokenizer = lens_table(run), run.reader.tokenizer
    read, _ = tokens_of(run.trace, "decoder")

    def words(layer: int, place: int) -> str:
        token = tokenizer.append("", table.ids[layer, place, 0].item())[1].text
        probability = table.probabilities[layer, place, 0].item()
        return f"{token}  {probability:.2f}  (rank {table.ranks[layer, place]})"

    columns = {
        f"{place + 1}: {token}": [words(layer, place) for layer in range(len(table.labels))]
        for place, token in enumerate(read)
    }
    st.dataframe(pd.DataFrame(columns, index=table.labels))
