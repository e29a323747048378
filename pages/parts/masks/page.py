"""The page Masks: change which keys attention may see, and watch weights and output change."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
import torch

from headlight.model.edits import EXTRA, TRAINED, Edits
from headlight.model.edits.masks import Cells
from headlight.model.edits.text import how_many, span_text, spans
from headlight.model.reader import Reader
from headlight.model.transformer.trace import Site
from headlight.pages.parts.masks.lessons import (
    BLOCKED_ROW,
    FLASH,
    FLASH_BLOCK,
    FLASH_ROW,
    LIBRARY,
    METHOD,
    TAB,
    below,
)
from headlight.pages.parts.masks.library import (
    LAYERS,
    LENGTH,
    borders,
    boxes,
    can_take,
    setting_words,
)
from headlight.pages.parts.masks.own import PICTURES
from headlight.pages.parts.masks.stages import SCOPE, Focus, asks_to_open, matrix
from headlight.pages.parts.masks.words import MASK_WORDS
from headlight.pages.shared import address
from headlight.pages.shared.address import section
from headlight.pages.shared.controls.sentence import ask, tokens_read
from headlight.pages.shared.frame import changes
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show import answers, comparison
from headlight.pages.shared.show.captions import labels_of, site_words
from headlight.pages.shared.show.cells import if_taken_apart, open_inside, way_back
from headlight.pages.shared.show.overview import where_in_the_model
from headlight.pages.shared.show.saving import about_run
from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.choices import (
    EDITS,
    KIND,
    MASK_KIND,
    TARGET,
    chosen,
    padding,
    put,
)
from headlight.pages.shared.state.page import Page
from headlight.pages.shared.state.wings import allows
from headlight.pages.shared.widgets.choose import choose, choose_head, choose_kind, choose_layer
from headlight.pages.streamlit_fixes.late_values import editor

PAD_TO = padding("pad_to")
SUGGESTED = 16  # the button that pads the text offers a length near this, in tokens


def lengths(run: ModelRun) -> range:
    """Return the lengths, in tokens, that a text can be padded to."""
    tokens = run.trace().longest
    return range(tokens + 1, min(tokens + 8, run.reader.shape.max_positions) + 1)


def padded(run: ModelRun) -> ModelRun:
    """Draw the choice of a length to pad the text to; return the padded run.

    Without padding, or for a model that cannot read padding, the run is returned unchanged.
    """
    if "pad" in run.reader.missing:
        return run
    offered = [None, *lengths(run)]
    if chosen(PAD_TO) not in offered:
        put(PAD_TO, None)
    label = "Pad both sides to" if "cross" in run.reader.shape.kinds else "Pad to"
    box = {"widget": st.selectbox, "label": label, "help": MASK_WORDS["pad to"]}
    return replace(run, pad_to=choose(PAD_TO, offered, **box))


def switches(edits: Edits, reader: Reader, site: Site) -> None:
    """Draw a switch for each mask as trained, the boxes that add masks, and the button Undo."""
    with st.container(key=EDITS.key, horizontal=True, vertical_alignment="center"):
        for name, mask in TRAINED.items():
            if reader.shape.kinds.keys() & {*mask.kinds} and can_take(reader, mask):
                editor(st.toggle, mask.title, name not in edits.off, partial(switch, name), name)
        if edit_history.may_change():
            with st.popover("Add a mask"):
                boxes(edits, reader, site)
        if edit_history.can_undo():
            st.button("Undo", on_click=edit_history.undo)
    address.note_too_many()


def switch(name: str, on: bool) -> None:
    edits = edit_history.edits()
    off = {*edits.off} - {name} if on else {*edits.off, name}
    edit_history.change(replace(edits, off=off))


def notes(trained: ModelRun, run: ModelRun, site: Site, opens: bool) -> None:
    """Draw notes on changes that the model cannot make, and on effects that may surprise.

    `opens` is true if the visitor wants to open cells that are closed as trained.
    """
    edits, missing = run.edits, run.reader.missing
    needed = {ability for mask in edits.masks for ability in EXTRA[mask.name].needs}
    for ability in missing.keys() & (needed | ({"open cells"} if opens else set())):
        st.info(missing[ability])
    for words in (*idle_words(trained, run), *empty_words(run, site)):
        st.info(words)
    if "padding" in edits.off and not run.pad_to:
        st.info(MASK_WORDS["nothing to hide"])
        pad(trained)
    elif "padding" in edits.off and "cross" in run.reader.shape.kinds and site.kind == "decoder":
        st.info(MASK_WORDS["opened elsewhere"])
        if st.button("Show the encoder's mask", on_click=put, args=(MASK_KIND, "encoder")):
            st.rerun()  # redraw the whole page: the kind is chosen outside this part of it
    if "look-ahead" in edits.off and "cross" in run.reader.shape.kinds:
        st.info(MASK_WORDS["look-ahead off"])


def pad(run: ModelRun) -> None:
    """Draw a button that pads the text, a short cut for the choice `PAD_TO` further up."""
    if allows(PAD_TO.key) and (offered := lengths(run)):
        length = min(offered, key=lambda each: abs(each - SUGGESTED))
        if st.button(f"Pad to {length}", on_click=put, args=[PAD_TO, length], key="pad"):
            st.rerun()


def idle_words(trained: ModelRun, run: ModelRun) -> Iterator[str]:
    """Yield notes on masks that change nothing on this text, such as a window that is too wide."""
    for named, setting in run.edits.masks.items():
        mask, site = EXTRA[named.name], Site(named.kind, 0)
        own = trained.trace().visible(site).cpu()  # (Q, K)
        queries, keys = map(torch.arange, own.shape)
        cells = Cells(site, queries[:, None], keys, len(keys))
        closed = own & ~mask.visible(cells, *setting)
        opened = mask.opened(cells, *setting) & ~own if mask.opened else cells.none()
        if not (mask.lowered or mask.positions or closed.any() or opened.any()):
            tokens = how_many(len(keys), "token")
            yield MASK_WORDS["idle"].format(mask=setting_words(mask, setting), tokens=tokens)


def empty_words(run: ModelRun, site: Site) -> Iterator[str]:
    """Yield a note if some queries see no key at all in some heads of this layer."""
    empty = run.record(site).masked_scores[0].isneginf().all(dim=-1)  # (H, Q)
    if empty.any():
        queries = ", ".join(map(span_text, spans(empty.any(dim=0).nonzero().flatten().tolist())))
        heads = how_many(int(empty.any(dim=1).sum()), "head")
        yield MASK_WORDS["empty"].format(queries=queries, heads=heads)


@section
def in_force(trained: ModelRun, site: Site, head: int) -> None:
    """Draw the mask of a head, its controls, and all parts of the page that depend on it."""
    changes.say(PAGE)
    way_back()
    edits = edit_history.edits()
    run = replace(trained, edits=edits)
    of = about_run(run)
    switches(edits, trained.reader, site)
    borders(run, site)
    records = trained.record(site), run.record(site)
    words = site_words(*site, head)
    focus = Focus(site, head, labels_of(run, site.kind), words, of)
    mask, output = st.columns([6, 5], gap="medium")
    with mask:
        matrix(run, *records, focus)
    with output:
        texts = st.container()
        notes(trained, run, site, asks_to_open(edits, site, records[0]))
        comparison.compare_scores(trained, run)
    # If the model writes, the texts fill the column `output`, and the answers are drawn below it.
    with output if "write" in run.reader.missing else st.container():
        answers.compare_answers(trained, run, of=of)
    same = {"pad_to": run.pad_to, "target": run.target}
    open_cell = if_taken_apart(run, partial(open_inside, *site, head, **same))
    below(trained, run, *records, focus, open_cell)
    with texts:  # drawn last, because decoding takes longer than anything else here
        comparison.compare_writing(replace(trained, pad_to=None), run, of=of)


@section
def everything(plain: ModelRun) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        kind = choose_kind(MASK_KIND)
        layer = choose_layer(kind)
        head = choose_head(kind)
        with st.popover("More"):
            choose(SCOPE, SCOPE.options, widget=st.selectbox)
            run = padded(plain)
        where_in_the_model(MASK_KIND)
    in_force(run, Site(kind, layer), head)


def masks() -> None:
    if run := ask(target=TARGET):
        if "mask words" not in run.reader.missing:
            tokens_read(run, about_run(run))
        everything(run)


def with_text(run: ModelRun, values: Mapping[str, Any]) -> ModelRun:
    """Return the run with the chosen text of the decoder and the padding, if the model has them."""
    if "cross" in run.reader.shape.kinds:
        run = replace(run, target=values[TARGET.key])
    pads = "pad" not in run.reader.missing and values[PAD_TO.key] in lengths(run.as_trained)
    return replace(run, pad_to=values[PAD_TO.key]) if pads else run


def first_pictures() -> tuple[str, ...]:
    """Return the pictures of a new slide: the mask, and the text or texts written with it."""
    texts = comparison.first_pictures("matrix")
    return texts if "matrix" in texts else ("matrix", *texts)


PAGE = Page(
    key="masks",
    title="Masks",
    group="Change",
    purpose="Change what attention may see, and what that does",
    body=masks,
    changes="all",
    choices=(
        *(MASK_KIND, PAD_TO, TARGET, SCOPE, LAYERS),
        *(TAB, METHOD, BLOCKED_ROW, LENGTH, FLASH_ROW, FLASH_BLOCK),
    ),
    pictures={
        "matrix": "the mask in force",
        "trained": "the output as trained",
        "changed": "the output with changes",
        "probabilities": "how likely each token is",
        **PICTURES,
        **LIBRARY,
        **FLASH,
    },
    first=first_pictures,
    own=with_text,
    kind=MASK_KIND,
    unread=(KIND,),
)
