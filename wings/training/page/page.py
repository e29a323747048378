"""Training: train a small Transformer, see its heads form, and see its schedule and loss."""

import numpy as np
import streamlit as st
import torch

from headlight.model.tokens import SPECIAL_TOKENS
from headlight.model.training.step import (
    Settings,
    learning_rate,
    loss_of_probability,
    smoothed_target,
)
from headlight.pages.shared.address import section
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.pictures import show_altair
from headlight.pages.shared.show.saving import NO_MODEL
from headlight.pages.shared.state.choice import one_of
from headlight.pages.shared.state.choices import COMMON
from headlight.pages.shared.state.page import Page
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import position_lines
from headlight.wings.training.page.options import CHOICES, LABELS, choose_options
from headlight.wings.training.page.run import TOY_KIND, TOY_RUN, watch
from headlight.wings.training.small_models import TrainingOptions
from headlight.wings.training.tasks import DIGITS

RATE = (
    r"d_\text{model}^{-0.5} \cdot \min(\text{step}^{-0.5},\ "
    r"\text{step} \cdot \text{warm-up}^{-1.5})"
)
SCHEDULE = (
    "The paper's schedule. A wider model takes smaller steps. Without a warm-up the first steps, "
    "whose gradients are least reliable, are the largest. The small models here multiply it by a "
    "rate factor, {factor:g} as chosen above, and lower it in a straight line to 0 over the second "
    "half of their steps."
)
SMOOTHING = (
    "Label smoothing spreads a share of the wanted answer evenly over all tokens. The loss is then "
    "lowest at a probability below 1."
)
COMPARED = {"d_model": (32, 64, 128, 256, 512), "warmup": (1, 100, 300, 1_000, 4_000)}
SCHEDULE_BY = one_of(
    "toy_compared", {name: LABELS[name] for name in COMPARED}, label="Learning rate by"
)
LINES = {"d_model": "width", "warmup": "warm-up"}
SMOOTHINGS = (0.0, 0.05, 0.1, 0.2, 0.4)
CLASSES = len(DIGITS) + len(SPECIAL_TOKENS)  # the number of tokens in tasks with digits
POINTS = 200  # points of each curve
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
    st.latex(RATE)
    caption(SCHEDULE.format(factor=options.settings.rate))


def rates(steps: np.ndarray, d_model: int, settings: Settings) -> np.ndarray:
    return np.array([learning_rate(int(step), d_model, settings) for step in steps])


def smoothing() -> None:
    """Draw the loss by the probability of the right token, for several smoothings."""
    probability = torch.linspace(0, 1, POINTS + 2, dtype=torch.float64)[1:-1]
    drawn = {
        f"smoothing {share:g}": loss_of_probability(probability, CLASSES, share).numpy()
        for share in SMOOTHINGS
    }
    x, y = "probability of the wanted token", "loss in nats"
    chart = position_lines(drawn, probability.numpy(), x=x, y=y, limits=(0, HIGHEST))
    what = "Loss by probability, for several smoothings"
    show_altair(chart, "toy_smoothing", of=NO_MODEL, what=what)
    lowest = ", ".join(
        f"{smoothed_target(CLASSES, share)[0]:.3f} with {share:g}" for share in SMOOTHINGS[1:]
    )
    caption(f"{SMOOTHING} With the {CLASSES} tokens of the tasks on digits: {lowest}.")


def training() -> None:
    seen, chosen = st.columns([2, 1], gap="medium")
    with chosen:
        options = choose_options()
    with seen:
        watch(ready=options is not None)
    if options:
        st.subheader("Learning rate and loss")
        lessons(options)


PAGE = Page(
    key="training",
    title="Training",
    group="Watch",
    purpose="Watch attention being learned, from random parameters",
    body=training,
    choices=(*CHOICES, SCHEDULE_BY, TOY_KIND, TOY_RUN),
    pictures={
        "toy_film": "the heads over the training",
        "toy_curves": "the training curves",
        "toy_lesion": "induction without the previous-token head",
        "toy_output": "what the model writes",
        "toy_answer": "the right answer",
        "toy_rates": "the learning rate",
        "toy_smoothing": "label smoothing",
    },
    first=("toy_film",),
    unread=COMMON,
)
