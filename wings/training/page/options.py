"""The task and the options of a training, chosen on the page."""

from dataclasses import replace
from functools import partial

import streamlit as st

from headlight.model.shape import CHOICES as OF_MODELS
from headlight.pages.shared.state.choice import Choice, number, one_of
from headlight.pages.shared.state.choices import chosen, put
from headlight.pages.shared.widgets.choose import choose, pick_one
from headlight.wings.training.small_models import BOUNDS, TrainingOptions, default_options
from headlight.wings.training.tasks import TASKS, Task

LABELS = {  # by option
    "longest": "Most {length}",
    "shortest": "Fewest {length}",
    "layers": "Layers each",
    "heads": "Heads",
    "d_model": "Width d_model",
    "d_ff": "Width d_ff",
    "steps": "Steps",
    "batch_size": "Batch",
    "warmup": "Warm-up",
    "rate": "Rate factor",
    "label_smoothing": "Smoothing",
    "seed": "Seed",
    "positions": "Positions",
    "norm": "Layer norm",
}
HELP = {
    "longest": "The longest example; lengths are drawn at random.",
    "shortest": "The shortest example; lengths are drawn at random.",
    "layers": "Layers in the encoder and in the decoder.",
    "heads": "The heads share the width, which must be a multiple of their number.",
    "d_model": "How many numbers stand for a token between the layers.",
    "d_ff": "How many hidden units the feed-forward part of a layer has.",
    "steps": "How many batches the model learns from. Every batch is new; no example is stored.",
    "batch_size": "How many examples go into one step.",
    "warmup": "The learning rate rises for this many steps, then falls with 1/√step.",
    "rate": "Multiplies the learning rate of the paper's schedule at every step.",
    "label_smoothing": "The share of the wanted answer that is spread evenly over all tokens.",
    "seed": "Decides the first weights and the examples; the same seed gives the same run.",
    "positions": "How the model knows a token's place. Without positions it reads a set of tokens.",
    "norm": "Before each part of a layer (pre) or after it (post, as in the paper).",
}
EXPERIMENTS = {  # the options that each experiment changes
    "As recommended": {},
    "No warm-up": {"warmup": 1},
    "Rate factor 3": {"rate": 3.0},
    "Rate factor 0.05": {"rate": 0.05},
    "Smoothing 0.2": {"label_smoothing": 0.2},
    "No positions": {"positions": "none"},
}
COMPARE = "The curves of your last runs stay, so train twice to see what a setting does."
SHOWN = ("longest", "layers", "heads", "d_model", "steps")
SHAPES = {name: OF_MODELS[name] for name in ("positions", "norm")}
ADVANCED = ("shortest", "d_ff", "batch_size", "warmup", "rate", "label_smoothing", "seed")
WIDTH = 140  # pixels of a number's box
STEPS = {"steps": 100, "warmup": 50, "rate": 0.1, "label_smoothing": 0.05, "d_model": 8, "d_ff": 32}
TASK = one_of("toy_task", {name: task.title for name, task in TASKS.items()}, label="Task")


def option_of(task: Task, option: str, value: float | str) -> Choice | None:
    """Return the widget's choice for one option of a task; None if the task has no such option."""
    key = f"toy_{task.name}_{option}"
    if isinstance(value, str):
        names = {name: name for name in SHAPES[option]}
        return one_of(key, names, value, label=LABELS[option], help=HELP[option])
    if option not in BOUNDS and not task.length_name:
        return None
    length = task.length_name.split()[0] if task.length_name else ""
    lowest, longest = task.lengths
    between = BOUNDS.get(option, (1 if option == "shortest" else lowest, longest))
    if task.decoder_only and option == "layers":
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
