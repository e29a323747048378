"""Beyond the weight: five views of what one query takes from its keys."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from model.insight.explain import NOTES
from model.insight.weight import Weight
from pages.shared.inside.words import TAB_WORDS, VIEWS
from pages.shared.runs.arrays import as_array
from pages.shared.runs.inside import explained
from pages.shared.show.pictures import show
from pages.shared.show.saving import About
from viz import Row, vector_rows


def beyond(weight: Weight, of: About, missing: Mapping[str, str] | None = None) -> None:
    """Draw the same query's keys in five ways, with the effects on an objective.

    `missing` says of views that cannot be had why not.
    """
    st.caption(TAB_WORDS["beyond"])
    missing = missing or {}
    found = explained(weight, close="removals" not in missing)
    objective = found.objective
    if objective and "gradient_times_attention" not in missing:
        token = " ".join(token.text for token in objective.tokens)
        st.text(f"Effects are on {objective.description}: {token}")
    rows = [
        Row(label, as_array(getattr(found, field)), probabilities=field == "weights")
        for field, label in VIEWS.items()
        if field not in missing
    ]
    picture = vector_rows(rows, columns=weight.key_tokens, marked=[weight.key], own_scales=True)
    show(picture, "five-views", of=of, what="Five views of the query's keys")
    for field, label in VIEWS.items():
        st.markdown(f"**{label}**: {missing.get(field, NOTES[field])}")
