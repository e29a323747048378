"""The learning rate and the loss, independent of any run."""

import numpy as np
import streamlit as st
import torch

from model.tokens import SPECIAL_TOKENS
from model.training.loop import Settings, learning_rate, loss_of_probability, smoothed_target
from model.training.small_models import TrainingOptions
from model.training.tasks import DIGITS
from pages.parts.training.words import LABELS, SCHEDULE, SMOOTHING
from pages.shared.link.address import section
from pages.shared.show.glossary import caption
from pages.shared.show.pictures import show_altair
from pages.shared.show.saving import NO_MODEL
from pages.shared.state.choice import one_of
from pages.shared.widgets.choose import choose
from viz import position_lines

COMPARED = {"d_model": (32, 64, 128, 256, 512), "warmup": (1, 100, 300, 1_000, 4_000)}
SCHEDULE_BY = one_of(
    "toy_compared", {name: LABELS[name] for name in COMPARED}, label="Learning rate by"
)
LINES = {"d_model": "width", "warmup": "warm-up"}
SMOOTHINGS = (0.0, 0.05, 0.1, 0.2, 0.4)
CLASSES = len(DIGITS) + len(SPECIAL_TOKENS)  # of the tasks with digits
POINTS = 200  # of a curve
HIGHEST = 4.0  # nats, the end of the axis of losses


@section
def lessons(options: TrainingOptions) -> None:
    """Draw the warm-up schedule and label smoothing as curves."""
    left, right = st.columns(2, gap="medium")
    with left:
        schedule(options)
    with right:
        smoothing()


def schedule(options: TrainingOptions) -> None:
    """Draw the paper's learning rate for several widths or warm-ups, and for the chosen options."""
    compared = choose(SCHEDULE_BY)
    steps = np.unique(np.linspace(1, options.steps, POINTS).astype(int))
    drawn = {"as chosen above": rates(steps, options.d_model, options.settings)}
    for value in COMPARED[compared]:
        shape = {"d_model": options.d_model, "warmup": options.warmup, compared: value}
        settings = Settings(steps=options.steps, warmup=shape["warmup"], cooldown=0)
        drawn[f"{LINES[compared]} {value:,}"] = rates(steps, shape["d_model"], settings)
    chart = position_lines(drawn, steps, x="step", y="learning rate")
    show_altair(chart, "toy_rates", of=NO_MODEL, what="Learning rate by step")
    caption(SCHEDULE)


def rates(steps: np.ndarray, d_model: int, settings: Settings) -> np.ndarray:
    return np.array([learning_rate(int(step), d_model, settings) for step in steps])


def smoothing() -> None:
    """Draw the loss by the probability of the right token, for several smoothings."""
    probability = torch.linspace(0, 1, POINTS + 2, dtype=torch.float64)[1:-1]
    drawn = {
        f"smoothing {share:g}": loss_of_probability(probability, CLASSES, share).numpy()
        for share in SMOOTHINGS
    }
    axes = {"x": "probability of the wanted token", "y": "loss in nats"}
    chart = position_lines(drawn, probability.numpy(), **axes, limits=(0, HIGHEST))
    what = "Loss by probability, for several smoothings"
    show_altair(chart, "toy_smoothing", of=NO_MODEL, what=what)
    lowest = ", ".join(
        f"{smoothed_target(CLASSES, share)[0]:.3f} with {share:g}" for share in SMOOTHINGS[1:]
    )
    caption(f"{SMOOTHING} With the {CLASSES} tokens of the tasks on digits: {lowest}.")
