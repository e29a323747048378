"""Compare five readings of where a decoder looked with what it loses, on one text and on many."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan, nan

import numpy as np
import streamlit as st

from headlight.model.insight.correlation import rank_correlation
from headlight.pages.shared.address import section
from headlight.pages.shared.controls.own_lines import box_for_lines, progress_of, refusal
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.riddle import Riddle, places_of_most
from headlight.pages.shared.show.saving import About, about_run
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state.choice import one_of
from headlight.pages.shared.state.showing import NOTE, place, showing
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import knockout_map, measure_bars, reading_map
from headlight.viz.numbers import number_text
from headlight.wings.cause.calls import Knockout
from headlight.wings.cause.knockout import loses_something
from headlight.wings.cause.over_lines import MOST_LINES, Agreement, LinesJob, agreement
from headlight.wings.cause.page.knockout import (
    ALL,
    KNOCKOUT,
    NOTHING_LOST,
    Window,
    choose_layers,
    in_words,
    map_of,
    rows_of,
    size_if_possible,
)
from headlight.wings.cause.reading_calls import all_readings, lines_of, measure_lines, own_lines

TITLE = "Weights against truth"
WHAT = {
    "truth-reading": "Where the decoder looked, by a reading",
    "truth-losses": "What each token loses without each word",
    "truth-ranks": "How closely each reading follows the losses",
}
PICTURES = {key: words[0].lower() + words[1:] for key, words in WHAT.items()}
READINGS = {
    "weight": "mean weight",
    "length": "weight × value",
    "gradient": "gradient × weight",
    "rollout": "rollout",
    "relevance": "relevance",
}
DEFINITIONS = {
    "weight": "the mean of the heads’ weights, in the layers chosen above.",
    "length": "the length of the vector that all heads of a layer add from a word, each value "
    "times its weight, after the output projection; the mean over these layers (Kobayashi et al. "
    "2020, “Attention is Not Only a Weight”).",
    "gradient": "each weight times the gradient of the written token’s log-probability for it, "
    "summed over these layers, in nats. It holds for small changes only. The map "
    "shows it with the opposite sign: the change from taking the weight away.",
    "rollout": "the share of a word in the token’s vector if every block were half the mean of "
    "its heads and half the residual stream (Abnar & Zuidema 2020, “Quantifying Attention Flow in "
    "Transformers”); a decoder mixes both its inputs (Ferrando et al. 2022). It follows all "
    "layers.",
    "relevance": "positive products of gradient and weight, averaged over heads and added up from "
    "layer to layer (Chefer et al. 2021, “Generic Attention-model Explainability”, "
    "equations 5 to 10, for the log-probability). It follows all layers.",
}
READING = one_of("truth_reading", READINGS, label="Reading")
CHOICES = (READING,)
EVERY = 1.0  # seconds between two updates of the progress
BOX = "truth"  # the key of the box for a text
TRUTH = (
    "What counts as the truth is the knockout: how much less likely a written token becomes if it "
    "may not look at one word, in all heads of {layers}. Five readings claim to tell this without "
    "closing anything."
)
RANKS = (
    "**Rank correlation** is Spearman’s, of a reading with the losses, over the {edges} edges of "
    "this text: 1 if the order is the same; over lines, the mean of theirs ± the standard "
    "deviation. **Right word** counts the written tokens whose word with the largest number is the "
    "one that is missed most. Losses are signed, and only gradient × weight can be below 0. Only "
    "one edge is closed at a time: a word that another can replace is not missed."
)
OWN = (
    "Up to {most} lines, a sentence each, or two with a tab between them: the decoder then reads "
    "the second. Each is measured as this text is, with the model as trained and edges closed in "
    "{layers}. "
    "The text stays in this session: no link, no talk and no file of the server has it."
)


def draw(run: ModelRun) -> None:
    """Draw a reading next to the losses, and how closely each reading follows them."""
    if not (size := size_if_possible(run)):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layers, window = choose_layers(run, width=200)
        reading = choose(READING)
        is_asked = KNOCKOUT.is_asked(run, window, runs=size[0], tokens=size[1])
    caption(TRUTH.format(layers=in_words(layers)))
    if not is_asked:
        return
    losses = KNOCKOUT.measure(run, window, draw=map_of)
    if not loses_something(losses.changes):
        with place(NOTE):
            st.text(NOTHING_LOST)
        return
    try:
        by_reading = all_readings(run, window)
    except ValueError as error:
        with place(NOTE):
            st.text(str(error))
        return
    of = about_run(run, place=f"Edges closed in {in_words(layers)}")
    if side_by_side(losses, by_reading, reading if reading in by_reading else "weight", of):
        ranks(run, window, agreement(by_reading, losses.changes), losses.changes.size, of)


def side_by_side(
    losses: Knockout, by_reading: Mapping[str, np.ndarray], reading: str, of: About
) -> bool:
    """Draw a reading as a map next to the losses; return whether the losses are drawn yet."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{capital(READINGS[reading])}**")
        texts = rows_of(losses), losses.words
        numbers, name = by_reading[reading], READINGS[reading]
        if reading == "gradient":  # as an estimate of closing the edge
            numbers, name = -numbers, f"−{name}"
        picture = reading_map(numbers, *texts, name=name)
        ask = partial(best_of, by_reading, losses.changes)
        options = {"riddle": ask, "riddle_of": ("truth-losses", "truth-ranks")}
        is_drawn = show(picture, "truth-reading", of=of, what=WHAT["truth-reading"], **options)
    if is_drawn:
        with right:
            st.markdown("**What is lost without a word**")
            picture = knockout_map(losses.changes, *texts)
            show(picture, "truth-losses", of=of, what=WHAT["truth-losses"])
        caption(f"**{READINGS[reading].capitalize()}**: {DEFINITIONS[reading]}")
    return is_drawn


