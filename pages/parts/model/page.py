"""The page Model card: the shipped model, its limits, and how it was trained."""

import re
from dataclasses import replace

import streamlit as st

from headlight.pages.shared.address import section
from headlight.pages.shared.runs.shipped import FOLDER, recorded_training
from headlight.pages.shared.show.captions import caption, draw_glossary, labels_at_snapshots
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.saving import about
from headlight.pages.shared.state.choice import counted
from headlight.pages.shared.state.choices import COMMON, KIND, KINDS, MODEL
from headlight.pages.shared.state.page import Page
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import attention_film, training_curves

CURVES = {  # the columns of the training log, and their titles
    "valid_loss": "Loss on unseen pairs, in nats per token",
    "bleu": "BLEU on unseen pairs",
    "learning_rate": "Learning rate",
}
LIMITS = "## Limits"  # the heading of the section on what the model cannot do
HISTORY_SENTENCE = counted("history_sentence", 0, 4, label="Sentence")
HISTORY_KIND = replace(KIND, key="history_kind")


@section
def heads_over_time() -> None:
    """Draw a film of all heads' maps on an example sentence, over the steps of the training."""
    recorded = recorded_training()
    numbers = range(len(recorded.sentences))
    sentence, kinds = st.columns([3, 2], gap="medium")
    with sentence:
        words = recorded.sentences.__getitem__
        number = choose(HISTORY_SENTENCE, numbers, widget=st.selectbox, format_func=words)
    with kinds:
        kind = choose(HISTORY_KIND, recorded.weights[number])
    weights = recorded.weights[number][kind].numpy()  # (steps, layers, heads, Q, K)
    labels = labels_at_snapshots(recorded, number, kind)
    film = attention_film(weights, recorded.steps, *labels, selected=(1, 2))
    of = about(recorded.sentences[number])
    show(film, "history", of=of, what=f"{KINDS[kind]} during the training")
    caption(
        "The decoder reads the finished model's translation at every step, so that the maps can be "
        "compared. At step 0 nothing is learned yet."
    )


def limits_first(card: str) -> str:
    beginning, *sections = re.split(r"^(?=## )", card, flags=re.MULTILINE)
    return beginning + "".join(sorted(sections, key=lambda part: not part.startswith(LIMITS)))


def the_model() -> None:
    import pandas as pd  # imported here, because this takes long

    card = (FOLDER / "README.md").read_text(encoding="utf-8").partition("\n")[2]
    st.markdown(limits_first(card))
    st.subheader("How it learned")
    log = pd.read_csv(FOLDER / "log.csv")
    numbers = {column: log[column].to_numpy() for column in ("step", *CURVES)}
    curves = {title: (numbers["step"], numbers[column]) for column, title in CURVES.items()}
    picture = training_curves({"en-fr": curves})
    show(picture, "curves", of=about(model="en-fr"), what="Training curves")
    heads_over_time()
    st.subheader("The words, explained")
    draw_glossary()


PAGE = Page(
    key="model",
    title="Model card",
    group="More",
    purpose="What the shipped model is, how it was trained, what it cannot do",
    body=the_model,
    choices=(HISTORY_SENTENCE, HISTORY_KIND),
    pictures={"curves": "how it learned", "history": "its heads during the training"},
    first=("curves",),
    unread=tuple(choice for choice in COMMON if choice is not MODEL),
)
