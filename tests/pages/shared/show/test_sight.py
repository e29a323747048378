"""What of a long page is drawn and in sight."""

from headlight.pages.shared.show.sight import SOUGHT
from tests.pages import apps
from tests.pages.pictures import canvas_pictures

START = """
import streamlit as st
from headlight.pages.shared.show.sight import parts, reveal_if_sought, seek, tabs
from headlight.pages.shared.state.showing import place
from headlight.pages.shared.state.choice import one_of
COLOUR = one_of("colour", {"red": "Red wine", "blue": "Sky"}, label="Colour")
def body():
    tabs(COLOUR, {"red": lambda: st.text("first"), "blue": lambda: st.text("second")}, HELD)
"""


def drawn(script, **state):
    return apps.run_script(START + script, **state)


def texts(app):
    return [text.value for text in app.text]


def test_a_tab_draws_its_section_alone():
    app = drawn("HELD = {}; body()")
    assert texts(app) == ["first"]
    app.segmented_control(key="colour").set_value("blue").run()
    assert texts(app) == ["second"]


def test_a_tab_that_is_not_offered_gives_way_to_the_first():
    app = drawn('tabs(COLOUR, {"red": lambda: st.text("first")})', colour="blue")
    assert texts(app) == ["first"]


def test_a_long_page_is_listed_in_the_order_of_its_parts():
    app = drawn("""
first, second = parts(["One", "<b>Two"])
second.text("below")
first.text("above")
""")
    assert texts(app) == ["above", "below"]
    ((header, _),) = canvas_pictures(app)
    names = [(entry["name"], entry["of"]) for entry in header["entries"]]
    assert names == [("One", ".st-key-part-1"), ("<b>Two", ".st-key-part-2")]


def test_what_is_sought_is_revealed_once():
    script = """
if st.button("Open"):
    seek("other")
with st.container(key="other"):
    reveal_if_sought("other")
"""
    app = drawn(script)
    assert canvas_pictures(app) == []
    app.button[0].click().run()
    assert [header["of"] for header, _ in canvas_pictures(app)] == [".st-key-other"]
    assert SOUGHT not in app.session_state
    assert canvas_pictures(app.run()) == []