def best_of(by_reading: Mapping[str, np.ndarray], changes: np.ndarray) -> Riddle:
    """Return the question: which reading follows the losses most closely?"""
    ranks = np.array([rank_correlation(numbers, -changes) for numbers in by_reading.values()])
    names = [READINGS[name] for name in by_reading]
    return Riddle(
        "Which reading follows most closely what each token loses without a word?",
        "the losses are followed most closely by",
        names,
        names,
        [f"rank correlation {number_text(rank, 2, signed=True)}" for rank in ranks],
        places_of_most(ranks),
    )


def ranks(run: ModelRun, layers: Window | None, here: Agreement, edges: int, of: About) -> None:
    """Draw the rank correlations on this text, and over the visitor's own lines measured so far."""
    job = lines_of(run, layers) if showing().is_live() else None
    active = job is not None and job.is_active
    (growing if active else still)(run, layers, here, edges, of, active)


def panel(
    run: ModelRun,
    layers: Window | None,
    here: Agreement,
    edges: int,
    of: About,
    active: bool,
) -> None:
    """Draw the table of ranks, and below it the lines under way or the box for them.

    `active` says whether lines were being measured when the whole page was drawn. If this has
    changed, the page is drawn again.
    """
    job = lines_of(run, layers) if showing().is_live() else None
    if (job is not None and job.is_active) != active:
        st.rerun()
    over = [*job.measured] if job else []
    bars, table = st.columns([4, 5], gap="medium")
    with bars:
        columns = {"this text": here.correlations}
        if over:
            means = {name: spread(over, name)[0] for name in here.correlations}
            columns[in_lines(over)] = means
        shown = {
            column: {READINGS[name]: value for name, value in numbers.items()}
            for column, numbers in columns.items()
        }
        picture = measure_bars(shown, {READINGS[name]: 1.0 for name in here.correlations})
        st.markdown("**Rank correlation with the losses**")
        show(picture, "truth-ranks", of=of, what=WHAT["truth-ranks"])
    with table:
        st.markdown("\n".join(table_of(here, over)))
    caption(RANKS.format(edges=edges))
    with st.expander("The five readings and their sources"):
        lines = [f"- **{READINGS[name]}**: {DEFINITIONS[name]}" for name in READINGS]
        st.markdown("\n".join(lines))
    if showing().is_live():
        lines_below(job, layers)


still, growing = section(panel), section(panel, EVERY)


def in_lines(over: Sequence[Agreement]) -> str:
    return f"your {len(over)} {'line' if len(over) == 1 else 'lines'}"


def spread(over: Sequence[Agreement], name: str) -> tuple[float, float]:
    """Return the mean and the standard deviation of a reading's rank correlations over lines."""
    known = [line.correlations[name] for line in over if not isnan(line.correlations[name])]
    return (float(np.mean(known)), float(np.std(known))) if known else (nan, nan)


def table_of(here: Agreement, over: Sequence[Agreement]) -> list[str]:
    """Return the table's lines: how well each reading agrees on this text, and on own lines."""
    heads = ["Reading", "This text", "Right word"]
    if over:
        heads += [in_lines(over).capitalize(), "Right word"]
    rows = [heads, [":--", *["--:"] * (len(heads) - 1)]]
    written = sum(line.written for line in over)
    best = [leader(here.correlations)]
    best.append(leader({name: spread(over, name)[0] for name in here.correlations}) if over else "")
    for name, value in here.correlations.items():
        row = [READINGS[name], bold(signed(value), name == best[0])]
        row.append(f"{here.agreed[name]} of {here.written}")
        if over:
            mean, deviation = spread(over, name)
            words = f"{signed(mean)} ± {number_text(deviation, 2)}"
            share = sum(line.agreed[name] for line in over) / written
            row += [bold(words, name == best[1]), f"{100 * share:.0f} %"]
        rows.append([cell.replace(" ", "\u00a0") for cell in row])
    return [f"| {' | '.join(row)} |" for row in rows]


def leader(ranks: Mapping[str, float]) -> str:
    known = {name: rank for name, rank in ranks.items() if not isnan(rank)}
    return max(known, key=lambda name: known[name], default="")


def signed(value: float) -> str:
    return "–" if isnan(value) else number_text(value, 2, signed=True)


def bold(words: str, is_bold: bool) -> str:
    return f"**{words}**" if is_bold else words


def lines_below(job: LinesJob | None, layers: Window | None) -> None:
    """Draw the progress of the visitor's own lines, or what was left out and the box for lines."""
    if job and job.is_active:
        progress_of(job, BOX, own_lines().stop)
        return
    why = refusal(BOX)
    if job and job.status == "failed":
        why = job.note
        own_lines().stop()
    if why:
        st.error("These lines were not measured.")
        st.text(why)
    if job and (job.left_out or job.cut):
        left = f"{job.left_out} lines could not be measured." if job.left_out else ""
        st.caption(" ".join(filter(None, (job.cut, left))))
    words = in_words(ALL if layers is None else layers)
    with st.expander("Over lines of your own"):
        caption(OWN.format(most=MOST_LINES, layers=words))
        box_for_lines(BOX, "Measure these lines", lambda data: measure_lines(data, layers))
