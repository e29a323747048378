"""The card of a head: what it does over the corpus, how this sentence compares, and examples."""

from collections.abc import Mapping
from dataclasses import replace
from math import isnan

import numpy as np
import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.pages.shared.controls.measure import flat
from headlight.pages.shared.controls.sentence import read_another
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption, site_words
from headlight.pages.shared.show.cells import follow, lead_to
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.saving import about, about_run
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state.choice import counted
from headlight.pages.shared.state.choices import SECOND, put, select_head
from headlight.pages.shared.widgets.choose import choose, choose_head, choose_kind, choose_layer
from headlight.viz import attention_heatmap, measure_bars
from headlight.viz.numbers import number_text
from headlight.viz.tokens import and_written
from headlight.wings.atlas.calls import sentence_figures, shown_text
from headlight.wings.atlas.examples import KEPT, MOST
from headlight.wings.atlas.figures import BY_NAME, Standing, standing
from headlight.wings.atlas.files import Atlas, KindOfHeads
from headlight.wings.atlas.page.distributions import Spread, distributions
from headlight.wings.atlas.page.figures import (
    EFFECTS,
    HeadFigure,
    about_corpus,
    all_figures,
    counted_over,
    neighbours,
)
from headlight.wings.atlas.statistics import POSITIONAL, Statistic

EXAMPLE = counted("atlas_example", 0, KEPT, label="Example")
SIDES = {"clearest": "Clearest", "least": "Least clear"}
WORDS = (
    "From {text}: the sentences of at most {most} tokens on which this head’s clearest pattern, "
    "**{pattern}**, has the largest and the smallest scores.{target}"
)
REFERENCE = (
    " The decoder read the translation that the corpus gives; on the Attention page it reads what "
    "the model writes itself."
)


def draw_examples(run: ModelRun, atlas: Atlas, address: HeadAddress) -> None:
    """Draw examples of a head: one of the clearest sentences next to one of the least clear."""
    kind, layer, head = address
    by_side = {side: examples_of(atlas, address, side) for side in SIDES}
    st.subheader("Examples")
    most = max(map(len, by_side.values()))
    if not most:
        st.info("No sentence was kept as an example of this head.")
        return
    pattern = atlas.kinds[kind].clearest[layer][head]
    given = any(example["line"][2] for examples in by_side.values() for example, *_ in examples)
    target = REFERENCE if given and kind != "encoder" and "cross" in atlas.kinds else ""
    caption(WORDS.format(text=shown_text(run.model), most=MOST, pattern=pattern, target=target))
    number = choose(EXAMPLE, range(most))
    for column, (side, title) in zip(st.columns(2, gap="medium"), SIDES.items(), strict=True):
        with column:
            if number < len(by_side[side]):
                one_example(run, by_side[side][number], address, f"atlas-{side}", title)
    follow()


def examples_of(
    atlas: Atlas, address: HeadAddress, side: str
) -> list[tuple[dict, str, float, np.ndarray]]:
    """Return a head's clearest examples, or its least clear ones, the most extreme first.

    Each example has its sentence, pattern and score, and the weights (Q, K) from 0 to 255.
    """
    examples = [
        (example, name, score, np.array(weights, dtype=np.uint8))
        for example in atlas.examples
        for *at, name, of, score, weights in example["heads"]
        if (tuple(at), of) == (address, side)
    ]
    return sorted(examples, key=lambda item: item[2], reverse=side == "clearest")


def one_example(
    run: ModelRun,
    record: tuple[dict, str, float, np.ndarray],
    address: HeadAddress,
    key: str,
    title: str,
) -> None:
    """Draw the weights of a head on a sentence, and the button to see it on the page Attention."""
    example, pattern, score, weights = record
    _, text, second = example["line"]
    words = site_words(*address)
    st.markdown(f"**{title}**: {pattern} {number_text(score, 2)}")
    st.text("\n".join(filter(None, (text, second))))
    of = about(text, target=second or "", place=f"{words}, {pattern} {number_text(score, 2)}")
    picture = attention_heatmap(weights, *labels_of(example, address))
    show(picture, key, of=of, what=f"{title} sentence of a head")
    args = [address, text, second if "read a pair" not in run.reader.missing else None]
    st.button("Open in Attention", key=f"open-{key}", on_click=open_attention, args=args)


