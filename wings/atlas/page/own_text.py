"""The visitor's own text, counted in place of the shipped one."""

import json
from functools import partial

import streamlit as st

from headlight.model.corpus import in_words
from headlight.pages.shared.address import section
from headlight.pages.shared.controls.own_lines import box_for_lines, progress_of, refusal
from headlight.pages.shared.runs import limits
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.state.choice import like
from headlight.pages.shared.state.choices import chosen, put
from headlight.pages.shared.state.showing import NOTE, place, showing
from headlight.wings.atlas.calls import (
    OwnAtlas,
    own_atlas,
    own_text,
    remove,
    shown_text,
    start,
)
from headlight.wings.atlas.counting import Count
from headlight.wings.atlas.figures import as_data
from headlight.wings.atlas.results import table

OWN_TEXT = like("atlas_text", "", r"[\w-]{1,8}")  # the key of the count shown; links have it
CHOICES = (OWN_TEXT,)
EVERY = 1.0  # seconds between two updates of the progress
BOX = "atlas"  # the key of the box for a text
INTRO = (
    "One sentence a line, or two with a tab between them: the decoder of an encoder-decoder gets "
    "the second. Up to {lines:,} lines are counted with the chosen model, and replace the figures "
    "below. The text stays in this session: no link, no talk and no file of the server has it."
)
GONE = (
    "This was made with a visitor's own text, which links and talks do not contain. It is shown "
    "without that text: count the text again to see its figures."
)
OTHER_MODEL = "Your text was counted with another model. Count it with this one to see it here."


def draw() -> None:
    """Draw the count of the visitor's own text, and a summary once it is counted."""
    own = own_atlas()
    if showing().is_live():
        active, shown = is_active(), own.key if own else ""
        note_what_is_shown(shown)
        (growing if active else still)(active, shown)
    elif chosen(OWN_TEXT) and not (own and own.key == chosen(OWN_TEXT)):
        with place(NOTE):
            st.info(GONE)


def note_what_is_shown(key: str) -> None:
    """Put the key of the shown count into links, or say that a link's count is missing."""
    newest, wanted = own_text().newest, chosen(OWN_TEXT)
    if wanted and wanted != (newest.key if newest else ""):
        st.info(GONE)
    else:
        put(OWN_TEXT, key)


def is_active() -> bool:
    mine = own_text().next
    return mine is not None and mine.job.is_active


def panel(active: bool, shown: str) -> None:
    """Draw the progress of a count, a summary of the counted text, and the box for another text.

    `active` says whether a count was under way, and `shown` is the key of the count shown, when the
    whole page was drawn. If either has changed, the whole page is drawn again.
    """
    own = own_atlas()
    if (is_active(), own.key if own else "") != (active, shown):
        st.rerun()
    if active and (mine := own_text().next):
        stage = "Tracing the examples" if mine.job.collecting else ""
        progress_of(mine.job, BOX, own_text().cancel, stage)
    if own:
        counted(own)
    elif own_text().newest:
        st.caption(OTHER_MODEL)
    if not active:
        say_what_failed()
        box()


still, growing = section(panel), section(panel, EVERY)


def counted(own: OwnAtlas) -> None:
    """Draw a summary of what was counted, its files, and what was left out."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"The figures are of **{shown_text()}**.", width="content")
        st.button("Remove", on_click=forget, key="atlas_remove")
        for name, make in (("heads.tsv", as_table), ("atlas.json", as_json)):
            file = partial(make, own.count), name, "application/octet-stream"
            st.download_button(name, *file, on_click="ignore", key=f"atlas_{name}")
    notes = [*own.job.notes]
    if became := in_words(own.count.lines):
        notes.append(f"Not counted whole: {became}.")
    if notes:
        st.caption(" ".join(notes))


def as_table(count: Count) -> bytes:
    """Return the figures of all heads as tab-separated lines in UTF-8."""
    return table(count).encode("utf-8")


def as_json(count: Count) -> bytes:
    return json.dumps(as_data(count), ensure_ascii=False).encode("utf-8")


def forget() -> None:
    """Show the shipped figures again; a callback."""
    remove()
    put(OWN_TEXT, "")


def say_what_failed() -> None:
    """Draw, only once, why a text was refused or its count failed."""
    mine = own_text()
    why = refusal(BOX)
    if mine.next and mine.next.job.status == "failed":
        why = mine.next.job.note
        mine.cancel()
    if why:
        st.error("This text was not counted.")
        st.text(why)


def box() -> None:
    """Draw the box for a text."""
    with st.expander("Count a text of your own"):
        caption(INTRO.format(lines=limits.COUNT_LINES))
        box_for_lines(BOX, "Count", begin)


def begin(data: bytes) -> None:
    """Start to count a typed or uploaded text; raises ValueError with a sentence if refused."""
    start(data)
    put(OWN_TEXT, "")
