"""The boards of all heads, as large as models have them, on a page of their own."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from headlight.pages.parts.heads.switchboard import switchboard
from headlight.viz import head_effects
from tests.browser.answers import noting, picked

LABELS = {"encoder": "Encoder", "decoder": "Decoder"}


def button(page, name):
    return page.get_by_role("button", name=re.compile(f"^{name}"))


def board_of(shapes):
    gates = {kind: np.ones(shape) for kind, shape in shapes.items()}
    return noting(switchboard(gates, labels=LABELS).to_html())


@pytest.mark.parametrize("width", [390, 1280])
def test_any_head_layer_or_column_of_1024_is_reached(page, width):
    page.set_viewport_size({"width": width, "height": 720})
    page.set_content(board_of({"decoder": (32, 32)}))
    for name, place in {
        "Decoder, layer 32, head 32: on": [31, 31],
        "Decoder, head 31 of every layer": [None, 30],  # the last click left it in view
        "Decoder, layer 31: all heads": [30, None],
        "Decoder: all heads": [None, None],
    }.items():
        button(page, name).click()
        assert picked(page) == ["decoder", *place]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.errors == []


def test_names_of_layers_and_heads_stay_where_they_are_while_the_rest_scrolls(page):
    page.set_viewport_size({"width": 390, "height": 720})
    page.set_content(board_of({"decoder": (32, 32)}))
    layer, column = button(page, "Decoder, layer 20: all"), button(page, "Decoder, head 20 of")
    page.locator(".table").evaluate("table => table.scrollTo(300, 200)")
    table = page.locator(".table").bounding_box()
    assert layer.bounding_box()["x"] == pytest.approx(table["x"], abs=5)
    assert column.bounding_box()["y"] == pytest.approx(table["y"], abs=5)


def test_arrow_keys_lead_through_kinds_of_different_numbers_of_heads(page):
    page.set_content(board_of({"encoder": (2, 16), "decoder": (1, 4)}))
    page.keyboard.press("Tab")
    expect(button(page, "Encoder: all heads")).to_be_focused()
    page.keyboard.press("Tab")  # past all heads of a kind
    expect(button(page, "Decoder: all heads")).to_be_focused()
    button(page, "Encoder, layer 1, head 9: on").focus()
    for key, name in {
        "ArrowRight": "Encoder, layer 1, head 10: on",
        "ArrowUp": "Encoder, head 10 of every layer",
        "Enter": "Encoder, head 10 of every layer",
    }.items():
        page.keyboard.press(key)
        expect(button(page, name)).to_be_focused()
    assert picked(page) == ["encoder", None, 9]
    for name in (
        "Encoder, layer 1, head 10: on",
        "Encoder, layer 2, head 10: on",
        "Decoder: all heads",
        "Decoder, layer 1: all heads",
    ):
        page.keyboard.press("ArrowDown")
        expect(button(page, name)).to_be_focused()
    assert page.errors == []


def test_effects_of_1024_heads_are_told_where_they_have_no_room(page):
    page.set_viewport_size({"width": 390, "height": 720})
    effects = np.linspace(-1, 1, 1024).reshape(32, 32)
    page.set_content(noting(head_effects({"decoder": effects}, labels=LABELS).to_html()))
    assert set(page.locator(".head").all_text_contents()) == {""}
    last = button(page, "Decoder, layer 32, head 32")
    last.click()
    assert picked(page) == ["decoder", 31, 31]
    expect(page.locator(".reading")).to_have_text(
        "Decoder, layer 32, head 32: +1.000 nats without it"
    )
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".reading")).to_contain_text("layer 32, head 31: +0.998")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.errors == []


@pytest.mark.parametrize("heads", [8, 32])
def test_names_of_layers_and_heads_leave_room_for_the_outline_of_a_head(page, heads):
    effects = {"decoder": np.ones((2, heads))}
    picture = head_effects(effects, labels=LABELS, selected=("decoder", 0, 0))
    page.set_content(picture.to_html())
    box = page.locator(".head[aria-pressed=true]").bounding_box()
    layer, column = (
        page.locator(f".{name}").filter(has_text=text).first.bounding_box()
        for name, text in (("beside", "L1"), ("over", re.compile("^1$")))
    )
    outline = 4  # pixels, with its distance
    assert layer["x"] + layer["width"] <= box["x"] - outline
    assert column["y"] + column["height"] <= box["y"] - outline
