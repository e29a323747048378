"""Keep the visitor's talk in the browser's own storage."""

from secrets import token_urlsafe

import streamlit as st

from headlight.pages.shared.show.pictures import picked, show
from headlight.wings.talks import talk
from headlight.wings.talks.parts import browser_text
from headlight.wings.talks.slides import MOST_SLIDES, recognised, write_talk
from headlight.wings.talks.turning import draw_anew

KEPT = "headlight-talk"  # the name under which the browser keeps the talk
NOT_KEPT = (
    "This browser cannot keep the talk. Save it as a file on the page Talk before you close or "
    "reload this tab."
)


def keep() -> None:
    """Have the browser keep the visitor's talk, and load the talk that it has kept.

    The talk stays in the browser's storage, for all of its tabs, until the visitor removes the
    slides; the server deletes its copy with the session.
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
    """Load the talk that the browser has kept or another tab has changed; a callback.

    If slides were added before the kept talk arrived, they come after the kept slides. A text that
    cannot be read is ignored.
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
        return  # the browser has sent the kept talk twice
    st.session_state.talk_heard = True
    before = talk.in_force()
    try:
        slides = talk.read(text.encode(), kept=True)[0] if text else ()
    except ValueError:
        return
    if is_first:
        st.session_state.talk = (*slides, *talk.own())[:MOST_SLIDES]
    else:
        # Equal slides keep their names, because a click that has not arrived yet may use them.
        talk.change(recognised(slides, talk.own()))
    # If the talk is the same, do not apply the slide's choices again: that would undo a click.
    if talk.in_force() != before:
        draw_anew()
