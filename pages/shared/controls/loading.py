"""Load a model of the transformers library by a button of any page, and show the progress."""

from functools import partial

import streamlit as st

from headlight.model.library.hub import LoadingError
from headlight.pages.shared.address import section
from headlight.pages.shared.runs.readers import entry_of
from headlight.pages.shared.runs.shelf import Loaded, Stage, any_is_allowed, rule, shelf
from headlight.pages.shared.state import models
from headlight.pages.shared.state.models import CatalogEntry, short, workshop

MOMENT = 1.0  # seconds to wait before a progress bar is shown
EVERY = 0.5  # seconds between two updates of the bar
# For each stage of the loading: its words, and how full the bar is when it begins (0 to 1).
STAGES: dict[Stage, tuple[str, float]] = {
    "begin": ("Looking for the model …", 0.0),
    "download": ("Downloading …", 0.0),
    "line": ("Waiting for {before} to be read first …", 0.7),
    "reading": ("Reading the weights, and checking the model …", 0.75),
}
FAILED = "This model could not be loaded."
GIVEN_UP = "{name} is no longer being loaded, since you asked for another model. Load it again."


def ask_for(name: str) -> None:
    """Start to load a model, and wait a moment for it.

    If it takes longer, the page shows the previous model until the new one is loaded.
    """
    if loaded := shelf().get(name):
        take(loaded)
        return
    before = st.session_state.get("loading")
    try:
        job = st.session_state.loading = shelf().ask(name, workshop())
    except LoadingError as error:
        st.session_state.loading_failed = str(error)
    else:
        if before and before is not job:
            st.session_state.given_up = GIVEN_UP.format(name=short(before.name))
        job.join(MOMENT)
        if not job.is_active:
            settle()


def cancel() -> None:
    job, st.session_state.loading = st.session_state.loading, None
    if job is not None:
        job.visitors.discard(workshop())


def take(loaded: Loaded) -> None:
    models.look_at(entry_of(loaded.name, loaded.reader))
    shelf().hold(loaded.name, workshop())


def remove(entry: CatalogEntry) -> None:
    """Remove a model from the visitor's list, and from memory if no other visitor lists it.

    A callback.
    """
    models.forget(entry.key)
    if entry.is_library:
        shelf().leave(entry.name, workshop())


def settle() -> None:
    """After loading has ended, switch to the requested model, or store why loading failed."""
    job, st.session_state.loading = st.session_state.loading, None
    if job.result:
        take(job.result)
    else:
        st.session_state.loading_failed = job.note


def arrived() -> None:
    """Add the requested and the chosen model to the visitor's list, if they are in memory now."""
    chosen = models.chosen()
    if chosen.is_library and (loaded := shelf().get(chosen.name)):
        keep(loaded)
    job = st.session_state.get("loading")
    if job and job.result:
        st.session_state.loading = None
        keep(job.result)


def keep(loaded: Loaded) -> None:
    models.keep(entry_of(loaded.name, loaded.reader))
    shelf().hold(loaded.name, workshop())


def progress() -> None:
    """Draw the progress of the requested model, or why it could not be loaded."""
    if st.session_state.setdefault("loading", None):
        under_way()
    if note := st.session_state.pop("given_up", None):
        st.text(note)
    if why := st.session_state.pop("loading_failed", None):
        st.error(FAILED)
        st.text(why)


@partial(section, every=EVERY)
def under_way() -> None:
    """Draw how far the loading is; when it ends, show the model, or why it could not be loaded."""
    job = st.session_state.loading
    if job and job.is_active:
        words, begun = STAGES[job.stage]
        before = f"{job.before} {'model' if job.before == 1 else 'models'}"
        st.progress(max(begun, STAGES["line"][1] * job.share), words.format(before=before))
        st.button("Cancel", on_click=cancel, key="cancel-loading")
        return
    if job:
        settle()
    st.rerun()


def offer(name: str, why: str) -> None:
    """Say why a model is not shown, with a button that loads it if that is allowed."""
    st.text(why)
    if any_is_allowed():
        st.button("Load it", on_click=ask_for, args=[name], key="load-it")
        progress()
    else:
        st.info(rule())
