"""The task and the options of a training, chosen on the page."""

from __future__ import annotations

from dataclasses import fields

import streamlit as st

from model.config import CHOICES
from model.training.small_models import BOUNDS, TrainingOptions, default_options
from model.training.tasks import TASKS, Task
from pages.parts.training.words import COMPARE, EXPERIMENTS, HELP, LABELS

SHOWN = ("longest", "layers", "heads", "d_model", "steps")
ADVANCED = ("shortest", "d_ff", "batch_size", "warmup", "rate", "label_smoothing", "seed")
WIDTH = 132  # pixels of a number's box
STEPS = {"steps": 100, "warmup": 50, "rate": 0.1, "label_smoothing": 0.05, "d_model": 8, "d_ff": 32}


def choose_options() -> TrainingOptions | None:
    """The widgets; None, after saying why, where no model can have what was chosen."""
    name = st.segmented_control(
        "Task",
        TASKS,
        key="toy_task",
        default=next(iter(TASKS)),
        format_func=lambda name: TASKS[name].title,
        required=True,
        wrap=True,
        persist_state="session",
    )
    task = TASKS[name]
    for option, value in vars(default_options(name)).items():
        st.session_state.setdefault(key(name, option), value)
    st.caption(f"{task.description} Such as {task.example} → {task.answer(task.example)}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for option in SHOWN:
            number(task, option)
    with st.expander("More options"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            for option in ADVANCED:
                number(task, option)
        with st.container(horizontal=True):
            for option in ("positions", "norm"):
                st.segmented_control(
                    LABELS[option],
                    CHOICES[option],
                    key=key(name, option),
                    required=True,
                    help=HELP[option],
                    persist_state="session",
                )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(COMPARE, width="content")
        st.pills(
            "Experiments",
            EXPERIMENTS,
            key="toy_experiment",
            on_change=experiment,
            args=[name],
            label_visibility="collapsed",
            wrap=True,
        )
    try:
        return chosen_options()
    except ValueError as error:
        st.error(str(error))
        return None


def chosen_options() -> TrainingOptions:
    """The options as the widgets now have them; raises ValueError where no model can have them."""
    task = st.session_state.toy_task
    usual = default_options(task)  # of a task whose widgets are on their way
    names = [field.name for field in fields(TrainingOptions)[1:]]
    chosen = {name: st.session_state.get(key(task, name), vars(usual)[name]) for name in names}
    return TrainingOptions(task, **chosen)


def number(task: Task, option: str) -> None:
    """The box of an option that is a number; none where the task has no such thing."""
    if option in BOUNDS:
        least, most = BOUNDS[option]
    elif task.length_name:
        least, most = (1 if option == "shortest" else task.lengths[0]), task.lengths[1]
    else:
        return
    st.number_input(
        LABELS[option].format(length=task.length_name.split()[0] if task.length_name else ""),
        least,
        most,
        step=STEPS.get(option, 1),
        key=key(task.name, option),
        help=HELP[option],
        width=WIDTH,
        persist_state="session",
    )


def experiment(task: str) -> None:
    """Set a task's options to the clicked experiment's, and let it be clicked again."""
    changed = EXPERIMENTS[st.session_state.toy_experiment]
    for option, value in (vars(default_options(task)) | changed).items():
        st.session_state[key(task, option)] = value
    st.session_state.toy_experiment = None


def changes(options: TrainingOptions) -> str:
    """What differs from the recommended options, in words; empty where nothing does."""
    usual = vars(default_options(options.task))
    words = [
        f"{LABELS[name].format(length='length').lower()} {value:g}"
        if isinstance(value, int | float)
        else f"{LABELS[name].lower()} {value}"
        for name, value in vars(options).items()
        if value != usual[name]
    ]
    return ", ".join(words)


def key(task: str, option: str) -> str:
    """Where an option of a task stands in the session; each task keeps its own."""
    return f"toy_{task}_{option}"
