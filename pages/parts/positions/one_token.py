"""How embedding, scaling and position add up for one token."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts.positions.words import TOKEN_WORDS, side_words
from pages.shared.link.address import section
from pages.shared.runs.arrays import as_array
from pages.shared.runs.translator import traced, translated, translator
from pages.shared.show.pictures import show_plotly
from pages.shared.show.saving import about
from pages.shared.state import models
from pages.shared.state.choice import counted, one_of
from pages.shared.widgets.choose import choose
from viz import vector_strips
from viz.numbers import Numbers
from viz.numbers import counted as numbered

SIDE = one_of("positions_token_side", {"encoder": "Encoder", "decoder": "Decoder"}, label="Side")
TOKENS = {
    side: counted(f"positions_token_{side}", 1, lambda config: config.max_positions, label="Token")
    for side in SIDE.options
}
CHOICES = (SIDE, *TOKENS.values())


@section
def token_section(sentence: str) -> None:
    """Draw the choice of a token, and the vectors that its input is the sum of."""
    trace = traced(sentence)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        side = choose(SIDE, format_func=side_words(models.chosen()).get)
        tokens = trace.source_tokens if side == "encoder" else trace.target_tokens
        place = choose(
            TOKENS[side],
            range(len(tokens)),
            widget=st.selectbox,
            format_func=lambda position: f"{position}: {tokens[position].text}",
            width=260,
        )
    record = trace.embedding[side]
    scale = translator().model.encoder.embedding.scale
    vectors = {
        "embedding": record.tokens[0, place],
        f"× {scale:.4g}": record.scaled[0, place],
        f"position {place}": record.positions[place],
        "sum": record.states[0, place],
    }
    for column, (name, vector) in zip(st.columns(4), vectors.items(), strict=True):
        column.metric(f"Length: {name}", f"{vector.norm():.3f}")
    values = {name: as_array(vector) for name, vector in vectors.items()}
    stacked = np.stack(list(values.values()))
    axes = {"vector": list(values), "dimension": numbered(stacked.shape[1], 0)}
    show_plotly(
        vector_strips(values),
        "strips",
        of=about(sentence, target=translated(sentence).text),
        what=f"Embedding and position of token {place} of the {side}",
        numbers={"value": Numbers(stacked, axes)},
    )
    st.caption(TOKEN_WORDS.format(scale=scale))
