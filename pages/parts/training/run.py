"""The training of a session: started, watched and kept for comparison."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from model.training.jobs import Trainings
from model.training.state import TrainingState
from model.training.tasks import TASKS, Task
from pages.parts.training.lesion import lesion
from pages.parts.training.options import changes, chosen_options
from pages.parts.training.use import try_it, use_it
from pages.parts.training.words import (
    ALONE,
    CURVES,
    EMPTY,
    GONE,
    INDUCTION,
    PATTERN,
    REPEATED,
)
from pages.shared.link.address import section
from pages.shared.runs import limits
from pages.shared.show.glossary import caption
from pages.shared.show.labels import labels_at_snapshots
from pages.shared.show.pictures import show
from pages.shared.show.saving import about
from pages.shared.show.stage import NOTE, place
from pages.shared.state.choice import like
from pages.shared.state.choices import KIND, KINDS, chosen, put
from pages.shared.state.slide import slide
from pages.shared.state.workshop import Run, refusals, workshop
from pages.shared.widgets.choose import choose_kind
from viz import attention_film, training_curves
from viz.curves.training_curves import Line

TOY_KIND = replace(KIND, key="toy_kind")
TOY_RUN = like("toy_run", "", r"[\w-]{1,8}")  # the training that is shown, so that a slide knows it
EVERY = 1.0  # seconds between two updates
ACTIVE = ("waiting", "training")
MOST_RUNS = 5  # whose curves a session keeps, the newest included
MATCH = "Exact match on unseen examples"


@st.cache_resource
def trainings() -> Trainings:
    """Return the trainings of all visitors."""
    return Trainings(limits.TRAININGS, longest=limits.TRAINING_SECONDS)


def start() -> None:
    """Begin a training with the chosen options; the curves of the previous one stay."""
    mine = workshop()
    with refusals():
        options = chosen_options()
        job = trainings().start(options)
        let_go(keep=True)
        mine.count += 1
        changed = changes(options)
        name = f"{mine.count}. {TASKS[options.task].title}{': ' if changed else ''}{changed}"
        mine.run = Run(name, job)


def go_on(run: Run) -> None:
    """Resume a paused training."""
    with refusals():
        run.job.resume()


def let_go(keep: bool = False) -> None:
    """Stop the present training and remove it; `keep` its curves to compare with."""
    mine = workshop()
    if run := mine.run:
        mine.run = None
        run.job.stop()
        if keep:
            earlier = {**mine.earlier, run.name: lines(run.job.task, run.job.look())}
            mine.earlier = dict(list(earlier.items())[-(MOST_RUNS - 1) :])


def lines(task: Task, state: TrainingState) -> dict[str, Line]:
    """Return what is drawn of a training, by panel."""
    loss, score = (REPEATED, INDUCTION) if task.alone else ("Loss, in nats a token", MATCH)
    drawn = {
        loss: (state.loss_steps, state.losses),
        score: (state.match_steps, state.matches),
    }
    # Nothing beside the two that are to be seen as one.
    rates = {} if task.alone else {"Learning rate": (state.loss_steps, state.learning_rates)}
    return drawn | rates


def watch(ready: bool) -> None:
    """Draw the training with its buttons, again and again while there is something to see.

    `ready` says whether a training can be started with the options chosen.
    """
    run = workshop().run
    active = run is not None and run.job.look().status in ACTIVE
    (growing if active else still)(ready, active)


def watched() -> Run | None:
    """Return the training that is shown; a slide shows its own one, or says that it is gone."""
    run = workshop().run
    if slide() is None:
        put(TOY_RUN, identity(run))
    elif chosen(TOY_RUN) and chosen(TOY_RUN) != identity(run):
        with place(NOTE):
            st.info(GONE)
        return None
    return run


def identity(run: Run | None) -> str:
    """Return what tells a training from others."""
    return run.key[:8] if run else ""


def panel(ready: bool, updating: bool) -> None:
    """Draw all that changes while a training runs; `updating` says whether it reruns by itself."""
    run = watched()
    state = run.job.look() if run else None
    if slide() is None and updating != (state is not None and state.status in ACTIVE):
        st.rerun()  # of the whole page, which decides anew whether this is drawn again by itself
    buttons(ready, run, state)
    if refused := workshop().refused:
        st.error(refused)
        workshop().refused = ""
    if run is None:
        st.info(EMPTY)
        curves(run, state)
        return
    progress(run.job.task, state)
    curves(run, state)
    film(run, state)
    if run.job.task.alone:
        lesion(run, state)
    left, right = st.columns(2, gap="medium")
    with left:
        try_it(run, state)
    with right:
        use_it(run.job)


still, growing = section(panel), section(panel, EVERY)


def buttons(ready: bool, run: Run | None, state: TrainingState | None) -> None:
    """Draw start, pause, go on, stop and reset, each enabled if it can be pressed."""
    name, job = (state.status, run.job) if run else ("", None)
    running = name in (*ACTIVE, "paused")
    with st.container(horizontal=True):
        begin = {"on_click": start, "disabled": running or not ready, "type": "primary"}
        st.button("Start", **begin, key="toy_start")
        if name == "paused":
            st.button("Go on", on_click=go_on, args=[run], key="toy_go_on")
        else:
            pause = job and job.pause
            st.button("Pause", on_click=pause, disabled=name not in ACTIVE, key="toy_pause")
        st.button("Stop", on_click=job and job.stop, disabled=not running, key="toy_stop")
        st.button("Reset", on_click=let_go, disabled=run is None, key="toy_reset")


def progress(task: Task, state: TrainingState) -> None:
    """Draw how far the training is, and how good."""
    words = f"Step {state.step:,} of {state.steps:,}, {state.seconds:.0f} s"
    if state.status == "waiting":
        words = f"Waiting for other visitors' trainings: place {state.place} in line. {words}"
    elif state.status == "training" and state.seconds_left is not None:
        words += f", about {state.seconds_left:.0f} s left"
    elif state.status != "training":
        words = f"{state.status.capitalize()}. {words}"
    st.progress(state.step / state.steps, words)
    if state.note:
        st.warning(state.note)
    with st.container(horizontal=True):
        loss = f"{state.losses[-1]:.3f}" if len(state.losses) else "–"
        share = "–"
        if len(state.matches):
            share = format(state.matches[-1], ".3f" if task.alone else ".1%")
        st.metric("Loss, nats a token", loss, width=180)
        what = INDUCTION if task.alone else "Unseen examples without a mistake"
        st.metric(what, share, width=280)


def curves(run: Run | None, state: TrainingState | None) -> None:
    """Draw the curves of this training over those of previous ones."""
    runs = {**workshop().earlier, **({run.name: lines(run.job.task, state)} if run else {})}
    if not runs or (slide() and not run):
        return
    of = about(model=", ".join(runs))
    picture = training_curves(runs, limits={MATCH: (0, 1), INDUCTION: (0, 1)})
    show(picture, "toy_curves", of=of, what="Training curves")
    caption(ALONE if run and run.job.task.alone else CURVES)
    if len(runs) > 1:
        st.button("Forget earlier runs", on_click=workshop().earlier.clear, key="toy_forget")


def film(run: Run, state: TrainingState) -> None:
    """Draw what the heads look at, from the first step to the newest."""
    st.subheader("What the heads look at")
    st.caption(f"What to look for: {run.job.task.expectation} {PATTERN}")
    kind = "decoder" if run.job.task.alone else choose_kind(TOY_KIND)
    found, what = state.snapshots, f"{KINDS[kind]} over the training"
    weights = found.weights[0][kind].cpu().numpy()  # (steps, layers, heads, Q, K)
    selected = weights.shape[1] - 1, 0
    tokens = labels_at_snapshots(found, 0, kind)
    picture = attention_film(weights, found.steps, *tokens, selected=selected, name=run.name)
    show(picture, "toy_film", of=about(model=run.name), what=what)
