"""A visitor's edits with undo, for each model by itself."""

import pytest
import streamlit as st

from headlight.model.edits import Edits
from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.edit_history import can_undo, change, edits, undo

FIRST, SECOND = (Edits(masks={("window", "encoder"): (width,)}) for width in (1, 2))


pytestmark = pytest.mark.usefixtures("state")


def test_nothing_is_changed_at_first_and_nothing_can_be_undone():
    assert edits() == Edits()
    assert not can_undo()
    undo()
    assert edits() == Edits()


def test_changes_are_undone_one_after_the_other():
    change(FIRST)
    change(SECOND)
    assert edits() == SECOND
    undo()
    assert edits() == FIRST
    undo()
    assert edits() == Edits()
    assert not can_undo()


def test_the_same_edits_again_are_no_change():
    change(FIRST)
    change(Edits(masks={("window", "encoder"): (1,)}))
    undo()
    assert edits() == Edits()


def test_each_model_has_its_own():
    bert = "transformers:some/bert"
    change(FIRST)
    change(SECOND, bert)
    assert (edits(), edits(bert)) == (FIRST, SECOND)
    st.session_state["model"] = bert
    assert edits() == SECOND
    st.session_state["model"] = "en-fr-learned"
    assert edits() == Edits()
    assert not can_undo()
    assert edits("en-fr") == FIRST
    undo(bert)
    assert (edits(bert), edits("en-fr")) == (Edits(), FIRST)


def test_only_so_many_changes_can_be_undone():
    for number in range(edit_history.LONGEST + 20):
        change(Edits(masks={("window", "encoder"): (number,)}))
    steps = 0
    while can_undo():
        undo()
        steps += 1
    assert steps == edit_history.LONGEST - 1
