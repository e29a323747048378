"""A model's texts and scores, as trained and with a visitor's changes, side by side."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import streamlit as st

from headlight.model.decoding.steps import Translation, Writing
from headlight.model.edits import CellEdit, Edits
from headlight.model.insight.scoring import log_probabilities
from headlight.model.questions import Objective
from headlight.pages.shared.runs.arrays import tokens_of
from headlight.pages.shared.runs.run import ModelRun, decoded, written
from headlight.pages.shared.show.captions import GLOSSARY, edit_words
from headlight.pages.shared.show.doubt import warn
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.saving import About, about_run
from headlight.pages.shared.show.texts import changed_places, chips_written, ended, what_became
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state.showing import drawn, is_wanted, say
from headlight.pages.streamlit_fixes.waiting_messages import send_what_is_drawn
from headlight.viz import token_strip
from headlight.viz.numbers import number_text

TRAINED, CHANGED = "as trained", "with your changes"
KEYS = ("trained", "changed")
LABELS = (TRAINED, CHANGED)
MUCH = 1.0  # in nats; a text that loses more log-probability than this is called less likely
MILLION = log(1e6)
ROUNDING = 1e-4  # in nats; a smaller difference of two texts is only rounding
SCORE_ROUNDING = 1e-5  # the same for a score of a model without a softmax
OWN_UNIT = "The number that the model’s last layer gives, in the unit that it was trained on."
NOTHING_ASKED = "Hide a word, or change the model, to see the effect."


def compare_texts(
    before: Writing,
    after: Writing,
    labels: tuple[str, str] = LABELS,
    *,
    of: tuple[About, About],
    names: tuple[str, str] | None = None,
    in_columns: bool = False,
) -> None:
    """Draw the texts that a model wrote in two runs, with the differences marked in each.

    If `names` are given, files and their captions use them in place of the `labels`.
    """
    columns = st.columns(2, gap="medium") if in_columns else (st.container(), st.container())
    names = names or labels
    shown = zip(KEYS, labels, names, (before, after), (after, before), of, columns, strict=True)
    for key, label, name, writing, other, of_run, column in shown:
        with column:
            kind, explained = kind_of_text(writing), key == last_wanted()
            words = {"what": f"{kind} {name}", "explained": explained}
            show_writing(writing, key, f"{kind} {label}", of=of_run, other=other, **words)


def last_wanted() -> str:
    """Return the key of the second text, or of the only text if a slide shows a single one."""
    return (list(filter(is_wanted, KEYS)) or KEYS)[-1]


def first_pictures(unchanged: str) -> tuple[str, ...]:
    """Return the keys of a new slide's pictures: both texts, or only the changed one.

    If the page draws no changed text, it is the picture with the key `unchanged`.
    """
    if KEYS[1] not in drawn():
        return (unchanged,)
    return KEYS if KEYS[0] in drawn() else KEYS[1:]


def show_writing(
    writing: Writing,
    key: str,
    label: str,
    *,
    of: About,
    what: str = "",
    other: Writing | None = None,
    explained: bool = True,
) -> None:
    """Draw a text that a model wrote, and mark the words that the `other` text does not have.

    `what` says in files what is drawn, by default the label.
    """
    framed = other is not None and bool(changed_places(writing, other))
    options = {"label": label, "explained": explained, "framed": framed}
    strip = token_strip(writing.text, chips_written(writing, other), **options)
    show(strip, key, of=of, what=what or label)


def kind_of_text(writing: Writing) -> str:
    if isinstance(writing, Translation):
        return "Translation"
    return "Text" if writing.source_tokens else "Continuation"


def compare_writing(
    before: ModelRun,
    after: ModelRun,
    labels: tuple[str, str] | None = None,
    *,
    of: About,
    in_columns: bool = False,
) -> None:
    """Draw the texts that a model writes in two runs, and how the changes affected the text.

    By default the `labels` name the edits. A text that stays the same is drawn once. For a model
    that writes no text nothing is drawn. Call this last: it takes longer than any other part of a
    page.
    """
    if "write" in before.reader.missing:
        return
    cause, names = (labels[1], labels) if labels else ("", LABELS)
    labels = labels or (TRAINED, with_edits(after))
    if decoded.kept(replace(after, target="")) is None:
        send_what_is_drawn()
    try:
        first, second = written(before), written(after)
        key, label = KEYS[0], kind_of_text(first)
        if after != before:
            say_outcome(before, after, cause)
            key, label = last_wanted(), f"{label} {labels[1]}, the same as trained"
            if is_wanted(key):  # on a slide, which has no `say_outcome`
                why = why_the_same(before, after)
                label = f"{label}{why}. {scores_in_words(before, after)}".rstrip()
        if first.target_tokens == second.target_tokens:
            show_writing(second, key, label, of=of, what=kind_of_text(second))
        else:
            both = about_run(before), of
            compare_texts(first, second, labels, of=both, names=names, in_columns=in_columns)
        warn(before)
    except ValueError as error:  # a long prompt may leave no room to write
        st.text(str(error))


def with_edits(run: ModelRun) -> str:
    """Return a label such as “with 2 heads off” for a run's edits, or “with your changes”."""
    words = edit_words(run.edits, briefly=True)
    return f"with {words}" if words else CHANGED


