"""The tabs Your sentence, Shuffled words and One token of the page Positions."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.model.edits.positions import PositionEdit
from headlight.model.transformer.trace import Side, Site
from headlight.pages.parts.positions.calls import shuffle
from headlight.pages.parts.positions.edits import (
    MOST_SHUFFLES,
    ONLY,
    SEED,
    SHIFT,
    SIDES,
    lengths,
    modes_of,
    moved,
    position_edits,
)
from headlight.pages.parts.positions.effects import moved_attention
from headlight.pages.parts.positions.words import (
    MOVED_WORDS,
    SENTENCE_WORDS,
    TOKEN_WORDS,
    edit_words,
)
from headlight.pages.shared.address import section
from headlight.pages.shared.runs.arrays import as_array, blocked_cells, one_head, weights_of
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption, labels_of, site_words
from headlight.pages.shared.show.comparison import KEYS, TRAINED, compare_writing
from headlight.pages.shared.show.pictures import embedding_rows, show
from headlight.pages.shared.show.saving import About, about, about_run
from headlight.pages.shared.show.texts import chips
from headlight.pages.shared.state import models
from headlight.pages.shared.state.choice import counted, one_of
from headlight.pages.shared.state.choices import (
    DEFAULT_SITE,
    HEAD,
    KIND,
    LAYER,
    LIT,
    chosen,
    is_head_chosen,
    open_on,
    put,
    select_head,
)
from headlight.pages.shared.state.showing import showing
from headlight.pages.shared.widgets.choose import (
    choose,
    choose_head_or_summary,
    choose_kind,
    choose_layer,
    choose_token,
    offer_head,
)
from headlight.viz import attention_heatmap, token_strip, vector_rows
from headlight.viz.arrays import as_floats
from headlight.viz.numbers import number_text, power_text

SIDE = one_of("positions_token_side", {"encoder": "Encoder", "decoder": "Decoder"}, label="Side")
TOKENS = {
    side: counted(f"positions_token_{side}", 1, lambda shape: shape.max_positions, label="Token")
    for side in SIDE.options
}


@section
def token_section(run: ModelRun) -> None:
    """Draw the choice of a token, and the vectors whose sum is its input to the first layer."""
    trace = run.streamed()
    records = {side: each for side, each in trace.embedding.items() if each.positions is not None}
    if not records:
        st.info(TOKEN_WORDS["none"])
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        side = choose(SIDE, records)
        tokens = trace.source_tokens if side == "encoder" else trace.target_tokens
        index = choose_token(TOKENS[side], [token.text for token in tokens], first=0)
    what = f"Embedding and position of token {index} of the {side}"
    show(vector_rows(embedding_rows(records[side], index)), "strips", of=about_run(run), what=what)
    caption(TOKEN_WORDS["sum"])


LITTLE = 0.5  # a head changes “little” if less than this share of the head that changes most
LEAST = 0.005  # a smaller share of moved attention is only rounding

CHOICES = (*SIDES.values(), ONLY, SHIFT, SEED, SIDE, *TOKENS.values())


def shuffle_again() -> None:
    put(SEED, (chosen(SEED) + 1) % MOST_SHUFFLES)


def choose_edits(run: ModelRun) -> dict[Side, PositionEdit]:
    """Draw the choice of positions for encoder and decoder, and return the changes of each."""
    tokens = lengths(run)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        modes = {choose(choice) for choice in modes_of(tokens).values()}
        if "shifted" in modes:
            choose(SHIFT, width=120)
        if "shuffled" in modes:
            st.button("Shuffle again", on_click=shuffle_again)
    edits = position_edits(tokens, {choice.key: chosen(choice) for choice in CHOICES})
    for side, edit in edits.items():
        if not edit.off and edit != PositionEdit():
            places = ", ".join(map(str, edit.positions(0, tokens[side])))
            st.caption(f"Positions of the {side}'s tokens, in their order, from 0: {places}")
    return edits


@section
def sentence_section(before: ModelRun) -> None:
    """Draw how changed positions affect the text that the model writes, and the attention."""
    edits = choose_edits(before)
    after = moved(before, edits)
    try:
        after.trace()
    except ValueError as error:
        st.warning(str(error))
        return
    changed = {side: edit for side, edit in edits.items() if edit != PositionEdit()}
    changes, briefly = (
        [f"positions of the {side} {edit_words(edit, brief)}" for side, edit in changed.items()]
        for brief in (False, True)
    )
    labels = TRAINED, f"with {' and '.join(briefly)}" if briefly else TRAINED
    of = about(before.sentence, target=before.target_text(), changes="; ".join(changes))
    compare_writing(before, after, labels, of=of, in_columns=True)
    st.subheader("Attention before and after")
    before_and_after(before, after, labels, (about_run(before), of))
    if "cross" in before.reader.shape.kinds:
        caption(SENTENCE_WORDS["same target"])


def before_and_after(
    before: ModelRun, after: ModelRun, labels: tuple[str, str], of: tuple[About, About]
) -> None:
    """Draw a head as trained and with the changes; at first it is the head that changes most."""
    shares = moved_by_head(before, after)
    open_on_most_moved(shares)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = choose_kind()
        layer, head = choose_layer(kind), choose_head_or_summary(kind)
    columns = st.columns(2, gap="medium")
    runs = [*zip(columns, KEYS, labels, (before, after), of, strict=True)]
    for column, key, title, run, of_run in runs if after != before else runs[:1]:
        with column:
            st.markdown(f"**Weights {title}**")
            record = run.record(Site(kind, layer))
            weights = one_head(as_array(record.weights[0]), head)
            tokens = labels_of(run, kind)
            heatmap = attention_heatmap(weights, *tokens, blocked=blocked_cells(record))
            what = f"{site_words(kind, layer, head)}, {title}"
            show(heatmap, f"weights-{key}", of=of_run, what=what)
    if not isinstance(head, str):
        say_most_moved(shares, (kind, layer, head))


def moved_by_head(before: ModelRun, after: ModelRun) -> dict[HeadAddress, float]:
    """Return the share of attention that each head moves; see `moved_attention`."""
    moved = {}
    for kind in before.reader.shape.kinds:
        layers = [weights_of(run.trace(), kind) for run in (before, after)]
        for layer, pair in enumerate(zip(*layers, strict=True)):
            shares = moved_attention(*map(as_floats, pair))  # (H,)
            moved |= {(kind, layer, head): float(share) for head, share in enumerate(shares)}
    return moved


def open_on_most_moved(moved: Mapping[HeadAddress, float]) -> None:
    """Once in a session, choose the head that changes most, if no head is chosen.

    If a link has chosen a kind of attention, the head is one of that kind.
    """
    is_first = showing().scene() is None and not st.session_state.get("opened_most_moved")
    st.session_state.opened_most_moved = True
    if not is_first or is_head_chosen() or max(moved.values()) < LEAST:
        return
    has_kind = chosen(KIND) != KIND.default and (chosen(LAYER), chosen(HEAD)) == DEFAULT_SITE
    among = [head for head in moved if head[0] == chosen(KIND)] if has_kind else []
    open_on(*max(among or moved, key=moved.__getitem__))
    put(LIT, "")


def say_most_moved(moved: Mapping[HeadAddress, float], shown: HeadAddress) -> None:
    """Say how much the shown head changes; a button leads to the head that changes most."""
    most = max(moved, key=moved.__getitem__)
    if moved[most] < LEAST or showing().scene() is not None:
        return
    share, largest = number_text(moved[shown], 2), number_text(moved[most], 2)
    if shown == most:
        offer_head(MOVED_WORDS["most"].format(share=share), None)
        return
    how = "little" if moved[shown] < LITTLE * moved[most] else "less"
    words = MOVED_WORDS[how].format(share=share, head=site_words(*most), largest=largest)
    offer_head(words, partial(select_head, *most))


@section
def words_section(run: ModelRun) -> None:
    """Draw how shuffled words change the encoder's outputs, with positions and without them."""
    if "cross" not in run.reader.shape.kinds:
        st.info(SENTENCE_WORDS["no encoder"])
        return
    caption(SENTENCE_WORDS["shuffle"])
    made = shuffle(run.sentence, chosen(SEED), models.chosen().key)
    if len(made.order) < 3:
        st.info(SENTENCE_WORDS["one word"])
        return
    st.button("Shuffle again", on_click=shuffle_again)
    strip = token_strip("", chips(made.tokens), label="The words shuffled")
    show(strip, "shuffled", of=about(run.sentence), what="The words shuffled")
    left, middle, right = st.columns(3)
    left.metric(
        "Largest difference without positions", power_text(made.without_positions.max().item())
    )
    middle.metric("Largest difference with positions", f"{made.with_positions.max():.3f}")
    right.metric("Largest number in the outputs", f"{made.largest_output:.3f}")
    st.dataframe(
        {
            "token": [token.text for token in made.tokens],
            "was at": made.order,
            "is at": range(len(made.order)),
            "difference without positions": [*map(power_text, made.without_positions.tolist())],
            "with positions": [f"{value:.3f}" for value in made.with_positions],
        },
        hide_index=True,
    )
