"""The quick estimate: pointing at a head, opening it, and from a cell of it to the weight."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from playwright.sync_api import expect

from headlight.model.insight.ablation import head_removals
from headlight.model.insight.estimate import estimated_removals
from headlight.viz.numbers import number_text
from tests.browser.test_export import SVG, save

SENTENCE = "The old woman bought a small house."
HEADS, CELLS = ".st-key-estimate-heads", ".st-key-estimate-cells"
LEFT, RIGHT, TOP, BOTTOM, ROOM = 52, 14, 10, 38, 0.06  # as in points.js


@pytest.fixture
def cause(page, server):
    page.goto(f"{server}/cause?sentence={SENTENCE}&cause_tab=estimate")
    for key in (HEADS, CELLS):
        page.locator(f"{key} canvas").wait_for()
    page.get_by_role("table").wait_for()
    return page


@pytest.fixture(scope="module")
def effects(translator):
    """The true and the estimated effect of every head: a list of names and numbers."""
    trace = translator.trace(SENTENCE, translator.translate(SENTENCE))
    true, estimated = dict(head_removals(translator, trace)), estimated_removals(translator, trace)
    names = {"encoder": "Encoder", "decoder": "Decoder, masked", "cross": "Cross-attention"}
    return [
        (
            f"{names[site.kind]}, layer {site.layer + 1}, head {head + 1}",
            true[site][head].item(),
            estimated[site][head].item(),
        )
        for site in estimated
        for head in range(8)
    ]


def read_as(effect):
    name, true, estimated = effect
    numbers = (number_text(item, signed=True) for item in (estimated, true))
    return "{}: estimated {}, true {} nats".format(name, *numbers)


def spot(box, effects, effect):
    """Where in the window the point of an effect is."""

    def share(values, value):
        low, high = min(0, *values), max(0, *values)
        room = (high - low) * ROOM
        return (value - low + room) / (high - low + 2 * room)

    across, up = ([item[axis] for item in effects] for axis in (1, 2))
    x = box["x"] + LEFT + share(across, effect[1]) * (box["width"] - LEFT - RIGHT)
    high = box["height"] - TOP - BOTTOM
    return x, box["y"] + TOP + (1 - share(up, effect[2])) * high


def furthest(effects):
    return sorted(effects, key=lambda one: -abs(one[1] - one[2]))


@pytest.mark.matrix
def test_a_point_reads_its_head_and_a_click_opens_it(cause, effects):
    worst, second = furthest(effects)[:2]
    cause.get_by_role("heading", name=worst[0]).wait_for()
    canvas = cause.locator(f"{HEADS} canvas")
    expect(canvas).to_have_attribute("aria-label", re.compile(re.escape(read_as(worst))))
    at = spot(canvas.bounding_box(), effects, second)
    cause.mouse.move(*at)
    expect(cause.locator(f"{HEADS} .reading")).to_have_text(read_as(second))
    cause.mouse.click(*at)
    cause.get_by_role("heading", name=second[0]).wait_for()
    kind, layer, head = re.fullmatch(r"(.*), layer (\d), head (\d)", second[0]).groups()
    cause.wait_for_function(f"() => location.search.includes('layer={layer}')")
    cause.wait_for_function(f"() => location.search.includes('head={head}')")
    assert kind
    cause.reload()
    cause.get_by_role("heading", name=second[0]).wait_for()


@pytest.mark.matrix
def test_the_points_go_by_keyboard(cause, effects):
    canvas, reading = (cause.locator(f"{HEADS} {part}") for part in ("canvas", ".reading"))
    canvas.focus()
    by_truth = sorted(effects, key=lambda one: one[1])
    cause.keyboard.press("ArrowRight")
    expect(reading).to_have_text(read_as(by_truth[0]))
    cause.keyboard.press("ArrowRight")
    expect(reading).to_have_text(read_as(by_truth[1]))
    cause.keyboard.press("Enter")
    cause.get_by_role("heading", name=by_truth[1][0]).wait_for()
    cause.keyboard.press("Escape")
    expect(reading).to_contain_text("Point at a point")


@pytest.mark.matrix
def test_a_cell_leads_to_its_weight(cause):
    canvas, reading = (cause.locator(f"{CELLS} {part}") for part in ("canvas", ".reading"))
    canvas.focus()
    cause.keyboard.press("ArrowRight")
    weight = re.search(r", weight (\S+): estimated", reading.inner_text())[1]
    cause.keyboard.press("Enter")
    cause.wait_for_url(re.compile("/inside"))
    expect(cause.get_by_test_id("stMetricValue")).to_have_text(weight)


@pytest.mark.matrix
def test_a_file_has_the_names_beside_the_points_as_text(cause, effects):
    opener = cause.get_by_role("button", name="Save: Estimated and true effect of each head")
    opener.focus()
    cause.keyboard.press("Enter")
    data, _ = save(cause, cause.locator(f"{HEADS} .save-menu"), "svg")
    root = ElementTree.fromstring(data)
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    layer, head = re.search(r"layer (\d), head (\d)", furthest(effects)[0][0]).groups()
    assert any(text.endswith(f"L{layer} H{head}") for text in texts)
    assert "true effect, in nats" in texts
    assert not any("Point at" in text for text in texts)
