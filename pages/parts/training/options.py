"""The task and the options of a training, chosen on the page."""

from dataclasses import replace
from functools import partial

import streamlit as st

from model.config import CHOICES as OF_MODELS
from model.training.small_models import BOUNDS, TrainingOptions, default_options
from model.training.tasks import TASKS, Task
from pages.parts.training.words import COMPARE, EXPERIMENTS, HELP, LABELS
from pages.shared.state.choice import Choice, number, one_of
from pages.shared.state.choices import chosen, put
from pages.shared.widgets.choose import choose, pick_one

SHOWN = ("longest", "layers", "heads", "d_model", "steps")
SHAPES = {name: OF_MODELS[name] for name in ("positions", "norm")}
ADVANCED = ("shortest", "d_ff", "batch_size", "warmup", "rate", "label_smoothing", "seed")
WIDTH = 140  # pixels of a number's box
STEPS = {"steps": 100, "warmup": 50, "rate": 0.1, "label_smoothing": 0.05, "d_model": 8, "d_ff": 32}
TASK = one_of("toy_task", {name: task.title for name, task in TASKS.items()}, label="Task")


def option_of(task: Task, option: str, value: float | str) -> Choice | None:
    """Return the choice of an option, each task having its own; None if it has no such option."""
    key = f"toy_{task.name}_{option}"
    if option in SHAPES:
        names = {name: name for name in SHAPES[option]}
        return one_of(key, names, value, label=LABELS[option], help=HELP[option])
    if option not in BOUNDS and not task.length_name:
        return None
    length = task.length_name.split()[0] if task.length_name else ""
    lowest, longest = task.lengths
    between = BOUNDS.get(option, (1 if option == "shortest" else lowest, longest))
    if task.alone and option == "layers":
        return number(key, value, between, label="Layers", help="Layers in the decoder.")
    label, step = LABELS[option].format(length=length), STEPS.get(option, 1)
    return number(key, value, between, label=label, step=step, help=HELP[option])


OPTIONS: dict[str, dict[str, Choice]] = {  # by task and option
    name: {
        option: choice
        for option, value in vars(default_options(name)).items()
        if option in LABELS and (choice := option_of(task, option, value))
    }
    for name, task in TASKS.items()
}
CHOICES = (TASK, *(choice for options in OPTIONS.values() for choice in options.values()))


def choose_options() -> TrainingOptions | None:
    """Draw the widgets; return None, with a message, if no model can have the chosen options."""
    name = choose(TASK, TASK.options, widget=st.selectbox)
    task, options = TASKS[name], OPTIONS[name]
    st.caption(f"{task.description} Such as {task.example} → {task.answer(task.example)}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for option in filter(options.get, SHOWN):
            choose(options[option], width=WIDTH)
    with st.expander("More options"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            for option in filter(options.get, ADVANCED):
                choose(options[option], width=WIDTH)
        with st.container(horizontal=True):
            for option in SHAPES:
                choose(options[option])
    pick_one("Experiments", EXPERIMENTS, "toy_experiment", partial(experiment, name), help=COMPARE)
    try:
        return chosen_options()
    except ValueError as error:
        st.error(str(error))
        return None


def chosen_options() -> TrainingOptions:
    """Return the chosen options; raise ValueError if no model can have them."""
    task = chosen(TASK)
    values = {option: chosen(choice) for option, choice in OPTIONS[task].items()}
    return replace(default_options(task), **values)


def experiment(task: str, name: str) -> None:
    """Set a task's options to those of an experiment."""
    for option, choice in OPTIONS[task].items():
        put(choice, EXPERIMENTS[name].get(option, choice.default))


def changes(options: TrainingOptions) -> str:
    """Return the differences from the recommended options in words; empty if there are none."""
    usual = vars(default_options(options.task))
    words = [
        f"{LABELS[name].format(length='length').lower()} {value:g}"
        if isinstance(value, int | float)
        else f"{LABELS[name].lower()} {value}"
        for name, value in vars(options).items()
        if value != usual[name]
    ]
    return ", ".join(words)
