"""Loading a model of the transformers library: asked for on any page, with how far it is."""

from __future__ import annotations

from concurrent.futures import wait as wait_for
from functools import partial

import streamlit as st

from model.library.hub import LoadingError
from pages.shared.link.address import section
from pages.shared.runs import limits
from pages.shared.runs.readers import entry_of
from pages.shared.runs.shelf import Loaded, shelf
from pages.shared.state import models

MOMENT = 1.0  # seconds that a click may take before a bar is shown
EVERY = 0.5  # seconds between two looks at how far a model is
STAGES = {
    "begin": "Looking for the model …",
    "download": "Downloading …",
    "reading": "Reading the weights, and comparing with transformers …",
}
FAILED = "This model could not be loaded."
OFF = (
    "Loading other models is switched off on this server. Run Headlight on your own computer to "
    "look at them."
)


def ask_for(name: str) -> None:
    """Have a model loaded, and wait for it a moment; the page goes on with what was there."""
    if found := shelf().get(name):
        take(found)
        return
    try:
        job = st.session_state.loading = shelf().ask(name)
    except LoadingError as error:
        st.session_state.loading_failed = str(error)
    else:
        wait_for([job.result], timeout=MOMENT)
        if job.result.done():
            settle()


def take(loaded: Loaded) -> None:
    """Look at a loaded model from now on."""
    models.look_at(entry_of(loaded.name, loaded.reader))


def settle() -> None:
    """Look at the model that was asked for, or note why there is none, now that it is settled."""
    job, st.session_state.loading = st.session_state.loading, None
    try:
        take(job.result.result())
    except LoadingError as error:
        st.session_state.loading_failed = str(error)


def arrived() -> None:
    """List the model that was asked for, if it has come meanwhile, and one that a link names."""
    chosen = models.chosen()
    if chosen.is_library and (found := shelf().get(chosen.name)):
        models.keep(entry_of(found.name, found.reader))
    job = st.session_state.get("loading")
    if job and job.result.done() and not job.result.exception():
        st.session_state.loading = None
        loaded = job.result.result()
        models.keep(entry_of(loaded.name, loaded.reader))


def progress() -> None:
    """Draw how far the model is that was asked for, or why it could not be loaded."""
    if st.session_state.setdefault("loading", None):
        under_way()
    if why := st.session_state.pop("loading_failed", None):
        st.error(FAILED)
        st.text(why)


@partial(section, every=EVERY)
def under_way() -> None:
    """Draw a bar; in the end the model is shown, or why there is none."""
    job = st.session_state.loading
    if job is None:
        return
    if not job.result.done():
        stage = "begin" if not job.share else "download" if job.share < 1 else "reading"
        st.progress(job.share, STAGES[stage])
        return
    settle()
    st.rerun()


def offer(name: str, why: str) -> None:
    """Say why a model is not shown, and offer to load it."""
    st.text(why)
    if limits.OTHER_MODELS:
        st.button("Load it", on_click=ask_for, args=[name], key="load-it")
        progress()
    else:
        st.info(OFF)
