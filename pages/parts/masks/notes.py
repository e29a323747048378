"""What is said about the masks in force: what cannot be done, and what has no effect."""

from collections.abc import Iterator

import streamlit as st
import torch

from headlight.model.edits import EXTRA
from headlight.model.edits.masks import Cells
from headlight.model.edits.text import how_many, span_text, spans
from headlight.model.trace import Site
from headlight.pages.parts.masks.added import setting_words
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.words import MASK_WORDS


def notes(trained: ModelRun, run: ModelRun, site: Site, opens: bool) -> None:
    """Say what cannot be done, and why a switch has the effect it has."""
    edits, missing = run.edits, run.reader.missing
    needed = {ability for mask in edits.masks for ability in EXTRA[mask.name].needs}
    for ability in missing.keys() & (needed | ({"open cells"} if opens else set())):
        st.info(missing[ability])
    for words in (*idle_words(trained, run), *empty_words(run, site)):
        st.info(words)
    if "padding" in edits.off and not run.pad_to:
        st.info(MASK_WORDS["nothing to hide"])
    if "look-ahead" in edits.off and "cross" in run.reader.shape.kinds:
        st.info(MASK_WORDS["look-ahead off"])


def idle_words(trained: ModelRun, run: ModelRun) -> Iterator[str]:
    """Name the masks in force that change nothing on this text, such as a window wider than it."""
    for address, setting in run.edits.masks.items():
        mask, site = EXTRA[address.name], Site(address.kind, 0)
        own = trained.trace().visible(site).cpu()  # (Q, K)
        queries, keys = map(torch.arange, own.shape)
        cells = Cells(site, queries[:, None], keys, len(keys))
        closed = own & ~mask.visible(cells, *setting)
        opened = mask.opened(cells, *setting) & ~own if mask.opened else cells.none()
        if not (mask.lowered or mask.positions or closed.any() or opened.any()):
            tokens = how_many(len(keys), "token")
            yield MASK_WORDS["idle"].format(mask=setting_words(mask, setting), tokens=tokens)


def empty_words(run: ModelRun, site: Site) -> Iterator[str]:
    """Name the queries of a site that see nothing in some heads."""
    empty = run.record(site).masked_scores[0].isneginf().all(dim=-1)  # (H, Q)
    if empty.any():
        queries = ", ".join(map(span_text, spans(empty.any(dim=0).nonzero().flatten().tolist())))
        heads = how_many(int(empty.any(dim=1).sum()), "head")
        yield MASK_WORDS["empty"].format(queries=queries, heads=heads)
