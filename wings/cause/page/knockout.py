"""What a written word loses without each word it could attend to, next to where heads attend."""

import re
from functools import partial
from math import isnan

import numpy as np
import streamlit as st

from headlight.model.insight.correlation import rank_correlation
from headlight.model.shape import Shape
from headlight.model.transformer.trace import Site
from headlight.pages.shared.controls.measure import Measurement
from headlight.pages.shared.controls.sentence import can
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.cells import attention_map, close_edge
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.riddle import (
    Riddle,
    choose_row,
    places_of_most,
    row_asked_about,
    told_apart,
)
from headlight.pages.shared.show.saving import about_run
from headlight.pages.shared.state.choice import Choice
from headlight.pages.shared.state.choices import GUESS, chosen
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import CanvasPicture, attention_heatmap, knockout_map
from headlight.viz.numbers import number_text
from headlight.viz.tokens import and_written
from headlight.wings.cause import knockout
from headlight.wings.cause.calls import Knockout, knocked_out, looks_at, size_of
from headlight.wings.cause.page import path

TITLE = "Knockout map"
WHAT = {"knockout": "What each token loses without a word", "looked-at": "Where the heads look"}
PICTURES = {key: words[0].lower() + words[1:] for key, words in {**WHAT, **path.WHAT}.items()}
ALL = "all"
UNASKED = 3_000  # up to this many tokens, in all runs together, measuring needs no button
MOST_TOLD = 4  # edges that each list names

Window = tuple[int, int]  # the first and the last layer, from 0

KNOCKOUT = Measurement(
    knocked_out,
    (*WHAT,),
    "Measure every edge",
    "Closing the edges to one word after the other",
    UNASKED,
)
WORDS = (
    "In each cell, the token of its row may not look at the word of its column, in all heads of "
    "{layers}. Blue: this makes the token less likely; red: more likely. The tokens written before "
    "stay as they are, and the other words share the weight."
)
LEAD = "**Blue: the token needs this word.** The other map: where the heads look."
WEIGHTS = (
    "The mean [weight] of the same [heads], summed up over the pieces of a word and the "
    "punctuation after it. Words that stand out only here are looked at, but not missed."
)
CORRELATION = "Spearman’s, over the {edges} edges of this text."
DISAGREEMENTS = {
    "Looked at more than missed": "A word’s share is its part of what the token loses to all "
    f"words, one at a time (counted as {knockout.LEAST} nats at least). Here it is below the "
    "weight: other edges may do as well, since only one is closed at a time.",
    "Missed more than looked at": "Here the share is above the weight: a weight says how much of a "
    "value is taken, not how much the value matters.",
}
NOTHING_LOST = (
    f"No token loses {knockout.LEAST} nats to all words together, so there is nothing to compare: "
    "the heads in which edges are closed may be off, or their outputs of no use on this text."
)
WAITS = "The map of a long text takes many runs: press the button to start them."
BEYOND = "That row comes after the prompt: the mask below does not show it, but the output does."


