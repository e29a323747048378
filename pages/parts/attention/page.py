"""The page Attention: which tokens every head looks at, on the visitor's text."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import streamlit as st

from headlight.model.edits import Edits, HeadAddress
from headlight.model.transformer.trace import Kind
from headlight.pages.parts.attention.leading import NOTHING, Link, Reasons, largest_word, said_of
from headlight.pages.parts.attention.view import (
    CHOICES,
    EMPTY,
    LAYER_SUMMARIES,
    NUMBERS_ALONE,
    READS,
    View,
    choose_view,
    view_notes,
)
from headlight.pages.shared.address import section
from headlight.pages.shared.controls.sentence import ask, show_translation, tokens_read
from headlight.pages.shared.runs.arrays import heads_meant
from headlight.pages.shared.runs.run import ModelRun, with_own_text, written
from headlight.pages.shared.show import overview
from headlight.pages.shared.show.answers import compare_choices
from headlight.pages.shared.show.captions import site_words
from headlight.pages.shared.show.cells import if_taken_apart, open_inside
from headlight.pages.shared.show.comparison import CHANGED, TRAINED
from headlight.pages.shared.show.doubt import offer_likelier, warn
from headlight.pages.shared.show.opening import open_on_a_telling_head
from headlight.pages.shared.show.riddle import CHOICES as RIDDLE
from headlight.pages.shared.show.riddle import Riddle, most_looked_at, row_asked_about
from headlight.pages.shared.show.saving import About, about_run
from headlight.pages.shared.show.sight import reveal_if_sought, seek
from headlight.pages.shared.show.words import formula, reading_of
from headlight.pages.shared.state import choices, edit_history, models
from headlight.pages.shared.state.page import Page
from headlight.pages.shared.state.showing import say
from headlight.pages.shared.state.wings import allows
from headlight.pages.shared.widgets.choose import (
    choose,
    choose_head_or_summary,
    choose_kind,
    choose_layer_or_summary,
    place_options,
)

MANY = 64  # with more tokens than this, a heatmap has no room for their names
SAID = "weight-said"  # the key of the container with the sentence about the enlarged head


@section
def detail(run: ModelRun, view: View, of: About) -> None:
    """Draw the choice of a head, and the enlarged head with sentences about it."""
    kind, options = view.kind, place_options(run.reader.shape.heads(view.kind))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        layer, head = choose_layer_or_summary(kind), choose_head_or_summary(kind)
        picture = choose(choices.PICTURE)

    def open_map(layer: int, column: int) -> None:
        choices.put(choices.LAYER, layer)
        choices.put(choices.HEAD, options[column])
        seek(SAID)

    def see(link: Link) -> None:
        open_map(link.layer, link.head)
        overview.light(link.token)

    def open_cell(row: int, column: int) -> None:
        cell, summed_up = view.strongest(layer, head, row, column), what if behind else ""
        open_inside(*cell, target=run.target, summed_up=summed_up)

    selected = None if isinstance(layer, str) else (layer, options.index(head))
    overview.selection(selected, open_map)
    drawn, what = (view.large(layer, head), *view.tokens), site_words(kind, layer, head)
    behind = view.behind(layer, head) if picture == "heatmap" else None

    def ask() -> Riddle:
        return most_looked_at(what, *drawn, blocked=view.blocked(layer), first=first)

    above = st.container()
    lit = overview.lit_among(*view.tokens)
    clearest = view.clearest(drawn[0])
    first = clearest[1] if clearest[0] == "query" else 0
    if not choices.chosen(choices.LIT):
        asked = "query", row_asked_about(len(drawn[1]), first)
        lit = asked if choices.chosen(choices.GUESS) else clearest
    is_summary = bool({layer, head} & {*choices.SUMMARIES})
    is_lead = view.is_english and lit == clearest
    reasons = None
    if lit and not view.selection.scaled:
        reasons = Reasons(view, lit, is_lead, None if is_summary else selected)

    def below() -> None:
        if reasons:
            reasons.draw(see)

    common = {"of": of, "what": what, "riddle": ask, "below": below}
    if picture == "lines":
        is_shown = overview.large_lines(*drawn, lit=lit, **common)
    elif picture == "text":
        queries, keys, words = view.text
        is_shown = overview.large_text(drawn[0], queries, keys, words=words, lit=lit, **common)
    else:
        cells = {"blocked": view.blocked(layer), "open_cell": if_taken_apart(run, open_cell)}
        if lit and lit[0] == "query":  # frame the cell that the sentence above the heatmap is about
            row = drawn[0][lit[1]]
            key = max(largest_word(row, view.lines[1]).pieces, key=row.__getitem__)
            cells["framed"] = lit[1], key
        if behind:
            cells |= {"behind": behind, "name": summary_name(layer, head)}
        is_shown = overview.large_heatmap(*drawn, **common, **cells)
    if is_shown:
        with above:
            offer_text(picture, max(drawn[0].shape))
        with above, st.container(key=SAID, gap=None):
            reveal_if_sought(SAID)
            is_off = are_off(run, kind, layer, head)
            if reasons and lit:
                who = "The heads are" if is_summary else "The head is"
                unused = f" {who} off, so this is not used." if is_off else ""
                nothing = f"{NOTHING}: " if is_lead and lit[0] == "key" else ""
                words = said_of(lit, drawn[0], view.tokens, view.lines)
                say(f"{nothing}{words}{unused}", "weight", where=f"{what}: ")
            if isinstance(layer, int) and isinstance(head, int):
                with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                    switch_off((kind, layer, head), is_off)
                    if reasons and reasons.figure:
                        st.text(reasons.figure, width="content")
    entry = models.chosen()
    sides = {"source": entry.source, "target": entry.target, "usual": view.sees_as_usual(layer)}
    st.caption(reading_of(kind, head, drawn[0], row=view.row_words, **sides))
    if layer in choices.SUMMARIES:
        st.caption(f"{LAYER_SUMMARIES[layer]} {NUMBERS_ALONE}")
    if "own layers" not in run.reader.missing:
        config = run.reader.model.config
        st.latex(formula(kind, config.d_model // config.heads, **sides))


def offer_text(picture: str, tokens: int) -> None:
    """Draw a button that shows a long text's weights in running text, not as a heatmap or lines.

    There is no button if they are shown so already, or if a teacher has closed the choice.
    """
    if picture != "text" and tokens > MANY and allows(choices.PICTURE.key):
        words = f"Read it as a text: {tokens} tokens leave little room for names here"
        put = {"on_click": choices.put, "args": [choices.PICTURE, "text"]}
        st.button(words, type="tertiary", icon=":material/notes:", key="as-text", **put)


def are_off(run: ModelRun, kind: Kind, layer: choices.HeadChoice, head: choices.HeadChoice) -> bool:
    """Return whether a head is off; for a mean or maximum, whether all its heads are off."""
    layers = heads_meant(layer, run.reader.shape.layers(kind))
    heads = heads_meant(head, run.reader.shape.heads(kind))
    return edit_history.in_force().are_off(product([kind], layers, heads))


def switch_off(head: HeadAddress, is_off: bool) -> None:
    """Draw the button that switches a head off, or on again if it is off."""
    label = "Switch this head on again" if is_off else "Switch this head off"
    icon = f":material/toggle_{'off' if is_off else 'on'}:"
    # The fixed key keeps the keyboard focus on this button when its label changes.
    if st.button(label, type="tertiary", icon=icon, key="switch-head"):
        choices.put(choices.AS_TRAINED, False)
        edit_history.set_gates([head], 1.0 if is_off else 0.0)
        st.rerun()  # rerun the whole page: the written text is outside this section


def summary_name(layer: choices.HeadChoice, head: choices.HeadChoice) -> str:
    summed_up = [choice for choice in (layer, head) if choice in choices.SUMMARIES]
    return " of ".join(dict.fromkeys(summed_up))


def heads(run: ModelRun, of: About, draw_tokens: Callable[[], None]) -> None:
    """Draw the kind of attention, the tokens, the maps of all heads, and one head enlarged."""
    left, right = st.columns([6, 7], gap="medium")
    with left:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
            kind = choose_kind(on_change=another_kind)
            overview.where_in_the_model(choices.KIND, linked=True)
        draw_tokens()
        room = st.container()
        view = choose_view(run, kind)
        if notes := view_notes(view.selection):
            st.caption(notes)
        if view.selection.is_empty:
            st.info(EMPTY)
            return
        with room:
            maps = overview.with_summaries(view.layers)
            what, group = f"{choices.KINDS[kind]}, all heads", run.reader.shape.group(kind)
            off = [
                head[1:] for head, gate in run.edits.gates.items() if head[0] == kind and not gate
            ]
            overview.all_heads(maps, *view.tokens, of=of, what=what, group=group, off=off)
    with right:
        detail(run, view, of)


def another_kind() -> None:
    """Unpin the token, and scroll to the newly chosen kind of attention; a callback."""
    choices.put(choices.LIT, "")
    seek(SAID)


def tokens_and_choices(run: ModelRun, of: About) -> None:
    """Draw the tokens that are read, and next to them the model's predictions, if it has any."""
    room = st.container()
    if run.reader.questions(run.trace()):
        room, answers = st.columns([3, 2], gap="medium")
        with answers:
            label = TRAINED if run.edits == Edits() else CHANGED
            compare_choices(run, run, (label, label), of=of)
    with room:
        tokens_read(run, of)


