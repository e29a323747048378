"""The tab Why it looks there: a score as a sum over the model's parts that wrote query and key."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.model.insight.attribution import ScoreSum
from headlight.model.stream import MEMORY, Part
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.parts.inside.calls import Weight, summed
from headlight.pages.parts.inside.words import WHY_WORDS
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.show.captions import caption, site_words
from headlight.pages.shared.show.cells import WEIGHT_BAR
from headlight.pages.shared.show.pictures import picked, show
from headlight.pages.shared.show.riddle import Riddle, places_of_most
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.show.sight import seek
from headlight.pages.shared.state.choice import Choice, counted
from headlight.pages.shared.state.choices import KEY, MOST_TOKENS, QUERY, put, select_head
from headlight.pages.shared.state.showing import showing
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import CanvasPicture, parts_map, sum_bars
from headlight.viz.numbers import number_text

NONE = "none"
AGAINST = Choice(
    "why_against",
    NONE,
    lambda text, shape: NONE if text == NONE else counted("", 0, MOST_TOKENS).read(text, shape),
    lambda key: NONE if key == NONE else str(key + 1),
    label="Compared with the key",
    options={NONE: "no other"},
)
PICTURES = {
    "why-pairs": "the pairs that make a score",
    "why-map": "who wrote the query and the key",
    "why-query": "who wrote the query",
    "why-key": "who wrote the key",
}
LARGEST = 10  # how many pairs get a bar of their own
MOST_PARTS = 30  # how many parts of the query or key get a bar of their own
OFFERED = 6  # how many pairs the riddle offers as guesses
AGAINST_WIDTH = 240  # pixels
WALKED = "walked"  # a list of clicks from head to head, each with the cells before and after


def why(weight: Weight, of: About, bar: DeltaGenerator) -> None:
    """Draw a score as a sum over pairs of parts, or its difference from another key's score.

    If a click on this tab led to this head, `bar` gets a button that leads back.
    """
    with bar:
        way_back(weight)
    try:
        summed(weight, None)  # raises ValueError before the choice is drawn
        against = choose_against(weight)
        result = summed(weight, against)
    except ValueError as error:
        st.info(str(error))
        return
    caption(words_of(weight, result))
    ends = ends_of(weight, against)
    left, right = st.columns(2, gap="medium")
    with left:
        if not largest_pairs(result, ends, of):
            return
    with right:
        picture = parts_map(
            as_array(result.pairs), [*map(label, result.query)], [*map(label, result.key)]
        )
        show(picture, "why-map", of=of, what="Who wrote the query and the key")
    left, right = st.columns(2, gap="medium")  # on a phone these come last
    with left:
        margin(weight, result, "query", ends, of)
    with right:
        margin(weight, result, "key", ends, of)


def choose_against(weight: Weight) -> int | None:
    """Draw the choice of a second key, whose score is subtracted; return the key, or None."""
    names = {key: f"{key + 1}: {token}" for key, token in enumerate(weight.key_tokens)}
    names = {**AGAINST.options, **names}
    options = {"widget": st.selectbox, "format_func": names.get, "width": AGAINST_WIDTH}
    against = choose(AGAINST, names, **options)
    return None if against in (NONE, weight.key) else against


def words_of(weight: Weight, result: ScoreSum) -> str:
    """Return sentences on what the sum of a score contains in this model, and on its limits."""
    reader, record = weight.run.reader, weight.record
    holds = {
        "sum": True,
        "rotated": record.rotated,
        "memory": MEMORY in result.key,
        "post-norm": "own layers" not in reader.missing and reader.model.config.norm == "post",
        "closed": record.masked_scores[0, weight.head, weight.query, weight.key].isneginf(),
        "limits": True,
    }
    return " ".join(WHY_WORDS[name] for name, is_so in holds.items() if is_so)


def ends_of(weight: Weight, against: int | None) -> tuple[str, str]:
    """Return what a positive part does, and what a negative one does, in words."""
    keys = weight.key_tokens
    if against is None:
        return "raises the score", "lowers it"
    return f"for “{keys[weight.key]}”", f"for “{keys[against]}”"


def label(part: Part) -> str:
    """Return the name of a part of the model, such as “head 2.5” for head 5 of layer 2."""
    if part.name == "head":
        cross = "cross " if part.kind == "cross" else ""
        return f"{cross}head {part.layer + 1}.{part.head + 1}"
    if part.name == "feed-forward":
        return f"feed-forward {part.layer + 1}"
    return "encoder’s output" if part == MEMORY else part.name


def pair_words(result: ScoreSum, row: int, column: int) -> str:
    return f"{label(result.query[row])} in the query, {label(result.key[column])} in the key"


def largest_pairs(result: ScoreSum, ends: tuple[str, str], of: About) -> bool:
    """Draw the pairs of parts that change the score most; returns what `show` returns."""
    places = result.largest(LARGEST)
    parts = {pair_words(result, *place): result.pairs[place].item() for place in places}
    picture = bars(result, parts, result.pairs.numel(), ends, sentences=True)
    what = "The pairs that make the score"
    ask = partial(riddle, result, ends)
    return show(picture, "why-pairs", of=of, what=what, riddle=ask, riddle_of=[*PICTURES][1:])


def bars(
    result: ScoreSum, parts: dict[str, float], count: int, ends: tuple[str, str], **options: Any
) -> CanvasPicture:
    """Return bars of some `parts` of a score, one bar for all others, and one for a bias.

    `count` is how many parts there are in all.
    """
    rest = {f"{count - len(parts)} others": result.total - result.bias - sum(parts.values())}
    parts = parts | (rest if count > len(parts) else {})
    parts |= {"distance bias, or your change": result.bias} if result.bias else {}
    own = f"the model’s own: {number_text(result.score, signed=True)}"
    values, names = np.array([*parts.values()]), [*parts]
    return sum_bars(values, names, ends=ends, total="In all", beside=own, **options)


def margin(weight: Weight, result: ScoreSum, side: str, ends: tuple[str, str], of: About) -> None:
    """Draw what each part that wrote the query (or key) adds to the score, over all its pairs.

    A click on a part that is a head opens this head.
    """
    written_by, sums = getattr(result, side), result.pairs.sum(dim=1 if side == "query" else 0)
    places = sorted(sums.abs().argsort(descending=True)[:MOST_PARTS].tolist())
    parts = {label(written_by[place]): sums[place].item() for place in places}
    picture = bars(result, parts, len(written_by), ends, clickable=True)
    st.subheader(f"Who wrote the {side}")
    caption(WHY_WORDS["margin"])

    def pick() -> None:
        row = picked(f"why-{side}")
        if row is not None and row < len(places):  # the last bars are sums, not parts
            go_to(weight, written_by[places[row]], getattr(weight, side))

    show(picture, f"why-{side}", pick, of=of, what=f"Who wrote the {side}")


def riddle(result: ScoreSum, ends: tuple[str, str]) -> Riddle:
    """Return a riddle that asks which of the largest pairs of parts adds most to the score."""
    pairs = result.pairs.flatten()
    places = sorted(pairs.topk(min(OFFERED, len(pairs))).indices.tolist())
    names = [pair_words(result, *divmod(place, len(result.key))) for place in places]
    numbers = as_array(pairs[places])
    asks = "Which two parts add most to this score?"
    if ends[0].startswith("for"):
        asks = f"Which two parts speak most {ends[0]}, and not {ends[1]}?"
    told = [f"{number_text(number, signed=True)} nats" for number in numbers]
    return Riddle(asks, "most comes from", names, names, told, places_of_most(numbers))


def go_to(weight: Weight, part: Part, token: int) -> None:
    """Show the head `part` at its largest weight for the query at index `token`; a callback.

    Nothing happens if the part of the model is not a head.
    """
    if part.name != "head" or not showing().is_live():
        return
    site = Site(part.kind, part.layer)
    weights = weight.run.trace().site_weights(site)[part.head, token]
    key = int(weights.argmax())
    there = replace(weight, site=site, head=part.head, query=token, key=key)
    st.session_state.setdefault(WALKED, []).append((weight.cell, there.cell))
    open_cell(*there.cell)


def open_cell(kind: Kind, layer: int, head: int, query: int, key: int) -> None:
    """Choose a weight by its address, so that this page takes it apart; a callback."""
    select_head(kind, layer, head)
    for choice, value in {QUERY: query, KEY: key, AGAINST: NONE}.items():
        put(choice, value)
    seek(WEIGHT_BAR)


def way_back(weight: Weight) -> None:
    """Draw a button back to the head from which a click led here, if one did."""
    walk = st.session_state.get(WALKED)
    if not walk or walk[-1][1] != weight.cell:
        return  # no click on this tab led here
    before = walk[-1][0]

    def back() -> None:
        walk.pop()
        open_cell(*before)

    st.button("Back", on_click=back, key="why-back", help=f"To {site_words(*before[:3])}")
