"""The visitor's talk in the browser's own storage."""

from secrets import token_urlsafe

import streamlit as st

from headlight.pages.shared.show.pictures import picked, show
from headlight.wings.talks import talk
from headlight.wings.talks.parts import browser_text
from headlight.wings.talks.slides import MOST_SLIDES, recognised, write_talk
from headlight.wings.talks.turning import draw_anew

KEPT = "headlight-talk"  # the name under which the browser keeps it
NOT_KEPT = (
    "This browser does not let the talk be kept. Save it as a file on the page Talk before you "
    "close or reload this tab."
)


def keep() -> None:
    """Have the browser keep the visitor's talk, and take up the one that it has kept.

    It is in the browser's own storage, for all of its tabs, and stays there until the visitor
    removes the slides; the server forgets it with the session.
    """
    state = st.session_state
    session = state.setdefault("talk_session", token_urlsafe())
    slides = state.get("talk")
    text = None if slides is None else write_talk(slides) if slides else ""
    heard = state.get("talk_heard", False)
    show(browser_text(KEPT, text, session=session, heard=heard), "kept", take_up)
    if words := state.pop("told", None):
        st.toast(words)


def take_up() -> None:
    """Take up the talk that the browser has kept, or that was made in another tab; a callback.

    Slides that were added before the browser sent the kept ones come after them. A text that cannot
    be read is ignored.
    """
    match picked("kept"):
        case {"failed": True}:
            st.session_state.told = NOT_KEPT
            return
        case {"text": str(text), "first": bool(is_first)}:
            pass
        case _:
            return
    if is_first and st.session_state.get("talk_heard"):
        return  # the browser has sent it twice
    st.session_state.talk_heard = True
    before = talk.in_force()
    try:
        slides = talk.read(text.encode(), kept=True)[0] if text else ()
    except ValueError:
        return
    if is_first:
        st.session_state.talk = (*slides, *talk.own())[:MOST_SLIDES]
    else:
        # A click that is on its way names a slide by its old name.
        talk.change(recognised(slides, talk.own()))
    # Otherwise a click in the slide that came with it would be undone.
    if talk.in_force() != before:
        draw_anew()