def with_text(run: ModelRun, values: Mapping[str, Any]) -> ModelRun:
    """Return the run with the chosen text of the decoder, or that of the changed model."""
    if "cross" in run.reader.shape.kinds and models.named(run.model).is_library:
        run = replace(run, target=values[READS.key])
    return with_own_text(run)


def attention() -> None:
    open_on_a_telling_head()
    given = ask(target=READS if models.chosen().is_library else None)
    if given is None:
        return
    run = replace(given, edits=edit_history.in_force())
    run = with_text(run, {READS.key: given.target})
    of = about_run(run)
    writes_beside = "cross" in run.reader.shape.kinds and "write" not in run.reader.missing
    translates = writes_beside and not given.target
    if translates:
        warn(run)
        likelier = st.container(key="likelier")
        # On a phone the full translation is far below, so its text is also drawn here.
        with st.container(key="translation-on-phones"):
            st.text(f"{models.chosen().target.capitalize()}: {written(run).text}")
    draw = show_translation if translates else tokens_and_choices
    heads(run, of, lambda: draw(run, of))
    if translates:
        offer_likelier(run, likelier)


PAGE = Page(
    key="attention",
    title="Attention",
    group="Look",
    purpose="Which tokens every head looks at, on your text",
    body=attention,
    changes="in force",
    own=with_text,
    choices=(choices.PICTURE, choices.OWN_SCALE, choices.LIT, *RIDDLE, *CHOICES),
    pictures={
        "source": "the source's tokens",
        "target-tokens": "the target's tokens",
        "trained": "the translation as trained",
        "grid": "all heads",
        "heatmap": "one head as a heatmap",
        "lines": "one head as lines",
        "text": "one head in running text",
        "answer-0": "what the model chooses",
    },
    first=lambda: (choices.chosen(choices.PICTURE),),
    riddles=("heatmap", "lines", "text"),
)
