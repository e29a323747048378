"""A trained model in use: on the visitor's own input, on the other pages, as a file."""

import random
from collections.abc import Sequence
from functools import partial
from itertools import zip_longest

import streamlit as st

from headlight.model.checkpoint import pack_checkpoint
from headlight.model.tokens import END_ID, Token
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.saving import about
from headlight.pages.shared.show.texts import chips
from headlight.pages.shared.state import models
from headlight.pages.shared.state.models import ONE_SIDE, Training, refusals, workshop
from headlight.viz import token_strip
from headlight.wings.training.calls import answered
from headlight.wings.training.jobs import TrainingJob, TrainingState
from headlight.wings.training.tasks import LONGEST_INPUT

# The names of the two sides of each task on the other pages.
SIDES = {
    "reverse": ("number", "reversed number"),
    "copy": ("number", "copied number"),
    "sort": ("number", "sorted number"),
    "add": ("sum", "result"),
    "dates": ("date", "date in figures"),
    "repeat": (ONE_SIDE, ONE_SIDE),
}
TRY = "The model answers again at every update, so you can watch it get better at your own example."
USE = (
    "The model stays yours, in this session only: no other visitor sees it. Choose it, or a "
    "shipped model, next to the sentence on the other pages. To open a download in Headlight on "
    "your own computer, unzip it into a folder and name that on the page Models."
)
EXAMPLES = 4  # the number of random sources that the other pages offer


def try_it(training: Training, state: TrainingState) -> None:
    """Draw a box for an input, the model's present answer, and the right one."""
    job: TrainingJob = training.job
    task = job.task
    st.subheader("Try it")
    label, key = f"Your own input, such as {task.example}", f"toy_input_{task.name}"
    source = st.text_input(label, task.example, LONGEST_INPUT, key=key, persist_state="session")
    try:
        read, answer = task.asked(source)
        most = job.options.longest
        if task.decoder_only and not 2 <= len(source) <= most:
            raise ValueError(f"Type 2 to {most} letters: this model has no place for more.")
        reader = job.reader()
        longest = len(answer) if task.decoder_only else None  # this decoder writes no end token
        writing = answered(training.key, state.step, read, longest, reader)
        written = [token for token in writing.target_tokens if token.id != END_ID]
        wanted = reader.begin(answer)
    except ValueError as error:
        st.info(str(error))
        return
    verdict = "right" if writing.text == answer else "wrong"
    nothing = "" if writing.text else " nothing"
    after = f" after {read}" if task.decoder_only else ""
    label = f"The model after {state.step:,} steps writes{nothing}{after}, {verdict}:"
    of = about(source, model=f"{task.title}, after {state.step} steps")
    row = chips(
        written, wrong_positions(written, wanted), writing.log_probabilities[: len(written)]
    )
    strip = token_strip(writing.text, row, label=label)
    show(strip, "toy_output", of=of, what="What the model writes")
    strip = token_strip(answer, chips(wanted), label="The right answer:")
    show(strip, "toy_answer", of=of, what="The right answer")
    caption(TRY)


def wrong_positions(written: Sequence[Token], wanted: Sequence[Token]) -> set[int]:
    """Return the indices of wrong tokens; in these tasks the order of the tokens counts."""
    pairs = enumerate(zip_longest(written, (token.id for token in wanted)))
    return {index for index, (token, right) in pairs if token and token.id != right}


def use_it(job: TrainingJob) -> None:
    """Draw the ways to use the model: on the other pages, and as a file."""
    st.subheader("Use what was trained")
    task = job.task
    with st.container(horizontal=True):
        st.button("Use it on the other pages", on_click=use, args=[job], key="toy_use")
        file = partial(packed, job), f"{task.name}.zip", "application/zip"
        st.download_button("Download as a checkpoint", *file, key="toy_download", on_click="ignore")
    confirm()
    caption(USE)


def use(job: TrainingJob) -> None:
    """Let the other pages use the model as it is now."""
    task, options = job.task, job.options
    chance = random.Random(options.seed)
    sources = [task.pair(chance, options.shortest, options.longest)[0] for _ in range(EXAMPLES)]
    examples = [task.prompt(source) for source in (task.example, *sources)]
    state = job.look()
    about = "about " if state.status == "running" else ""  # further steps follow meanwhile
    title = f"{task.title}, trained here for {about}{state.step:,} steps"
    with refusals():
        models.use_model(job.reader(), title, tuple(examples), *SIDES[task.name])
        workshop().used = models.chosen().key


def confirm() -> None:
    """While the other pages use a model that was trained here, tell the visitor so."""
    model = models.chosen()
    if workshop().used == model.key:
        st.success("The other pages now show:")
        st.text(model.title)
        st.page_link("app.py", label="Open it on the Attention page")


def packed(job: TrainingJob) -> bytes:
    reader = job.reader()
    return pack_checkpoint(reader.model, reader.tokenizer)
