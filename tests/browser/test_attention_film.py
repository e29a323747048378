"""The film of a training on a page of its own: scrubbed, played, compared, and fed."""

import base64
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from headlight.viz import attention_film, training_curves
from tests.browser.rest import until

STEPS, QUERIES, KEYS = [0, 10, 20, 30], ["a", "<b>", "c"], ["x", "y"]


@pytest.fixture
def weights():
    return np.random.default_rng(0).dirichlet(np.ones(2), (4, 2, 3, 3))  # (4, 2, 3, 3, 2)


def feed(page, picture):
    """Draw again with other data, as Streamlit does."""
    page.evaluate(
        f"""(text) => {{
            const data = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
            const parentElement = document.getElementById("picture");
            ${picture.name}.draw({{ data, parentElement, setTriggerValue() {{}} }});
        }}""",
        base64.b64encode(picture.data).decode(),
    )


def open_picture(page, picture):
    # A module keeps its functions to itself; a plain script shares them with the test.
    page.set_content(picture.to_html().replace('<script type="module">', "<script>"))


def slider(page):
    return page.get_by_label("Step", exact=True)


def counter(page):
    return page.locator(".counter")


def point_at(page, place, query, key):
    """Move to a cell of a map with the keyboard: its first cell, then down and across."""
    page.locator(".map").nth(place).focus()
    for press in ["ArrowDown"] + ["ArrowDown"] * query + ["ArrowRight"] * key:
        page.keyboard.press(press)


def test_every_weight_can_be_read_at_two_steps_with_its_difference(page, weights):
    open_picture(page, attention_film(weights, STEPS, QUERIES, KEYS, selected=(1, 2)))
    expect(counter(page)).to_have_text("step 30")
    expect(page.locator(".map:visible")).to_have_count(1)
    page.get_by_label("Compare with", exact=True).check()
    expect(page.locator(".map:visible")).to_have_count(3)
    point_at(page, 2, 1, 1)
    now, then = (f"{weights[at, 1, 2, 1, 1]:.3f}" for at in (3, 0))
    change = float(now) - float(then)
    written = f"{'+' if change > 0 else chr(0x2212)}{abs(change):.3f}"
    reading = page.locator(".attention-film .reading")
    expect(reading).to_have_text(
        f"“<b>” looks at “y”: {now} at step 30, {then} at step 0, difference {written}."
    )
    page.get_by_label("Step to compare with").press("ArrowRight")
    expect(reading).to_contain_text(f"{weights[1, 1, 2, 1, 1]:.3f} at step 10")
    page.get_by_role("button", name="Layer 2, head 3").press("ArrowUp")
    page.keyboard.press("Enter")
    expect(reading).to_contain_text(f"{weights[3, 0, 2, 1, 1]:.3f} at step 30")
    assert page.errors == []


def test_the_difference_has_the_colours_of_its_sign(page):
    weights = np.zeros((2, 1, 1, 1, 2))
    weights[0, ..., 0] = weights[1, ..., 1] = 1
    open_picture(page, attention_film(weights, [0, 1], ["a"], ["x", "y"]))
    page.get_by_label("Compare with", exact=True).check()
    colors = (
        page.locator(".map")
        .nth(2)
        .evaluate(
            """(canvas) => {
            const { width, height } = canvas;
            const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
            const [red, blue] = [[], []];
            for (let at = 0; at < pixels.length; at += 4) {
                if (pixels[at] > pixels[at + 2] + 50) red.push(at / 4 % width);
                if (pixels[at + 2] > pixels[at] + 50) blue.push(at / 4 % width);
            }
            return [Math.min(...red), Math.max(...blue)];
        }"""
        )
    )
    assert 0 < colors[1] < colors[0] < 2_000  # red where it grew, on the right; blue where it fell


def test_it_plays_to_the_end(page, weights):
    open_picture(page, attention_film(weights, STEPS, QUERIES, KEYS))
    page.get_by_label("Speed").select_option("8")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_visible()  # it paused at the end
    expect(counter(page)).to_have_text("step 30")


def test_new_snapshots_are_followed_until_the_visitor_moves(page, weights):
    film = [attention_film(weights[:n], STEPS[:n], QUERIES, KEYS, name="run") for n in range(5)[1:]]
    open_picture(page, film[0])
    feed(page, film[1])
    expect(counter(page)).to_have_text("step 10")
    slider(page).focus()
    page.keyboard.press("ArrowLeft")
    expect(counter(page)).to_have_text("step 0")
    page.evaluate("window.kept = document.querySelector('.map')")
    feed(page, film[2])
    expect(counter(page)).to_have_text("step 0")
    expect(slider(page)).to_be_focused()
    expect(slider(page)).to_have_attribute("max", "2")
    page.get_by_role("button", name="Newest step").click()
    feed(page, film[3])
    expect(counter(page)).to_have_text("step 30")
    assert page.evaluate("window.kept === document.querySelector('.map')")
    page.get_by_role("button", name="First step").click()
    feed(page, attention_film(weights[:2], STEPS[:2], QUERIES, KEYS, name="another run"))
    expect(counter(page)).to_have_text("step 10")


def test_the_head_that_is_selected_is_followed_until_the_visitor_chooses_one(page, weights):
    def film(count, selected, name="run"):
        options = {"selected": selected, "name": name}
        return attention_film(weights[:count], STEPS[:count], QUERIES, KEYS, **options)

    def pressed():
        return page.locator(".head[aria-pressed=true]")

    open_picture(page, film(1, (0, 0)))
    feed(page, film(2, (1, 2)))
    expect(pressed()).to_have_attribute("aria-label", re.compile("^Layer 2, head 3:"))
    pressed().click()  # it is to stay, although it is the one that is shown already
    feed(page, film(3, (0, 1)))
    expect(pressed()).to_have_attribute("aria-label", re.compile("^Layer 2, head 3:"))
    expect(counter(page)).to_have_text("step 20")
    feed(page, film(2, (0, 1), "another run"))
    expect(pressed()).to_have_attribute("aria-label", re.compile("^Layer 1, head 2:"))


def test_playing_goes_on_while_data_comes(page, weights):
    picture = attention_film(weights, STEPS, QUERIES, KEYS)
    open_picture(page, picture)
    page.get_by_label("Speed").select_option("4")
    page.get_by_role("button", name="Play").click()

    def is_at_the_end():  # fed faster than the clock of the film, which must not begin anew
        feed(page, picture)
        return counter(page).text_content() == "step 30"

    until(page, is_at_the_end)


def test_curves_are_read_by_pointing_and_keep_it_when_drawn_again(page):
    def curves(steps):
        lines = {"loss": (steps, [4 / step for step in steps])}
        return training_curves({"<b>first": {"loss": ([1, 9], [3, 2])}, "second": lines})

    open_picture(page, curves([1, 2]))
    expect(page.locator(".run")).to_have_text(["<b>first", "second"])
    canvas = page.locator("canvas")
    box = canvas.bounding_box()
    canvas.hover(position={"x": box["width"] - 12, "y": 60})
    reading = page.locator(".training-curves .reading")
    expect(reading).to_have_text("<b>first: 2 at step 9 · second: 2 at step 2")
    feed(page, curves([1, 2, 8]))
    expect(reading).to_have_text("<b>first: 2 at step 9 · second: 0.5 at step 8")
    expect(canvas).to_have_attribute("aria-label", "loss: second from 4 at step 1 to 0.5 at step 8")
    assert page.errors == []
