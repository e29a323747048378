"""What a page's address does to the session, and the session to the address."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model.edits import CellEdit, Edits
from pages.shared.state.catalog import EXAMPLES
from pages.shared.state.scene import TOO_MANY

ROOT = Path(__file__).parents[4]
LATER = -10.0  # seconds since an address was written, so that a changed one is the visitor's


def open_page(page="app.py", **parameters):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.query_params.update(parameters)
    return app.switch_page(page).run()


def go_to(app, **parameters):
    """Reload the page with another address, as the browser's Back does."""
    written, when = app.session_state["address"]
    app.session_state["address"] = written, when + LATER
    app.query_params.clear()
    app.query_params.update(parameters)
    return app.run()


def address(app):
    return {name: values[-1] for name, values in app.query_params.items()}


def test_a_choice_is_written_into_the_address():
    app = open_page()
    app.segmented_control(key="layer").set_value(3).run()
    assert dict(app.query_params) == {"layer": ["3"]} or app.query_params["layer"] == "3"


def test_back_and_forward_restore_the_choices():
    app = open_page()
    app.segmented_control(key="layer").set_value(3).run()
    go_to(app, head="5")
    assert app.segmented_control(key="head").value == "5"
    assert app.segmented_control(key="layer").value == 2
    go_to(app, layer="3")
    assert app.segmented_control(key="head").value == "mean"
    assert app.segmented_control(key="layer").value == 3


def test_a_choice_after_going_back_is_kept():
    app = open_page()
    go_to(app, head="5")
    app.segmented_control(key="layer").set_value(1).run()
    app.run()
    assert app.segmented_control(key="layer").value == 1
    assert app.segmented_control(key="head").value == "5"


def test_an_address_the_browser_had_not_received_yet_changes_nothing():
    app = open_page(head="5")
    app.segmented_control(key="head").set_value("6").run()
    app.query_params.clear()
    app.query_params.update({"head": "5"})
    app.segmented_control(key="layer").set_value(1).run()
    assert app.segmented_control(key="head").value == "6"


def test_a_click_on_another_page_keeps_the_choices():
    app = open_page(head="5", sentence="We sing.")
    app.query_params.clear()
    app.switch_page("pages/heads.py").run()
    assert app.text_input(key="sentence").value == "We sing."
    assert app.session_state["head"] == "5"


def test_edits_in_an_address_are_in_force_and_can_be_undone():
    app = open_page("pages/heads.py", edits="gate.cross.3.8.0")
    assert app.metric[0].delta
    undo = next(button for button in app.button if button.label == "Undo")
    undo.click().run()
    assert not app.metric[0].delta
    assert "edits" not in app.query_params


def test_edits_are_written_into_the_address():
    app = open_page("pages/masks.py")
    app.toggle(key="look_ahead").set_value(False).run()
    assert "look-ahead.off" in app.query_params["edits"]


def test_edits_too_long_for_an_address_outlive_going_back():
    app = open_page("pages/masks.py")
    cells = tuple(
        CellEdit("decoder", query, key, False)
        for query in range(1, 40)
        for key in range(query % 2, query, 2)
    )
    app.session_state["histories"] = {"en-fr": [Edits(), Edits(cells=cells)]}
    app.run()
    assert app.query_params["edits"] == TOO_MANY
    assert any("too many for a link" in caption.value for caption in app.caption)
    app.session_state["address"] = ({}, 0.0)  # as though the browser went there by itself
    app.run()
    assert app.session_state["histories"]["en-fr"][-1].cells == cells
    elsewhere = open_page("pages/masks.py", edits=TOO_MANY)
    assert any("too long" in info.value for info in elsewhere.info)
    assert elsewhere.toggle(key="look_ahead").value


@pytest.mark.parametrize(
    "parameters",
    [
        {"layer": "9"},
        {"edits": "gate.cross.9.9.0"},
        {"model": "own-1", "sentence": "8 3"},
        {"<script>alert(1)</script>": "1"},
        {"kind": "\x00"},
    ],
)
@pytest.mark.parametrize("page", ["app.py", "pages/masks.py", "pages/model.py"])
def test_a_damaged_link_is_told_once_and_shows_the_defaults(page, parameters):
    app = open_page(page, **parameters)
    assert not app.exception
    assert not app.error
    assert any("damaged" in info.value for info in app.info)
    app.run()
    assert not any("damaged" in info.value for info in app.info)


def test_a_link_restores_a_taken_apart_run():
    link = {"inside_of": EXAMPLES[1], "sentence": EXAMPLES[1], "inside_target": "Un chat."}
    app = open_page("pages/inside.py", **link, kind="decoder", layer="1", head="1", query="3")
    assert not app.exception
    assert "chat" in app.selectbox(key="query").options[2]
