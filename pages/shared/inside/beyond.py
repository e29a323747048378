"""Beyond the weight: five views of what one query takes from its keys."""

from __future__ import annotations

import streamlit as st

from model.insight.explain import NOTES
from model.insight.weight import Weight
from pages.shared.inside.words import TAB_WORDS, VIEWS
from pages.shared.runs.arrays import as_array
from pages.shared.runs.inside import MOST_CLOSED, explained
from pages.shared.show.glossary import caption
from pages.shared.show.pictures import show
from pages.shared.show.saving import About
from viz import Row, vector_rows


def beyond(weight: Weight, of: About) -> None:
    """Draw the same query's keys in up to five ways, with the effects on an objective."""
    caption(TAB_WORDS["beyond"])
    found = explained(weight)
    objective = found.objective
    if objective:
        st.text(f"Effects are on {objective.description}: {' '.join(objective.texts)}")
    rows = [
        Row(label, as_array(getattr(found, field)), probabilities=field == "weights")
        for field, label in VIEWS.items()
        if getattr(found, field) is not None
    ]
    picture = vector_rows(rows, columns=weight.key_tokens, marked=[weight.key], own_scales=True)
    show(picture, "five-views", of=of, what="Five views of the query's keys")
    for field, label in VIEWS.items():
        shown = getattr(found, field) is not None
        st.markdown(f"**{label}**: {NOTES[field] if shown else why_not(weight, field)}")


def why_not(weight: Weight, field: str) -> str:
    """Return why a view cannot be had."""
    if field == "value_norms":
        return weight.run.reader.missing["add up heads"]
    if field == "removals" and len(weight.row) > MOST_CLOSED:
        return TAB_WORDS["many keys"].format(most=MOST_CLOSED)
    return TAB_WORDS["no objective"]
