"""A trained model in use: on the visitor's own input, on the other pages, as a file."""

from __future__ import annotations

import random
from collections.abc import Set
from functools import partial
from itertools import chain, count

import streamlit as st

from model import Translator
from model.archive import pack_checkpoint
from model.tokens import END_ID
from model.training.jobs import TrainingJob
from model.training.state import TrainingState
from model.training.tasks import LONGEST_INPUT, TASKS
from pages.parts.training.words import SIDES, TRY, UPLOAD, USE
from pages.shared.link.address import section
from pages.shared.runs import uploads
from pages.shared.runs.training import answered
from pages.shared.show.glossary import caption
from pages.shared.show.pictures import chips, show
from pages.shared.show.saving import about
from pages.shared.state import models
from pages.shared.state.workshop import Run, refusals, workshop
from viz import token_strip

EXAMPLES = 4  # made up for the other pages
LONGEST_TITLE = 40  # characters of the name of an uploaded file


def try_it(run: Run, state: TrainingState) -> None:
    """Draw a box for an input, what the model makes of it now, and the right answer."""
    task = run.job.task
    st.subheader("Try it")
    label, key = f"Your own input, such as {task.example}", f"toy_input_{task.name}"
    bounds = {"max_chars": LONGEST_INPUT, "persist_state": "session"}
    source = st.text_input(label, task.example, key=key, **bounds)
    try:
        answer = task.answer(source)
        translator = run.job.translator()
        translation = answered(run.key, state.step, source, translator)
        right = [token for token in translation.target_tokens if token.id != END_ID]
        wanted = translator.begin(answer)
    except ValueError as error:
        st.info(str(error))
        return
    verdict = "right" if translation.text == answer else "wrong"
    nothing = "" if translation.text else " nothing"
    label = f"The model after {state.step:,} steps writes{nothing}, {verdict}:"
    of = about(source, model=f"{task.title}, after {state.step} steps")
    row = chips(right, wanted, translation.log_probabilities[: len(right)])
    strip = token_strip(translation.text, row, label=label)
    show(strip, "toy_output", of=of, what="What the model writes")
    strip = token_strip(answer, chips(wanted), label="The right answer:")
    show(strip, "toy_answer", of=of, what="The right answer")
    caption(TRY)


def use_it(job: TrainingJob) -> None:
    """Draw the ways to use the model: on the other pages, and as a file."""
    st.subheader("Use what was trained")
    task = job.task
    with st.container(horizontal=True):
        st.button("Use it on the other pages", on_click=use, args=[job], key="toy_use")
        file = partial(packed, job), f"{task.name}.zip", "application/zip"
        options = {"on_click": "ignore", "key": "toy_download"}
        st.download_button("Download as a checkpoint", *file, **options)
    confirm("trained")
    caption(USE)


def use(job: TrainingJob) -> None:
    """Let the other pages show the model as it is now."""
    task, options = job.task, job.options
    chance = random.Random(options.seed)
    made = [task.pair(chance, options.shortest, options.longest)[0] for _ in range(EXAMPLES)]
    state = job.look()
    about = "about " if state.status == "training" else ""  # it continues meanwhile
    title = f"{task.title}, trained here for {about}{state.step:,} steps"
    with refusals():
        models.use_model(job.translator(), title, (task.example, *made), *SIDES[task.name])
        workshop().used = "trained", models.chosen().key


def confirm(origin: str) -> None:
    """Say, while it is so, that the other pages show the model of this origin."""
    model = models.chosen()
    if workshop().used == (origin, model.key):
        st.success("The other pages now show:")
        st.text(model.title)  # a file has any name
        st.page_link("app.py", label="Open it on the Attention page")


def packed(job: TrainingJob) -> bytes:
    """Return a checkpoint of a training's model as one file."""
    translator = job.translator()
    return pack_checkpoint(translator.model, translator.tokenizer)


@section
def upload() -> None:
    """Draw the box for a checkpoint from the visitor's disk; other files are refused unread."""
    file = st.file_uploader("Upload a checkpoint", "zip", key="toy_upload")
    caption(UPLOAD)
    if file is None:
        uploads.let_go()
        return
    try:
        translator = uploads.uploaded(file.getvalue())
    except ValueError as error:
        st.error("This file was refused, and nothing was loaded.")
        st.text(str(error))
        return
    config = translator.model.config
    st.text(
        f"Read: {config.encoder_layers} + {config.decoder_layers} layers, {config.heads} heads, "
        f"width {config.d_model}, {translator.tokenizer.vocab_size} tokens."
    )
    st.button("Use the uploaded model", on_click=use_uploaded, key="toy_use_uploaded")
    confirm("uploaded")


def use_uploaded() -> None:
    """Let the other pages show the uploaded model, by the name of its file."""
    file = st.session_state.toy_upload
    with refusals():
        translator = uploads.uploaded(file.getvalue())
        title = title_of(file.name, {entry.title for entry in models.choices().values()})
        models.use_model(translator, title, examples_for(translator), "source", "target")
        workshop().used = "uploaded", models.chosen().key


def title_of(file: str, taken: Set[str]) -> str:
    """Return what the model of an uploaded file is called: by a number too if that is `taken`."""
    name = file.removesuffix(".zip").strip()[:LONGEST_TITLE] or "model"
    titles = (f"Uploaded: {name}{number}" for number in chain([""], map(" ({})".format, count(2))))
    return next(title for title in titles if title not in taken)


def examples_for(translator: Translator) -> tuple[str, ...]:
    """Return the tasks' inputs whose characters the model knows, or one that any model reads."""
    examples = dict.fromkeys(task.example for task in TASKS.values())
    encode = translator.tokenizer.encode
    found = [text for text in examples if not any(token.is_unknown for token in encode(text))]
    return tuple(found) or ("1",)
