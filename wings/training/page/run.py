"""A session's training: start it, watch it, and keep its curves to compare with."""

from dataclasses import replace
from math import log

import streamlit as st
import torch

from headlight.model.jobs import ACTIVE, JobQueue
from headlight.model.snapshots import Snapshots
from headlight.model.transformer.trace import Kind
from headlight.pages.shared.address import section
from headlight.pages.shared.runs import limits
from headlight.pages.shared.runs.shipped import recorded_training
from headlight.pages.shared.show.captions import caption, labels_at_snapshots, site_words
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.saving import about
from headlight.pages.shared.state.choice import like
from headlight.pages.shared.state.choices import KIND, KINDS, chosen, put
from headlight.pages.shared.state.models import (
    DEFAULT,
    SHIPPED,
    Curve,
    Training,
    refusals,
    workshop,
)
from headlight.pages.shared.state.showing import NOTE, place, showing
from headlight.pages.shared.widgets.choose import choose_kind
from headlight.viz import attention_film, measure_bars, training_curves
from headlight.wings.training.calls import lesioned
from headlight.wings.training.jobs import TrainingJob, TrainingState, training_queue
from headlight.wings.training.page.options import LABELS, changes, chosen_options
from headlight.wings.training.page.use import try_it, use_it
from headlight.wings.training.repeats import Reading
from headlight.wings.training.tasks import TASKS, Task

INDUCTION = "Induction score"
REPEATED = "Loss from the second reading on, in nats a token"
LESION_LOSS = "Loss of the second reading, in nats a token"
LESION = (
    "The model reads unseen sequences, each of them twice; a guess among all letters has a loss of "
    "{guessing:.2f}. The induction score is the mean weight on the letter that "
    "followed the same letter before; the score of a previous-token head, the mean weight on the "
    "letter just before. The induction head looks for what the previous-token head passes on. "
    "Several heads of a layer share this work, so removing one of them costs less. To "
    "follow the chain, use the model on the other pages, open a weight of the induction head on "
    "Inside a head, and go from Why it looks there to the head that wrote its key."
)
REPEATED_CURVES = (
    "The loss is that of the batches trained on, from the second reading on. The induction score "
    "is the largest of all heads, on sequences kept from training."
)
EMPTY = "Nothing has been trained yet. Press Start: the first steps tell how long it takes here."
RECORDED = (
    "Until then: what the shipped model's cross-attention looked at as it learned. Press Play."
)
GONE = "The training of this slide is gone: it was of an earlier visit, or another has replaced it."
PATTERN = (
    "At step 0 the weights are random. The example is not trained on, and the decoder reads the "
    "right answer."
)
SHARPEST = (
    "Until you click another, the sharpest head is enlarged: its rows have the lowest mean entropy "
    "at the newest step."
)
CURVES = (
    "The loss is measured on the training batches; each point is its mean over the steps since the "
    "previous point."
)
SMOOTHED = "With label smoothing a loss cannot fall to 0: compare the exact matches."
TOY_KIND = replace(KIND, key="toy_kind")
TOY_RUN = like("toy_run", "", r"[\w-]{1,8}")  # key of the training shown; slides store it
EVERY = 1.0  # seconds between two updates of the page
MOST_RUNS = 5  # curves of trainings that a session keeps, the newest included
MATCH = "Exact match on unseen examples"
WITHOUT_HEAD = "Induction with and without the previous-token head"


@st.cache_resource
def trainings() -> JobQueue:
    return training_queue(limits.TRAININGS, longest=limits.TRAINING_SECONDS)


def start() -> None:
    """Begin a training with the chosen options; the curves of the previous one stay."""
    mine = workshop()
    with refusals():
        options = chosen_options()
        job = TrainingJob(trainings(), options)
        job.resume()
        let_go(keep=True)
        mine.count += 1
        changed = changes(options)
        name = f"{mine.count}. {TASKS[options.task].title}{': ' if changed else ''}{changed}"
        mine.training = Training(name, job)


