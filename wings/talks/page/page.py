"""The page Talk: make a list of slides, present it, save it and load it."""

from functools import partial

import streamlit as st

from headlight.pages.browser.parts import press
from headlight.pages.shared.show.pictures import css_class, show
from headlight.pages.shared.show.saving import slug
from headlight.pages.shared.state.page import Page
from headlight.pages.shared.widgets.choose import choose
from headlight.wings.talks import saving_talk, scenes, talk
from headlight.wings.talks.deck.file import talk_in
from headlight.wings.talks.page.boxes import boxes, edit, edited, rows, undo
from headlight.wings.talks.slides import LARGEST_FILE, Slide, copied, write_talk
from headlight.wings.talks.turning import turn_to

PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
HOW = (
    "A talk is a list of scenes. On any page, choose what to show and press **Add to talk** in the "
    "sidebar. Here you give the slide its words, its pictures and its place. Drag a slide to move "
    "it, or press Alt with ↑ or ↓. **Open** shows the scene on its page; **Update slide** in the "
    "sidebar there saves your changes in the slide. While presenting, → and ← or a clicker turn "
    "the slides, B makes the screen black and back, X opens the scene on its page and returns to "
    "the slide, and Esc returns to the page where you began. On a slide that can play, the space "
    "bar plays it, and n and p step it; on other slides the space bar turns to the next slide. "
    "A slide with **Guess first** asks what its picture shows: click a guess, or press a. "
    "Your talk is kept in this browser and nowhere else, until you remove it."
)
NONE_YET = (
    "You have no slides of your own yet: press **Add to talk** on any page. **Present** shows one "
    "of the talks that come with Headlight, of {count} slides."
)
REMOVED = "All slides are removed. Undo brings them back."
ONE_PAGE = (
    "One HTML file that needs neither a server nor a network. Words, notes and keys are as here, "
    "and pictures can be pointed at."
)
INSIDE = (
    "The same file with the translator inside, 30 MB more. On a slide you can then type any "
    "sentence, and choose any head, mask and cell."
)
POWERPOINT = (
    "Titles, words and notes as text, the pictures as images, and a link from each slide to its "
    "scene, for PowerPoint, Keynote, Google Slides and LibreOffice."
)
TYPES = {
    "html": ("HTML", "html", "text/html"),
    "live": ("HTML", "with-model.html", "text/html"),
    "pptx": ("PowerPoint", "pptx", PPTX),
}
ALL_SAVED = {
    "html": "All slides are in it. It opens in any browser, without a network.",
    "live": "All slides and the model are in it. It is too large to be loaded here again: also "
    "save the talk with **Save as a file**.",
    "pptx": "All slides are in it. Its links need this app to be running.",
}
CHANGED = "The slides have changed since the file was made. Save them again."
LEFT_OUT = "Slides {slides} are incomplete: a sentence on each says what is missing."
TITLE = Slide(title="Title of the talk", words="Who speaks, where and when")
CLOSING = Slide(title="What to take home", words="One thing\nAnother\nA third")


def load() -> None:
    """Load the talk in the uploaded file, or say why it cannot be loaded; a callback."""
    notes = ()
    if file := st.session_state.talk_file:
        try:
            slides, notes = talk.read(talk_in(file.getvalue()))
            replaces = talk.own() not in ((), slides)
            back = " “Undo” brings the earlier ones back." if replaces else ""
            talk.change(slides)
            st.toast(f"{len(slides)} slides were loaded.{back}")
        except ValueError as error:
            notes = str(error), "Your talk was not changed."
    st.session_state.talk_notes = notes


def remove_all() -> None:
    talk.change(())
    st.toast(REMOVED)


def add_words(slide: Slide, index: int) -> None:
    """Insert a copy of a slide without pictures at an index, and open it for editing."""
    if talk.add(copied(slide), index):
        edit(index)


def tools() -> None:
    """Draw the buttons that act on the whole talk."""
    slides = talk.own()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = talk.goes_on_at() or 1
        label = f"Present from slide {number}" if number > 1 else "Present"
        st.button(label, key="present-all", on_click=turn_to, args=[number], type="primary")
        if number > 1:
            st.button("From the start", key="present-first", on_click=turn_to, args=[1])
        if slides:
            end = len(slides)
            for label, slide, index in (("title", TITLE, 0), ("closing", CLOSING, end)):
                add = {"on_click": add_words, "args": [slide, index], "key": f"add-{label}"}
                st.button(f"Add a {label} slide", **add)
        else:
            ready = talk.in_force()
            st.button("Edit a copy of the ready talk", on_click=talk.change, args=[ready])
        if slides:
            st.button("Remove all slides", on_click=remove_all)
        st.button("Undo", key="undo-talk", on_click=undo, disabled=not talk.can_undo())
    with st.container(horizontal=True):
        # A function makes the file on a click. Browsers would request bytes at once, even those of
        # removed buttons.
        file = partial(write_talk, talk.in_force()), f"{file_name()}.json", "application/json"
        st.download_button("Save as a file", *file, on_click="ignore")
        for label, kind, words in (
            ("Save as one HTML file", "html", ONE_PAGE),
            ("Save with the model inside", "live", INSIDE),
            ("Save for PowerPoint", "pptx", POWERPOINT),
        ):
            if kind == "live" and not saving_talk.model_maker():
                continue
            save = {"on_click": saving_talk.start, "args": [kind], "key": f"as-{kind}"}
            st.button(label, help=words, **save)
    saved_file()
    how, file = st.columns(2)
    with how, st.expander("How a talk is made"):
        st.markdown(HOW)
    with file, st.expander("Load a talk from a file"):
        label = f"A talk saved as JSON or HTML, with at most {LARGEST_FILE // 1000} kB of slides"
        st.file_uploader(label, type=["json", "html"], key="talk_file", on_change=load)
    for note in st.session_state.get("talk_notes", ()):
        st.text(note)


def file_name() -> str:
    """Return the name of the talk's files without extension, made from the talk's first title."""
    titles = (slug(slide.title) for slide in talk.in_force())
    return f"headlight-{next(filter(None, titles), 'talk')}"


def saved_file() -> None:
    """Have the browser download a saved talk's file, unless the slides have changed since."""
    if not (saving := saving_talk.now()):
        return
    if not saving_talk.is_of_talk(saving):
        st.text(CHANGED)
        return
    with st.container(horizontal=True, vertical_alignment="center", key="saved-file"):
        name, ending, mime = TYPES[saving.kind]
        file = lambda: saving.file, f"{file_name()}.{ending}", mime
        inside = " with the model inside" if saving.kind == "live" else ""
        label = f"Download the {name} file{inside} again ({len(saving.file) / 1e6:.1f} MB)"
        st.download_button(label, *file, key="download", type="primary", on_click="ignore")
        show(press(f"{css_class('download')} button", saving.name), "press-download")
        if left_out := saving.left_out:
            st.text(LEFT_OUT.format(slides=", ".join(map(str, left_out))))
        else:
            st.text(ALL_SAVED[saving.kind])


def make_talk() -> None:
    """Draw the page."""
    scenes.follow()
    tools()
    if not talk.own():
        choose(talk.READY)
        st.info(NONE_YET.format(count=len(talk.in_force())))
    listed, shown = st.columns([6, 5], gap="medium")
    with listed:
        rows()
    with shown:
        if (index := edited()) is not None:
            boxes(index, talk.own()[index])


PAGE = Page(
    key="talk",
    title="Talk",
    group="More",
    purpose="Make a list of scenes, and present it",
    body=make_talk,
    choices=(talk.READY,),
)
