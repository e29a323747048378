"""Decoding with a cache that is too small: what is evicted, and where the text breaks."""

import numpy as np
import streamlit as st

from headlight.model import Decoding
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits.text import how_many
from headlight.model.insight.cache import first_difference
from headlight.model.trace import Site
from headlight.pages.parts.decoding.request import Request
from headlight.pages.shared.runs.run import decoded, evicted
from headlight.pages.shared.show.captions import site_words
from headlight.pages.shared.show.glossary import caption
from headlight.pages.shared.show.pictures import chips_written, show
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.state.choice import number, one_of
from headlight.pages.shared.state.choices import LAYER, chosen
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import CellRows, step_cells, token_strip

POLICIES = {
    "none": "every key",
    "window": "the last ones",
    "sinks": "the first and the last ones",
    "heaviest": "the heaviest and the last ones",
}
POLICY = one_of("eviction", POLICIES, label="After each step, every head keeps")
BUDGET = number("kept_keys", 4, (1, 64), label="Keys kept", step=1)
WORDS = (
    "The text is written greedily, with the masks and heads above. After each step every head of "
    "the decoder evicts keys until no more than these are left; the next step adds its own. The "
    "last ones: a window. The first and the last: attention sinks, as in StreamingLLM (Xiao et al. "
    "2023). The heaviest: half of them by the sum of the weights that they got so far, as in H2O "
    "(Zhang et al. 2023), half of them the last. Heads that share keys evict the same ones. A "
    "prompt is read whole first, and positions stay those of the text."
)
STATES = ("not read yet", "kept", "", "computed at this step", "evicted, or closed by a mask")
UNREAD, KEPT, _, COMPUTED, EVICTED = range(len(STATES))


def eviction_section(request: Request, of: About) -> None:
    """Draw the choice of a smaller cache, what it keeps, and the text that is written with it."""
    st.markdown("**A cache that evicts**")
    reader = request.run.reader
    if why_not := reader.missing.get("take apart"):
        caption(why_not)
        return
    policy = choose(POLICY)
    if policy == "none":
        caption(WORDS)
        return
    before = decoded(request.run, Strategy(), request.longest)
    read = len(before.steps[-1].read)
    budget = choose(BUDGET, widget=st.slider, max_value=max(2, min(read, 64)), width=320)
    after = evicted(request.run, policy, budget, request.longest)
    for name, made, other in (("Every key kept", before, after), ("Evicting", after, before)):
        chips = chips_written(made.writing, other.writing)
        strip = token_strip(made.writing.text, chips, label=name, explained=made is before)
        show(strip, f"eviction-{name}", of=of, what=name)
    st.text(where_it_breaks(before, after, budget))
    site = Site("decoder", min(chosen(LAYER), reader.shape.layers("decoder") - 1))
    where, words = site_words(*site), [step_words(number, after) for number in range(len(after))]
    tokens = [token.text for token in after.steps[-1].read]
    rows = [f"head {head + 1}" for head in range(reader.shape.heads("decoder"))]
    table = CellRows(where, kept_keys(after, site), rows, tokens)
    show(step_cells([table], words, STATES), "evicted", of=of, what=f"Keys kept, {where}")
    caption(WORDS)


def where_it_breaks(before: Decoding, after: Decoding, budget: int) -> str:
    """Return at which length a text departs from the one with every key, in words."""
    differs = first_difference(before, after)
    keys = how_many(budget, "key")
    if differs is None:
        return f"With {keys} in each head the text is the same."
    written = min(differs, len(after) - 1)
    read = len(after.steps[written].read)
    return (
        f"With {keys} in each head the text breaks at token {differs + 1}, when "
        f"{how_many(read, 'token')} had been read. Up to there it is the same."
    )


def step_words(number: int, decoding: Decoding) -> str:
    step = decoding.steps[number]
    return f"{how_many(len(step.read), 'token')} read, “{step.token.text}” is written."


def kept_keys(decoding: Decoding, site: Site) -> np.ndarray:
    """Return the state of every key for every head of a site at every step: (T, H, K)."""
    visible = [step.visible[site].numpy(force=True) for step in decoding.steps]  # (H, K) each
    states = np.full((len(visible), *visible[-1].shape), UNREAD, np.uint8)
    read = 0
    for step, seen in enumerate(visible):
        states[step, :, : seen.shape[1]] = np.where(seen, KEPT, EVICTED)
        states[step, :, read : seen.shape[1]] = COMPUTED
        read = seen.shape[1]
    return states