def labels_of(example: dict, address: HeadAddress) -> tuple[list[str], list[str]]:
    """Return the labels of queries and keys; a decoder's query also shows the token after it."""
    kind = address[0]
    source, target = example["source"], example["target"]
    queries, keys = source if kind == "encoder" else target, source
    if kind == "decoder":
        keys = target
    if kind != "encoder" and source:
        queries = and_written(queries, [*queries[1:], ""])
    return queries, keys


def open_attention(address: HeadAddress, text: str, second: str | None) -> None:
    """Open a sentence on the page Attention, with this head chosen; a callback."""
    read_another(text)
    put(SECOND, second or "")
    select_head(*address)
    lead_to("attention")


CHOICES = (EXAMPLE,)
PICTURES = {
    "atlas-card": "a head’s figures, with this sentence",
    "atlas-offsets": "where a head’s largest weight is",
    "atlas-clearest": "a sentence where a head’s pattern is clearest",
    "atlas-least": "a sentence where it is least clear",
}
NEIGHBOURS = 5
SMALL = 0.001  # a share of sentences below this is shown as this
CARD = (
    "Usually: the mean ± standard deviation over the sentences of the corpus, each counted as the "
    "mean of its rows. The grey bars show how these means are distributed, and the mark is your "
    "sentence. Its value is coloured if it is more than 2 standard deviations from the mean, or if "
    "at most 2.5 % of the sentences are as far from it on that side. Figures without ± are over "
    "the whole corpus, “pronoun to its noun” over its own sentences."
)
OFFSETS = (
    "For each distance before or after the query: the share of rows whose largest weight is there, "
    "among the rows that have a token there. A head that reaches {least:.0f} % at one distance is "
    "called positional (Voita et al. 2019, 5.1)."
)