def go_on(training: Training) -> None:
    with refusals():
        training.job.resume()


def let_go(keep: bool = False) -> None:
    """Stop the present training and remove it; if `keep`, its curves stay for comparison."""
    mine = workshop()
    if training := mine.training:
        mine.training = None
        training.job.stop()
        if keep:
            earlier = {**mine.earlier, training.name: lines(training.job.task, training.job.look())}
            mine.earlier = dict(list(earlier.items())[-(MOST_RUNS - 1) :])


def lines(task: Task, state: TrainingState) -> dict[str, Curve]:
    """Return the curves of a training, by the panel to draw them in."""
    loss, score = (REPEATED, INDUCTION) if task.decoder_only else ("Loss, in nats a token", MATCH)
    drawn = {
        loss: (state.loss_steps, state.losses),
        score: (state.match_steps, state.matches),
    }
    # Without the learning rate, the loss and the induction score are next to each other.
    rates = {} if task.decoder_only else {"Learning rate": (state.loss_steps, state.learning_rates)}
    return drawn | rates


def watch(ready: bool) -> None:
    """Draw the training with its buttons, again and again while it changes.

    `ready` says whether a training can be started with the chosen options.
    """
    training = workshop().training
    active = training is not None and training.job.look().status in ACTIVE
    (growing if active else still)(ready, active)


def watched() -> Training | None:
    """Return the shown training; a slide shows the one it was made on, or says that it is gone."""
    training = workshop().training
    if showing().scene() is None:
        put(TOY_RUN, identity(training))
    elif chosen(TOY_RUN) and chosen(TOY_RUN) != identity(training):
        with place(NOTE):
            st.info(GONE)
        return None
    return training


def identity(training: Training | None) -> str:
    """Return the short key that identifies a training; empty for none."""
    return training.key[:8] if training else ""


def panel(ready: bool, updating: bool) -> None:
    """Draw all that changes while a training runs; `updating` if this part reruns by itself."""
    training = watched()
    state = training.job.look() if training else None
    if showing().scene() is None and updating != (state is not None and state.status in ACTIVE):
        st.rerun()  # rerun the whole page: it decides whether this part goes on rerunning by itself
    buttons(ready, training, state)
    if refused := workshop().refused:
        st.error(refused)
        workshop().refused = ""
    if not (training and state):
        st.info(EMPTY)
        curves(training, state)
        if showing().scene() is None:
            st.caption(RECORDED)
            film(recorded_training(), "cross", SHIPPED[DEFAULT].title, "toy_recorded")
        return
    progress(state)
    kind = "decoder" if training.job.task.decoder_only else choose_kind(TOY_KIND)
    film(state.snapshots, kind, training.name)
    caption(f"What to look for: {training.job.task.expectation} {PATTERN}")
    newest(training.job.task, state)
    curves(training, state)
    lesion(training, state)
    left, right = st.columns(2, gap="medium")
    with left:
        try_it(training, state)
    with right:
        use_it(training.job)


still, growing = section(panel), section(panel, EVERY)


def buttons(ready: bool, training: Training | None, state: TrainingState | None) -> None:
    """Draw the buttons start, pause, resume, stop and reset; each is enabled only if it can act."""
    name, job = (state.status, training.job) if training and state else ("", None)
    running = name in (*ACTIVE, "paused")
    with st.container(horizontal=True):
        begin = {"on_click": start, "disabled": running or not ready, "type": "primary"}
        st.button("Start", **begin, key="toy_start")
        if name == "paused":
            st.button("Go on", on_click=go_on, args=[training], key="toy_go_on")
        else:
            pause = job and job.pause
            st.button("Pause", on_click=pause, disabled=name not in ACTIVE, key="toy_pause")
        st.button("Stop", on_click=job and job.stop, disabled=not running, key="toy_stop")
        st.button("Reset", on_click=let_go, disabled=training is None, key="toy_reset")


