"""The box that asks for a model of the transformers library, and tells how far it is."""

from __future__ import annotations

from concurrent.futures import wait as wait_for
from functools import partial

import streamlit as st

from model.library.hub import LoadingError
from pages.shared.link.address import section
from pages.shared.runs.shelf import LOADING, Loaded, shelf
from pages.shared.state import edit_history
from pages.shared.state.choices import chosen, put
from pages.shared.state.library_choices import BERT_EDITS, BERT_KIND, BERT_MASKED, BERT_NAME

SUGGESTIONS = (
    "google-bert/bert-base-uncased",
    "prajjwal1/bert-tiny",
    "google-bert/bert-base-multilingual-cased",
    "openai-community/gpt2",
    "google-t5/t5-small",
    "Helsinki-NLP/opus-mt-en-fr",
)
MOMENT = 1.0  # seconds that a click may take before a bar is shown
EVERY = 0.5  # seconds between two looks at how far a model is


def model_box() -> Loaded | None:
    """The box that asks for a model and loads it; returns the one to show, if there is one."""
    st.session_state.setdefault("bert_wanted", chosen(BERT_NAME))
    loaded = shelf().get(chosen(BERT_NAME))
    if loaded:
        st.text(f"Shown: {loaded.name}")
    with st.expander("Another model") if loaded else st.container():
        form = st.form("load", border=False)
        row = form.container(horizontal=True, vertical_alignment="bottom")
        row.text_input(
            "Name on the Hugging Face Hub, or a folder on this computer", key="bert_wanted",
            persist_state="session", max_chars=BERT_NAME.bounds, placeholder=SUGGESTIONS[0],
        )  # fmt: skip
        asked = row.form_submit_button("Load")
        st.pills(
            "Suggestions", SUGGESTIONS, key="bert_suggestion",
            on_change=_take_suggestion, label_visibility="collapsed",
        )  # fmt: skip
    if asked and (name := st.session_state.bert_wanted.strip()):
        _ask_for(name)
    if st.session_state.setdefault("bert_loading", None):
        _progress()
    if why := st.session_state.pop("bert_failed", None):
        st.error(LOADING["failed"])
        st.text(why)
    return loaded


def _ask_for(name: str) -> None:
    """Have a model loaded, and wait for it a moment; the page goes on with what was there."""
    if found := shelf().get(name):
        _take(found)
        st.rerun()
    try:
        job = st.session_state.bert_loading = shelf().ask(name)
    except LoadingError as error:
        st.session_state.bert_failed = str(error)
    else:
        wait_for([job.result], timeout=MOMENT)


@partial(section, every=EVERY)
def _progress() -> None:
    """A bar that tells how far the model is; in the end it is shown, or why there is none."""
    job = st.session_state.bert_loading
    if job is None:
        return
    if not job.result.done():
        stage = "begin" if not job.share else "download" if job.share < 1 else "reading"
        st.progress(job.share, LOADING[stage])
        return
    st.session_state.bert_loading = None
    try:
        _take(job.result.result())
    except LoadingError as error:
        st.session_state.bert_failed = str(error)
    st.rerun()


def _take(loaded: Loaded) -> None:
    """Show a model from now on."""
    others = [name for name in st.session_state.get("bert_names", ()) if name != loaded.name]
    st.session_state.bert_names = [*others, loaded.name]
    if loaded.name != chosen(BERT_NAME):  # else it is the one that a link asks for
        edit_history.forget(edit_history.BERT)
        put(BERT_KIND, loaded.model.kinds[-1])
        put(BERT_NAME, loaded.name)
        put(BERT_MASKED, "")
        put(BERT_EDITS, "")


def _take_suggestion() -> None:
    """Put the clicked name into the box, and let it be clicked again."""
    st.session_state.bert_wanted = st.session_state.bert_suggestion
    st.session_state.bert_suggestion = None
