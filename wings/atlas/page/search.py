"""Where every head looks from a token, in the sentences of the corpus that were kept."""

import numpy as np
import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.pages.shared.controls.measure import selected_head
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.cells import follow
from headlight.pages.shared.show.saving import about
from headlight.pages.shared.state.choice import text
from headlight.pages.shared.widgets.choose import choose, pick_one
from headlight.viz.numbers import Numbers
from headlight.wings.atlas.calls import lines_kept, looked_from
from headlight.wings.atlas.files import Atlas
from headlight.wings.atlas.looking import SEARCHED, Looked
from headlight.wings.atlas.page.figures import name_selected, short, table_of_heads
from headlight.wings.atlas.page.one_head import open_attention

LONGEST_WORD = 40  # characters
WORD = text("atlas_word", "it", LONGEST_WORD, label="Token that looks")
CHOICES = (WORD,)
PICTURES = {}
TABLE = "atlas-looked"
WORDS = (
    "Where each head looks from this token. The model reads up to {most} of the sentences kept "
    "that have it as a token of its own, not as a part of a longer word, in upper or lower case. "
    "**Weight** is the largest weight of the token’s row, averaged over all its places; next to it "
    "are the keys that most often have it."
)


def draw(run: ModelRun, atlas: Atlas) -> None:
    """Draw the choice of a token, and the table of where heads look from it."""
    word = choose(WORD, width=260).strip()
    caption(WORDS.format(most=SEARCHED))
    if not word:
        st.info("Type a token, such as “it” or a comma.")
        return
    try:
        looked, lines = looked_from(run.model, run.loading, lines_kept(run.model), word)
    except ValueError as error:
        st.text(str(error))
        return
    table_of(looked, word)
    name_selected(atlas)
    with st.expander(f"The sentences read: {len(lines)}"):
        st.text("\n".join(line.text for line in lines))
        pick_one(
            "Open one in Attention",
            dict.fromkeys(line.text for line in lines),
            "atlas-sentence",
            lambda sentence: open_attention(selected_head(), sentence, None),
        )
    follow()


def table_of(looked: list[Looked], word: str) -> None:
    """Draw a table of where heads look from a token; choosing a row selects its head."""
    heads: list[HeadAddress] = [(row.kind, row.layer, row.head) for row in looked]
    weights = [row.weight for row in looked]
    columns = {
        "weight": weights,
        "on": [
            ", ".join(f"“{key}” {100 * share:.0f} %" for key, share in row.keys) for row in looked
        ],
        "places": [row.places for row in looked],
    }
    table_of_heads(
        heads,
        columns,
        TABLE,
        {"weight": Numbers(np.array(weights), {"head": [short(head) for head in heads]})},
        of=about(place=f"From “{word}”"),
        what="Where each head looks from a token",
        column_config={"weight": st.column_config.NumberColumn(format="%.3f")},
    )