def draw(run: ModelRun, atlas: Atlas) -> None:
    """Draw the choice of a head, its figures, and its example sentences."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        kind = choose_kind()
        layer, head = choose_layer(kind), choose_head(kind)
    address = kind, layer, head
    known, figures = atlas.kinds[kind], all_figures(atlas)
    words = site_words(*address)
    st.subheader(words)
    st.markdown("\n".join(f"- {line}" for line in in_words(address, known, figures)))
    of = replace(about_run(run, place=words), told=counted_over(run, *figures.values()))
    has_offsets = known.shares is not None
    left, right = st.columns([3, 2], gap="medium") if has_offsets else (st.container(), None)
    with left:
        caption(CARD)
        try:
            own = sentence_figures(run)[kind]
        except ValueError as error:
            st.text(str(error))
            own = {}
        spreads = [
            spread_of(figure, known, own, address)
            for figure in figures.values()
            if kind in figure.values
        ]
        picture = distributions([spread for spread in spreads if spread])
        show(picture, "atlas-card", of=of, what="Figures of a head, and of this sentence")
    if right:
        with right:
            offsets(known, address, run)
    draw_examples(run, atlas, address)


def in_words(address: HeadAddress, known: KindOfHeads, figures: dict[str, HeadFigure]) -> list[str]:
    """Describe a head in sentences: its pattern, the effects of removing it, and similar heads."""
    kind, layer, head = address
    pattern = known.clearest[layer][head]
    mean = known.figures[pattern].mean[layer, head]
    said = [f"Clearest pattern: **{pattern}**, {number_text(mean, 2)} over all rows."]
    for name, title in EFFECTS.items():
        if name in figures:
            value = figures[name].values[kind][layer, head]
            signed = number_text(value, signed=name == "removal")
            said.append(
                f"{capital(title)}: **{signed}** {figures[name].unit}, "
                f"{rank(figures[name], value)}."
            )
    if len(known.distances) > 1:
        names = neighbours(known, address, NEIGHBOURS)
        said.append(f"Nearest heads, in nats of Jensen-Shannon divergence: {', '.join(names)}.")
    return said


def rank(figure: HeadFigure, value: float) -> str:
    known = flat(figure.values)
    return f"rank {int((known > value).sum()) + 1} of {len(known)} heads"


def spread_of(
    shown: HeadFigure, known: KindOfHeads, own: Mapping[str, np.ndarray], address: HeadAddress
) -> Spread | None:
    """Return a figure of a head with its spread over sentences, and its value on this sentence."""
    at = address[1:]
    if shown.name in EFFECTS:
        return None
    unit = f" {shown.suffix}".rstrip()
    figure = known.figures[shown.name]
    here = float(own[shown.name][*at]) if shown.name in own else np.nan
    said = "" if isnan(here) else f"on your sentence {number_text(here)}"
    if figure.bins is None or isnan(figure.of_sentences[*at]):
        return Spread(shown.title, f"overall {number_text(figure.mean[*at])}{unit}", said=said)
    mean, deviation = figure.of_sentences[*at], figure.deviation[*at]
    usual = f"usually {number_text(mean)} ± {number_text(deviation)}{unit}"
    bins, statistic = figure.bins[*at], BY_NAME[shown.name]
    if isnan(here):
        return Spread(shown.title, usual, *trimmed(bins, statistic))
    result = standing(here, mean, deviation, bins, statistic)
    return Spread(
        shown.title,
        usual,
        *trimmed(bins, statistic, here),
        here=here,
        said=f"{said}{how_far(result, above=here >= mean)}",
        far=result.is_far or result.is_rare,
    )


def trimmed(
    bins: np.ndarray, statistic: Statistic, here: float | None = None
) -> tuple[np.ndarray | None, float, float]:
    """Return the bins from the first to the last with sentences, and where they begin and end.

    A statistic that is a share keeps all its bins. The bin of this sentence's value, `here`, is
    included. If only one bin is left, the result has None in place of it.
    """
    low, high = statistic.low, statistic.high
    if statistic.unit == "share":
        return bins, low, high
    width = (high - low) / len(bins)
    filled = np.flatnonzero(bins).tolist()
    if here is not None:
        filled.append(min(max(int((here - low) / width), 0), len(bins) - 1))
    first, last = min(filled), max(filled) + 1
    shown = bins[first:last] if last - first > 1 else None
    return shown, low + first * width, low + last * width


def how_far(result: Standing, above: bool) -> str:
    """Return in words how far a sentence is from the others; empty if it is not far."""
    said = []
    if result.is_far:
        said.append(f"{abs(result.deviations):.1f} deviations {'above' if above else 'below'}")
    if result.is_rare:
        share = number_text(100 * max(result.tail, SMALL), 1)
        who = "no sentence has" if result.tail == 0 else f"{share} % of the sentences have"
        said.append(f"{who} {'as much' if above else 'as little'}")
    return f": {'; '.join(said)}" if said else ""


def offsets(known: KindOfHeads, address: HeadAddress, run: ModelRun) -> None:
    """Draw how often the largest weight of a row is at each distance from the query."""
    kind, layer, head = address
    seen = {
        distance: float(share)
        for distance, share in zip(known.offsets, known.shares[layer, head], strict=True)
        if kind == "encoder" or distance <= 0
    }
    st.markdown("**Where its largest weight is**")
    named = {offset_words(distance): share for distance, share in seen.items()}
    picture = measure_bars({"share of rows": named}, dict.fromkeys(named, 1.0))
    of = about_corpus(run, place=site_words(*address))
    show(picture, "atlas-offsets", of=of, what="Where the largest weight of a row is")
    caption(OFFSETS.format(least=100 * POSITIONAL))


def offset_words(distance: int) -> str:
    if distance == 0:
        return "on itself"
    return f"{abs(distance)} {'before' if distance < 0 else 'after'}"
