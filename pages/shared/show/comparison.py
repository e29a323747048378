"""The model's output as trained and with a visitor's changes, side by side."""

from __future__ import annotations

import streamlit as st

from model import Translation
from model.insight.scoring import trace_log_probabilities
from model.trace import Trace
from pages.shared.runs.arrays import following
from pages.shared.show.pictures import chips, show
from pages.shared.show.saving import About
from viz import probability_bars, token_strip

TRAINED, CHANGED = "as trained", "with your changes"
KEYS = ("trained", "changed")
SCORE = "Score of the original translation", "nats"
LOSS = "Loss on the known target", "nats a token"


def compare_translations(
    before: Translation,
    after: Translation,
    labels: tuple[str, str] = (TRAINED, CHANGED),
    *,
    of: About,
) -> None:
    """Draw both translations, the differences marked in each."""
    shown = zip(KEYS, labels, (before, after), (after, before), strict=True)
    for key, label, translation, other in shown:
        row = chips(translation.target_tokens, other.target_tokens)
        strip = token_strip(translation.text, row, label=f"Translation {label}")
        show(strip, key, of=of, what=f"Translation {label}")


def compare_scores(before: Trace, after: Trace, *, changed: bool, loss: bool = False) -> None:
    """Show how likely the whole target is with changes, if there are any, and as trained.

    That is the sum of its tokens' log-probabilities, or as a `loss` minus their mean.
    """
    found = (trace_log_probabilities(trace) for trace in (before, after))
    trained, now = ((-each.mean() if loss else each.sum()).item() for each in found)
    label, unit = LOSS if loss else SCORE
    change = f"{now - trained:+.3f} against {trained:.3f} as trained" if changed else None
    color = "inverse" if loss else "normal"
    st.metric(label, f"{now:.3f} {unit}", change, delta_color=color)


def compare_probabilities(
    before: Trace, after: Trace, labels: tuple[str, str] = (TRAINED, CHANGED), *, of: About
) -> None:
    """Draw how likely each token of the target is, in two runs over the same target."""
    runs = {
        label: trace_log_probabilities(trace).exp().cpu().numpy()
        for label, trace in zip(labels, (before, after), strict=True)
    }
    bars = probability_bars(runs, [token.text for token in following(before)])
    show(bars, "probabilities", of=of, what="Probability of each token of the target")