def read_layers(text: str, shape: Shape) -> Window | str:
    """Read from a link the layers in which edges are closed; links count layers from 1."""
    if text == ALL:
        return ALL
    if not (match := re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", text, re.ASCII)):
        raise ValueError(f"{text} is neither {ALL}, nor a layer, nor a window such as 2-3.")
    first, last = int(match[1]) - 1, int(match[2] or match[1]) - 1
    there = shape.layers("cross" if "cross" in shape.kinds else "decoder")
    if not 0 <= first <= last < there:
        raise ValueError(f"{text} is not within the layers 1 to {there}.")
    return first, last


def write_layers(layers: Window | str) -> str:
    """Return the layers in which edges are closed, as written in links."""
    if isinstance(layers, str):
        return layers
    first, last = (layer + 1 for layer in layers)
    return str(first) if first == last else f"{first}-{last}"


LAYERS = Choice(
    "knockout_layers",
    ALL,
    read_layers,
    write_layers,
    label="Edges are closed in",
    options={ALL: "all layers"},
)
CHOICES = (LAYERS, *path.CHOICES)


def windows(layers: int) -> list[Window | str]:
    """Return ALL, and every window of fewer than all layers, the narrow windows first."""
    sizes = range(1, layers)
    return [ALL, *((at, at + size - 1) for size in sizes for at in range(layers - size + 1))]


def in_words(layers: Window | str) -> str:
    """Return the layers in which edges are closed, in the words shown on screen."""
    if isinstance(layers, str):
        return LAYERS.options[layers]
    first, last = (layer + 1 for layer in layers)
    return f"layer {first}" if first == last else f"layers {first} to {last}"


def size_if_possible(run: ModelRun) -> tuple[int, int] | None:
    """Return `size_of` a run; None, with the reason on the page, if no edge of it can be closed."""
    if not (can(run, "write") and can(run, "take apart")):
        return None
    try:
        return size_of(run)
    except ValueError as error:  # a prompt may leave no room to write
        st.text(str(error))
        return None


def choose_layers(run: ModelRun, width: int) -> tuple[Window | str, Window | None]:
    """Draw the choice of layers; return it, and the first and last layer (None for all)."""
    offered = windows(run.reader.shape.layers(looks_at(run)))
    layers = choose(LAYERS, offered, widget=st.selectbox, format_func=in_words, width=width)
    return layers, None if layers == ALL else layers


def draw(run: ModelRun) -> None:
    """Draw the knockout map, the weights next to it, and where the two disagree."""
    if not (size := size_if_possible(run)):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layers, window = choose_layers(run, width=220)
        is_asked = KNOCKOUT.is_asked(run, window, runs=size[0], tokens=size[1])
        caption(LEAD if is_asked else WAITS)
    if not is_asked:
        return
    left, right = st.columns(2, gap="medium")
    result = KNOCKOUT.measure(run, window, draw=map_of, room=left)
    is_lost = knockout.loses_something(result.changes)
    of = about_run(run, place=f"Edges closed in {in_words(layers)}")
    with left:
        answer = worst_cell(result) if is_lost and chosen(GUESS) else None
        picture = map_of(result, opens="see the model without this edge", framed=answer)
        close = partial(close_cell, run, result, layers)
        options = {"of": of, "what": WHAT["knockout"]}
        if is_lost:
            options |= {"riddle": partial(least_likely_without, result)}
        is_drawn = attention_map(picture, "knockout", close, **options)
        caption(WORDS.format(layers=in_words(layers)))
    with right:
        weights = attention_heatmap(result.weights, rows_of(result), result.words)
        show(weights, "looked-at", of=of, what=WHAT["looked-at"])
        caption(WEIGHTS)
    if not is_lost:
        st.text(NOTHING_LOST)
    elif is_drawn:
        compare(result)
        path.draw(run, result, window)


def least_likely_without(result: Knockout) -> Riddle:
    """Draw the choice of a written token; return the question: which word would it miss most?"""
    row = choose_row(rows_of(result), first_asked(result))
    written, changes = told_apart(result.written)[row], result.changes[row]
    return Riddle(
        f"Without which word does {written} lose most?",
        f"{written} loses most without",
        result.words,
        told_apart(result.words),
        [f"{number_text(change, signed=True)} nats" for change in changes],
        places_of_most(-changes),
    )


def rows_of(result: Knockout) -> list[str]:
    return and_written(result.read, result.written)


def first_asked(result: Knockout) -> int:
    """Return the row of the written token that loses most without a word."""
    most = places_of_most(-result.changes)[0]
    return int(np.unravel_index(most, result.changes.shape)[0])


def worst_cell(result: Knockout) -> tuple[int, int]:
    """Return the cell that answers the question: a token, and the word it misses most."""
    row = row_asked_about(len(result.changes), first_asked(result))
    return row, places_of_most(-result.changes[row])[0]


def map_of(
    result: Knockout, opens: str = "", framed: tuple[int, int] | None = None
) -> CanvasPicture:
    """Return the map of what each written token loses without each word."""
    return knockout_map(result.changes, rows_of(result), result.words, opens=opens, framed=framed)


def close_cell(run: ModelRun, result: Knockout, layers: Window | str, row: int, word: int) -> None:
    """Close the edge of a clicked cell on the page Masks; a callback."""
    kind, query = looks_at(run), result.queries[row]
    window = None if isinstance(layers, str) else range(layers[0], layers[1] + 1)
    words = (
        f"Closed in all heads of {in_words(layers)}: the edge from “{rows_of(result)[row]}” "
        f"to “{result.words[word]}”."
    )
    if query >= len(run.tokens().query_tokens(Site(kind, 0))):
        words += " " + BEYOND
    close_edge(kind, window, query, result.keys[word], words)


def compare(result: Knockout) -> None:
    """Draw how closely losses follow the weights, and the edges where they differ most."""
    correlation = rank_correlation(result.weights, -result.changes)
    numbers, *columns = st.columns([2, 3, 3], gap="medium")
    with numbers:
        agreed = knockout.agreements(result.weights, result.changes)
        st.metric("Looked at most is missed most", f"{agreed} of {len(result.written)} tokens")
        value = "–" if isnan(correlation) else number_text(correlation, 2, signed=True)
        st.metric("Rank correlation", value)
        caption(CORRELATION.format(edges=result.changes.size))
    kinds, shares = (
        knockout.disagreements(result.weights, result.changes, MOST_TOLD),
        knockout.shares_of_losses(result.changes),
    )
    for column, (title, why), cells in zip(columns, DISAGREEMENTS.items(), kinds, strict=True):
        with column:
            st.markdown(f"**{title}**")
            st.text("\n".join(in_one_line(result, cell, shares[cell]) for cell in cells) or "None.")
            caption(why)


def in_one_line(result: Knockout, cell: knockout.TokenPair, share: float) -> str:
    """Return a line with the weight and share of an edge, and the change in nats without it."""
    row, word = cell
    change = f"{number_text(result.changes[cell], signed=True)} nats"
    numbers = (
        f"weight {number_text(result.weights[cell], 2)}, share {number_text(share, 2)}, {change}"
    )
    written, words = told_apart(result.written)[row], told_apart(result.words)[word]
    return f"{written} without {words}: {numbers}"