def progress(state: TrainingState) -> None:
    """Draw how far the training is."""
    words = f"Step {state.step:,} of {state.steps:,}, {state.seconds:.0f} s"
    if state.status == "waiting":
        words = f"Waiting for other visitors' trainings: place {state.place} in line. {words}"
    elif state.status == "running" and state.seconds_left is not None:
        words += f", about {state.seconds_left:.0f} s left"
    elif state.status != "running":
        words = f"{state.status.capitalize()}. {words}"
    st.progress(state.step / state.steps, words)
    if state.note:
        st.warning(state.note)


def newest(task: Task, state: TrainingState) -> None:
    """Draw the newest loss and score of the model."""
    with st.container(horizontal=True):
        loss = f"{state.losses[-1]:.3f}" if len(state.losses) else "–"
        share = "–"
        if len(state.matches):
            share = format(state.matches[-1], ".3f" if task.decoder_only else ".1%")
        st.metric("Loss, nats a token", loss, width=180)
        what = INDUCTION if task.decoder_only else "Unseen examples without a mistake"
        st.metric(what, share, width=280)


def curves(training: Training | None, state: TrainingState | None) -> None:
    """Draw the curves of this training over those of previous ones."""
    runs = {
        **workshop().earlier,
        **({training.name: lines(training.job.task, state)} if training and state else {}),
    }
    if not runs or (showing().scene() and not training):
        return
    of = about(model=", ".join(runs))
    picture = training_curves(runs, limits={MATCH: (0, 1), INDUCTION: (0, 1)})
    show(picture, "toy_curves", of=of, what="Training curves")
    is_smoothed = any(LABELS["label_smoothing"].lower() in name for name in runs)
    words = REPEATED_CURVES if training and training.job.task.decoder_only else CURVES
    caption(f"{words} {SMOOTHED}" if is_smoothed else words)
    if len(runs) > 1:
        st.button("Forget earlier runs", on_click=workshop().earlier.clear, key="toy_forget")


def film(snapshots: Snapshots, kind: Kind, name: str, key: str = "toy_film") -> None:
    """Draw what the heads look at from the first step to the newest, the sharpest one enlarged."""
    what = f"{KINDS[kind]} over the training"
    weights = snapshots.weights[0][kind].cpu()  # (steps, layers, heads, Q, K)
    entropies = torch.special.entr(weights[-1]).sum(dim=-1).mean(dim=-1)  # (layers, heads)
    selected = divmod(int(entropies.argmin()), entropies.size(1))
    tokens = labels_at_snapshots(snapshots, 0, kind)
    picture = attention_film(
        weights.numpy(), snapshots.steps, *tokens, selected=selected, name=name
    )
    show(picture, key, of=about(model=name), what=what)
    caption(SHARPEST)


def lesion(training: Training, state: TrainingState) -> None:
    """Draw what a model without an encoder loses without its previous-token head."""
    decoder_only = training.job.task.decoder_only
    result = lesioned(training.key, state.step, training.job) if decoder_only else None
    if result is None:
        return
    before = result.whole.previous[result.site.layer, result.head].item()
    st.subheader("Without the previous-token head")
    which = site_words(result.site.kind, result.site.layer, result.head)
    st.markdown(f"{which} looks most at the letter just before: score {before:.3f}.")
    runs = {"All heads on": measured(result.whole), "That head off": measured(result.without)}
    guessing = log(len(training.job.task.alphabet))
    bounds = {
        INDUCTION: 1.0,
        LESION_LOSS: max(guessing, *(each[LESION_LOSS] for each in runs.values())),
    }
    changes = f"{which} is on in the first bars and off in the second"
    of = about(model=training.name, changes=changes, place=f"After {state.step:,} steps")
    show(measure_bars(runs, bounds), "toy_lesion", of=of, what=WITHOUT_HEAD)
    caption(LESION.format(guessing=guessing))


def measured(reading: Reading) -> dict[str, float]:
    return {INDUCTION: reading.induction.max().item(), LESION_LOSS: reading.loss}
