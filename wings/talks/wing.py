"""Add talks to every page: show slides in its place, and draw tools that make slides of it."""

import streamlit as st

from headlight.model.edits import Edits
from headlight.pages.shared import address
from headlight.pages.shared.state import edit_history, showing
from headlight.pages.shared.state.choices import chosen
from headlight.pages.shared.state.page import PAGES, Page, enter
from headlight.pages.shared.state.wings import TOOLS, Wing, allows
from headlight.wings.talks import kept, presenter, saving_talk, scenes, stage, talk, turning
from headlight.wings.talks.page.page import PAGE

__all__ = ["PAGE", "WING"]


class Talks(Wing):
    """Shows slides in place of pages, and saves them."""

    def begin(self, page: Page) -> None:
        """Turn to the requested slide, or return to the page on which the talk was started."""
        presenter.take_turn()
        if left_for := st.session_state.get("left_for"):
            enter(page)
            if left_for != page:
                st.switch_page(left_for.file)
            del st.session_state.left_for
            address.publish()  # at once: values that come with the old address are the slide's

    def draws(self, page: Page) -> bool:
        """If a slide is shown or saved, draw it in place of the page, and return True."""
        kept.keep()
        stage.clear()
        if number := presenter.asked_for():
            if saving := saving_talk.under_way():
                saving_talk.draw_next(saving)
            else:
                presenter.show_slide(number)
            return True
        saving_talk.stop_if_left()
        scenes.close_on(page)
        return False

    def tools(self, page: Page) -> None:
        """Draw the buttons for the tour, for the talk, and for a new slide of the page."""
        if not allows(TOOLS):
            return
        tour = {"on_click": talk.take_tour, "width": "stretch", "key": "tour-in-sidebar"}
        st.button("Take the tour", **tour)
        if visit := turning.visit():
            back = {"on_click": presenter.come_back, "key": "back-to-slide", "type": "primary"}
            number = talk.number_of(visit.slide) or visit.number
            st.button(f"Back to slide {number}", **back, width="stretch")
        elif number := talk.goes_on_at():
            go_on = {"on_click": turning.turn_to, "args": [number], "key": "present-on"}
            st.button(f"Present from slide {number}", **go_on, width="stretch")
        if not page.pictures:
            return
        add = {"on_click": scenes.add_scene, "args": [page]}
        st.button("Add to talk", **add, width="stretch", key="add-to-talk")
        if (index := scenes.opened()) is not None:
            update = {"on_click": scenes.update_scene, "args": [page], "width": "stretch"}
            st.button(f"Update slide {index + 1}", **update, key="update-slide")

    def buttons(self, page: Page) -> None:
        if allows(TOOLS):
            present = {"on_click": turning.turn_to, "args": [1], "width": "stretch"}
            st.button(
                "From the start" if talk.goes_on_at() else "Present", **present, key="present"
            )

    def above(self, page: Page) -> None:
        """Offer the ready talk as a tour, on the first page, to visitors who changed nothing."""
        if page is not next(iter(PAGES.values())):
            return
        label = f"Take the tour ({len(talk.shipped(chosen(talk.READY)))} scenes)"
        # Draw the container even without its button: otherwise everything below would be redrawn.
        with st.container(key="tour"):
            if allows(TOOLS) and edit_history.edits() == Edits():
                st.button(label, on_click=talk.take_tour, key="take-the-tour")

    def after(self, page: Page) -> None:
        scenes.finish(page)

    def renew(self) -> None:
        turning.draw_anew()


WING = Talks()
showing.show_by(stage.Stage())
