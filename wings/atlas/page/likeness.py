"""Heads by likeness: a plane where heads that look at the same positions are close."""

import numpy as np
import streamlit as st

from headlight.pages.shared.controls.measure import selected_head, show_points
from headlight.pages.shared.runs.arrays import heads_of
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.state.choices import KINDS
from headlight.pages.shared.widgets.choose import choose_kind
from headlight.viz import head_plane, layer_colors
from headlight.viz.numbers import number_text
from headlight.wings.atlas.figures import plane_of
from headlight.wings.atlas.files import Atlas
from headlight.wings.atlas.page.figures import about_corpus, name_selected, neighbours, short

CHOICES = ()
PICTURES = {"atlas-plane": "heads by likeness"}
NEIGHBOURS = 5
TOLD = 3  # how many neighbours are named when the mouse points at a head
MOST_NAMED = 48  # with more heads than these, only the chosen one has its name drawn
WORDS = (
    "The distance of two heads is the Jensen-Shannon divergence of their rows: 0 nats if both "
    "always look at the same places, ln 2 ≈ 0.693 if never (Clark et al. 2019, 6). Classical "
    "multidimensional scaling of its square root puts them in the plane. It keeps **{kept:.0f} %** "
    "of the squared distances: for heads close together, trust the lists. The directions mean "
    "nothing. **2.5** is head 5 of layer 2."
)


def draw(run: ModelRun, atlas: Atlas) -> None:
    """Draw the heads of a kind of attention in a plane, and the nearest ones to the chosen head."""
    kind = choose_kind()
    known = atlas.kinds[kind]
    entropy = known.figures["entropy"].mean
    heads = heads_of({kind: entropy})
    if len(heads) < 2 or not np.isfinite(known.distances).all():
        st.info("No two heads of this kind were compared.")
        return
    plane = plane_of(np.sqrt(np.maximum(known.distances, 0)))
    at = heads.index(selected_head()) if selected_head() in heads else 0
    names = [short(head) for head in heads]
    marks = [name.rpartition(" ")[2] for name in names]
    shown = range(len(heads)) if len(heads) <= MOST_NAMED else [at]
    picture = head_plane(
        plane.points,
        names,
        [
            f"{short(head)}: nearest are {', '.join(neighbours(known, head, TOLD))} nats"
            for head in heads
        ],
        groups=[f"layer {layer + 1}" for _, layer, _ in heads],
        colors=layer_colors(len(entropy)),
        named={index: marks[index] for index in shown},
        selected=at,
    )
    name_selected(atlas)
    left, right = st.columns([3, 1], gap="medium")
    with left:
        what = f"{KINDS[kind]} heads by likeness"
        show_points(picture, "atlas-plane", heads, of=about_corpus(run), what=what)
    with right:
        st.markdown(f"**Nearest to {names[at]}**, in nats")
        st.text("\n".join(neighbours(known, heads[at], NEIGHBOURS)))
        st.markdown("**Most alike of all**")
        st.text("\n".join(most_alike(known.distances, names)))
    caption(WORDS.format(kept=100 * plane.kept))


def most_alike(distances: np.ndarray, names: list[str]) -> list[str]:
    """Return the nearest pairs of heads with their distances, in words."""
    rows, columns = np.triu_indices(len(names), k=1)
    order = np.argsort(distances[rows, columns], kind="stable")[:NEIGHBOURS]
    return [
        f"{names[rows[at]]} and {names[columns[at]].rpartition(' ')[2]} "
        f"({number_text(float(distances[rows[at], columns[at]]))})"
        for at in order
    ]