def say_outcome(before: ModelRun, after: ModelRun, cause: str = "") -> None:
    """Say in one sentence how changes affected the text that a model writes, with the scores.

    A `cause`, such as "with positions of the encoder off", comes before the sentence on the page.
    """
    first, second = (written(run) for run in (before, after))
    the = "the" if cause else "The"
    said = f"{the} {kind_of_text(first).lower()} {what_became(first.text, second.text)}"
    if first.text == second.text:
        said += why_the_same(before, after)
    where = f"{capital(cause)}: " if cause else ""
    say(ended(said), "outcome", where=where, numbers=scores_in_words(before, after))


def why_the_same(before: ModelRun, after: ModelRun) -> str:
    """Return why a text may stay the same despite changes, as the end of a sentence, or ""."""
    if after == replace(before, edits=Edits(gates=after.edits.gates)):
        if objective := before.objective():
            what = objective.description.removeprefix("the log-probability of ")
            lost = lost_in(before, after, objective)
            if lost > MUCH:
                times = "millions of" if lost > MILLION else f"{exp(lost):,.0f}"
                return f", but {what} is {times} times less likely"
            if lost < -ROUNDING:
                return f", and {what} is even likelier"
        if len(after.edits.gates) > 1:
            return ": other heads make up for them, or they are not needed here"
        return ": other heads make up for it, or it is not needed here"
    edits = after.edits
    only_cells = after == replace(before, edits=Edits(cells=edits.cells))
    if only_cells and not any(is_in(cell, after) for cell in edits.cells):
        return ": this text is too short to have the changed cells"
    off = [name for name in edits.off if name == "look-ahead"]
    sees_later = Edits(off, cells=edits.cells, gates=edits.gates)
    opens = "look-ahead" in edits.off or any(map(opens_later, edits.cells))
    if opens and after == replace(before, edits=sees_later):
        what = "" if all(map(opens_later, edits.cells)) else "for the opened cells, "
        return f": {what}while it is written, there is no later token to see"
    return ""


def opens_later(cell: CellEdit) -> bool:
    return cell.kind == "decoder" and cell.opened and cell.key > cell.query


def is_in(cell: CellEdit, run: ModelRun) -> bool:
    """Return whether a run's texts are long enough to have the query and the key of a cell."""
    queries, keys = tokens_of(run.trace(), cell.kind)
    return cell.query < len(queries) and cell.key < len(keys)


def scores_in_words(before: ModelRun, after: ModelRun) -> str:
    """Return a sentence with the target's log-probability (or a score) in two runs.

    The sentence is empty if nothing can be measured.
    """
    if (objective := before.objective()) is None:
        return ""
    trained, now = scores_of(before, after, objective)
    what = objective.description.removeprefix("the ").capitalize()
    unit = "" if objective.is_score else f" {objective.unit}"
    scores = f"{number_text(trained)} → {number_text(now)}{unit}"
    return f"{what}: {scores} ({number_text(now - trained, signed=True)})."


def score_of(run: ModelRun, objective: Objective) -> float:
    return log_probabilities(run.trace().logits, objective)[0].sum().item()


def scores_of(before: ModelRun, after: ModelRun, objective: Objective) -> tuple[float, float]:
    """Return the scores of two runs; if they differ only by rounding, return the first twice."""
    first, second = score_of(before, objective), score_of(after, objective)
    least = SCORE_ROUNDING if objective.is_score else ROUNDING
    return (first, first) if abs(first - second) < least else (first, second)


def lost_in(before: ModelRun, after: ModelRun, objective: Objective) -> float:
    return score_of(before, objective) - score_of(after, objective)


def compare_scores(before: ModelRun, after: ModelRun) -> None:
    """Draw the log-probability of the target, or the score, with changes and as trained.

    If nothing can be measured, draw the mean change of the last hidden states instead. Before any
    change, draw a hint to hide a word, if the model fills in words.
    """
    objective, changed = before.objective(), before != after
    if objective is None:
        if changed:
            share = number_text(100 * change_of_states(before, after), 1, signed=True)
            st.metric("Mean change of the last hidden states", f"{share} %")
        elif "mask words" not in before.reader.missing:
            st.caption(NOTHING_ASKED)
        return
    trained, now = scores_of(before, after, objective)
    difference = number_text(now - trained, signed=True)
    change = f"{difference}, from {number_text(trained)} as trained" if changed else None
    arrow, color = ("up", "normal") if now > trained else ("down", "inverse")
    if now == trained:
        arrow = color = "off"
    # Streamlit would draw the arrow by the sign, but knows only an ASCII minus, not “−”.
    st.metric(
        objective.description.capitalize(),
        number_text(now) if objective.is_score else f"{number_text(now)} nats",
        change,
        delta_arrow=arrow,
        delta_color=color,
        help=OWN_UNIT if objective.is_score else GLOSSARY["nats"],
    )


def change_of_states(before: ModelRun, after: ModelRun) -> float:
    """Return the mean change of the last hidden states, as a share of their length."""
    usual, states = (list(run.trace().outputs.values())[-1] for run in (before, after))
    return ((states - usual).norm(dim=-1) / usual.norm(dim=-1)).mean().item()
