"""Which roles the heads have, by tests on random tokens."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from model.edits import Edits, HeadAddress
from model.insight.roles import ROLES, SEQUENCES, why_not
from pages.shared.runs.arrays import as_array
from pages.shared.runs.heads import head_roles
from pages.shared.runs.run import ModelRun
from pages.shared.show.glossary import caption
from pages.shared.show.pictures import show
from pages.shared.show.riddle import which_head
from pages.shared.show.saving import about
from pages.shared.state.choice import number, one_of, switch
from pages.shared.state.choices import KINDS
from pages.shared.widgets.choose import choose
from viz import head_scores
from viz.numbers import number_text

TESTED = switch("roles", label="Test every head")
ROLE = one_of("role", {name: role.title for name, role in ROLES.items()}, label="Role")
SEED = number("role_seed", 0, (0, 9_999), label="Seed", help="Draws the random tokens.")
CHOICES = (TESTED, ROLE, SEED)
INTRO = (
    f"What is a head for, whatever the sentence? {SEQUENCES} times the model reads random tokens "
    "twice over. They mean nothing, so that what a head does with them is due to where they stand "
    "and to which of them are the same."
)
SWITCHED = "Heads that are switched off or faded above are so in the tests too; masks are not."


def roles(run: ModelRun, selected: HeadAddress, open_head: Callable[[], None]) -> None:
    """Draw the scores of all heads in the test of a role, next to its definition and source."""
    st.subheader("Roles, by test")
    caption(INTRO)
    if not choose(TESTED):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = choose(ROLE)
        seed = choose(SEED, width=120)
    role = ROLES[name]
    picture, words = st.columns([3, 2], gap="medium")
    if reason := why_not(run.reader, name):
        with picture:
            st.info(f"{role.title}: not for this model. {reason}")
    else:
        edits = Edits(gates=run.edits.gates)
        try:
            found = head_roles(run.model, run.loading, seed, edits)
        except ValueError as error:
            st.info(str(error))
            return
        scores = {kind: as_array(each) for kind, each in found.scores[name].items()}
        of = about(" ".join(found.read), edits=edits, place=f"random tokens of seed {seed}, twice")
        with picture:
            what, score = f"{role.title} score of every head", f"{role.title} score"
            asks = f"Which head has the largest {score}?"
            ask = partial(which_head, asks, f"the largest {score} has", scores, number_text)
            drawn = head_scores(scores, labels=KINDS, name=score, selected=selected)
            show(drawn, "role-scores", open_head, of=of, what=what, riddle=ask)
            caption(f"{SWITCHED} Click a cell to open its head.")
    with words:
        defined(name, set(run.reader.shape.kinds) - set(role.kinds))
        if not reason:
            half = len(found.read) // 2
            st.caption(
                f"The first of the random texts, which is then read again, of {half} tokens:"
            )
            st.text(" ".join(found.read[:half]))


def defined(name: str, without: set[str]) -> None:
    """Draw what a role is, its source, and the kinds that it does not apply to."""
    role = ROLES[name]
    caption(f"**{role.title}**: {role.definition}.")
    caption(f"By chance: {role.chance}.")
    if without:
        kinds = " and ".join(KINDS[kind] for kind in KINDS if kind in without)
        caption(f"Not for {kinds}: {role.elsewhere}")
    st.caption(f"Source: {role.source}.")
