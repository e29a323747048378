"""What each part of the decoder added to the logit of a written word, minus another word's."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.model.insight.attribution import Attribution
from headlight.model.insight.lens import PARTS
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.shared.controls.measure import flat, selected_among, show_heads
from headlight.pages.shared.controls.sentence import can
from headlight.pages.shared.runs.arrays import as_array, heads_of
from headlight.pages.shared.runs.heads import attributed
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption, site_words
from headlight.pages.shared.show.cells import follow, if_taken_apart, open_inside
from headlight.pages.shared.show.pictures import picked, show
from headlight.pages.shared.show.riddle import which_head
from headlight.pages.shared.show.saving import About, about_run
from headlight.pages.shared.show.sight import reveal_if_sought
from headlight.pages.shared.state.choices import KINDS
from headlight.pages.shared.state.wings import if_clicks
from headlight.viz import head_effects, sum_bars
from headlight.viz.numbers import number_text
from headlight.wings.cause.page.pair import AGAINST, WRITTEN, Contrast, choose_pair

TITLE = "What each head wrote"
CHOICES = (WRITTEN, AGAINST)
PICTURES = {
    "wrote-parts": "what each part wrote",
    "wrote-heads": "what each head wrote",
    "wrote-keys": "what a head wrote from each word",
}
DETAIL = "wrote-detail"  # the key of the part that shows the selected head

INTRO = (
    "A logit is a sum: each part of the model adds its own share by way of the residual stream. "
    "The scale of the last norm is held fixed as in this run. Only a part’s direct effect counts; "
    "what it changes in later parts counts as theirs."
)
KEYS = (
    "What this [head] took from each token: what the token’s [value], times its [weight], adds to "
    "the difference of the two words’ logits. {what}"
)
OF_SOURCE = "The values come from the encoder’s vectors, which contain their neighbours too."
OF_TARGET = "From layer 2 on, a token’s value also contains the tokens before it."


def parts_in_order(attribution: Attribution) -> dict[str, float]:
    """Return what each part adds, the heads of a layer together, in the order of computation."""
    parts = {"embedding": attribution.embedding}
    for layer, feed_forward in enumerate(attribution.feed_forwards.tolist()):
        for site, name in ((Site("decoder", layer), "self"), (Site("cross", layer), "cross")):
            if site in attribution.heads:
                heads = attribution.heads[site]
                parts[f"layer {layer + 1} {PARTS[name]}"] = heads.sum().item()
        parts[f"layer {layer + 1} {PARTS['feed_forward']}"] = feed_forward
    return parts | {"biases": attribution.biases}


def all_parts(attribution: Attribution, pair: Contrast, of: About) -> None:
    """Draw the bars of all parts with their sum, and the model's own difference to check it."""
    parts = parts_in_order(attribution)
    own = number_text(attribution.difference, signed=True)
    picture = sum_bars(
        np.array(list(parts.values())),
        list(parts),
        ends=pair.ends,
        total="Sum of all parts",
        beside=f"the model’s own logits differ by {own}",
    )
    show(picture, "wrote-parts", of=of, what="What each part wrote")


def by_kind(run: ModelRun, attribution: Attribution) -> dict[Kind, np.ndarray]:
    """Return what each head adds, (layers, heads) by kind."""
    return {
        kind: np.stack(
            [as_array(heads) for site, heads in attribution.heads.items() if site.kind == kind]
        )
        for kind in run.reader.shape.kinds
        if kind != "encoder"
    }


def all_heads(
    added: Mapping[Kind, np.ndarray], pair: Contrast, head: HeadAddress, of: About
) -> bool:
    """Draw the map of what all heads add; return False while a question about it is open."""
    click = if_clicks(" Click a head to see which words its output came from.")
    caption(f"Every cell is one head.{click}")
    asks = f"Which head speaks most for “{pair.step.text}”, against “{pair.text}”?"
    in_words = partial(number_text, signed=True)
    return show_heads(
        head_effects(
            added,
            labels=KINDS,
            selected=head,
            measure="nats",
            ends=(pair.ends[1], pair.ends[0]),
        ),
        "wrote-heads",
        DETAIL,
        of=of,
        what="What each head wrote",
        riddle=partial(which_head, asks, "most for it comes from", added, in_words),
        riddle_of=("wrote-keys",),
    )


def keys_of_head(
    run: ModelRun, attribution: Attribution, pair: Contrast, address: HeadAddress, of: About
) -> None:
    """Draw what a head took from each key; a click on a key takes its weight apart."""
    site, head = Site(*address[:2]), address[2]
    tokens = [token.text for token in run.tokens().key_tokens(site)]
    seen = pair.step.row + 1 if site.kind == "decoder" else len(tokens)
    keys = as_array(attribution.keys[site][head])[:seen]
    weights = as_array(attribution.weights[site][head])[:seen]
    names = [f"{index + 1}: {token}" for index, token in enumerate(tokens[:seen])]

    def open_key(key: int) -> None:
        open_inside(*address, pair.step.row, key, target=run.target)

    opens = if_taken_apart(run, lambda _, key: open_key(key))
    picture = sum_bars(
        keys,
        names,
        ends=pair.ends,
        total="This head in all",
        weights=weights,
        clickable=opens is not None,
    )
    reveal_if_sought(DETAIL)
    words = site_words(*address)
    st.subheader(words)
    what = OF_SOURCE if site.kind == "cross" else OF_TARGET
    caption(KEYS.format(what=what) + (" Click a row to take its weight apart." if opens else ""))

    def pick() -> None:
        if (key := picked("wrote-keys")) is not None:  # None if another page is open already
            open_key(key)

    show(
        picture,
        "wrote-keys",
        opens and pick,
        of=of,
        what=f"What was written from each word by {words}",
    )
    follow()


def draw(run: ModelRun) -> None:
    """Draw the choice of two words, and what each part of the decoder adds to their difference."""
    if not can(run, "add up logits"):
        return
    caption(INTRO)
    pair = choose_pair(run)
    attribution = attributed(run, pair.step.row, pair.step.token, pair.other)
    added = by_kind(run, attribution)
    head = selected_among(heads_of(added), np.abs(flat(added)))
    of = about_run(run, place=f"written word {pair.step.label}, against “{pair.text}”")
    left, right = st.columns(2, gap="medium")
    with left:
        all_parts(attribution, pair, of)
    with right:
        if not all_heads(added, pair, head, of):
            return
    with st.container(key=DETAIL):
        keys_of_head(run, attribution, pair, head, of)
