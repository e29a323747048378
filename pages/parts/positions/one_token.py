"""How embedding, scaling and position add up for a token."""

import streamlit as st

from pages.parts.positions.words import TOKEN_WORDS, side_words
from pages.shared.link.address import section
from pages.shared.runs.arrays import as_array
from pages.shared.runs.run import ModelRun
from pages.shared.show.glossary import caption
from pages.shared.show.pictures import show_plotly
from pages.shared.show.saving import about_run
from pages.shared.state import models
from pages.shared.state.choice import counted, one_of
from pages.shared.widgets.choose import choose, choose_token
from viz import vector_strips

SIDE = one_of("positions_token_side", {"encoder": "Encoder", "decoder": "Decoder"}, label="Side")
TOKENS = {
    side: counted(f"positions_token_{side}", 1, lambda shape: shape.max_positions, label="Token")
    for side in SIDE.options
}
CHOICES = (SIDE, *TOKENS.values())


@section
def token_section(run: ModelRun) -> None:
    """Draw the choice of a token, and the vectors whose sum is its input."""
    trace = run.trace
    with st.container(horizontal=True, vertical_alignment="bottom"):
        side = choose(SIDE, format_func=side_words(models.chosen()).get)
        tokens = trace.source_tokens if side == "encoder" else trace.target_tokens
        place = choose_token(TOKENS[side], [token.text for token in tokens], first=0)
    record = trace.embedding[side]
    scale = run.reader.model.encoder.embedding.scale
    vectors = {
        "embedding": record.tokens[0, place],
        f"× {scale:.4g}": record.scaled[0, place],
        f"position {place}": record.positions[place],
        "sum": record.states[0, place],
    }
    for column, (name, vector) in zip(st.columns(4), vectors.items(), strict=True):
        column.metric(f"Length: {name}", f"{vector.norm():.3f}")
    figure = vector_strips({name: as_array(vector) for name, vector in vectors.items()})
    of = about_run(run)
    what = f"Embedding and position of token {place} of the {side}"
    show_plotly(figure, "strips", of=of, what=what)
    caption(TOKEN_WORDS.format(scale=scale))
