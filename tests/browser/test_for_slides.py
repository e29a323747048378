"""Pictures in other people's slides: a real reveal.js deck holds them, and its keys still turn."""

import html
import io
import re
import shutil
import subprocess
import tarfile
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.heatmaps import hover_cell
from tests.browser.hosts import listening
from tests.browser.rest import settled, until
from tests.matrix import first_of

REVEAL = "reveal.js@5.2.1"
SCENE = urlencode({"sentence": "I love my cat. </script>", "layer": 2, "head": 3})
DECK = """<!doctype html><meta charset="utf-8"><style>{css}</style>
<div class="reveal"><div class="slides">
<section><h2>First</h2>{picture}</section><section><h2>Second</h2></section>
</div></div>
<script>{js}</script><script>Reveal.initialize({{transition: "none"}});</script>"""


@pytest.fixture(scope="module")
def reveal(tmp_path_factory):
    """The script and the style of reveal.js, from its package."""
    if not shutil.which("npm"):
        pytest.skip("npm brings reveal.js, and is not installed.")
    folder = tmp_path_factory.mktemp("reveal")
    made = subprocess.run(["npm", "pack", REVEAL], cwd=folder, capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"npm cannot fetch {REVEAL}: {made.stderr[-300:]}")
    with tarfile.open(next(folder.glob("*.tgz"))) as package:
        return {
            kind: io.TextIOWrapper(package.extractfile(f"package/dist/reveal.{kind}")).read()
            for kind in ("js", "css")
        }


@pytest.fixture
def deck(page, reveal, tmp_path):
    """A way to open a deck of which the first of two slides holds a piece of HTML."""

    def open_deck(picture):
        file = tmp_path / "deck.html"
        file.write_text(DECK.format(picture=picture, **reveal), encoding="utf-8")
        page.goto(file.as_uri())
        page.wait_for_function("() => window.Reveal?.isReady()")
        return page

    return open_deck


def slide_of(page):
    return page.evaluate("() => Reveal.getIndices().h")


def copy(page, server, what, key="heatmap"):
    """Press a button of the picture's menu; returns the menu."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server)
    page.goto(f"{server}/?{SCENE}")
    page.locator(".heatmap canvas.map").wait_for()
    menu = page.locator(f".st-key-{key} .save-menu")
    menu.get_by_role("button", name=re.compile("^Save: ")).focus()
    page.keyboard.press("Enter")
    menu.get_by_role("button", name=what, exact=True).click()
    return menu


def copied(page, server, what, key="heatmap"):
    expect(copy(page, server, what, key)).to_contain_text("Copied: paste it")
    return page.evaluate("() => navigator.clipboard.readText()")


def read_a_cell(page, picture):
    """Point at the cell in which a row looks at the first token, and return what is read out."""
    return hover_cell(page, picture, 1, 0)


def turn_away_and_back(page):
    """Turn the deck as a clicker does, whatever has the focus, and end on its first slide."""
    page.keyboard.press("ArrowRight")
    assert slide_of(page) == 0  # the arrow was the picture's
    page.keyboard.press("PageDown")
    page.wait_for_function("() => Reveal.getIndices().h === 1")
    page.keyboard.press("PageUp")
    page.wait_for_function("() => Reveal.getIndices().h === 0")
    page.keyboard.press("b")
    page.wait_for_function("() => Reveal.isPaused()")
    page.keyboard.press("b")
    page.wait_for_function("() => !Reveal.isPaused()")


@pytest.mark.matrix
def test_a_frame_in_a_deck_is_alive_and_gives_the_deck_its_keys(page, server, deck):
    block = copied(page, server, "Frame")
    assert block.startswith("<iframe ")
    assert server not in block
    deck(block)
    picture = page.frame_locator("iframe").locator(".heatmap")
    assert read_a_cell(page, picture)[:2] == ("J' → aime", "I")
    picture.locator("canvas.map").click()
    assert page.evaluate("() => document.activeElement.tagName") == "IFRAME"
    turn_away_and_back(page)
    picture.locator("canvas.map").click()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => Reveal.getIndices().h === 1")
    assert page.errors == []


@pytest.mark.matrix
def test_a_component_in_a_deck_keeps_its_arrows_until_escape(page, server, deck):
    line = copied(page, server, "Component")
    assert "\n" not in line
    assert server not in line
    deck(line)
    picture = page.locator(".heatmap")
    assert read_a_cell(page, picture)[:2] == ("J' → aime", "I")
    picture.locator("canvas.map").click()
    assert page.evaluate("() => document.activeElement.localName").startswith("headlight-heatmap-")
    turn_away_and_back(page)
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => Reveal.getIndices().h === 1")
    assert page.errors == []


def test_the_address_shows_one_picture_alone_as_alive_as_on_its_page(page, server):
    address = copied(page, server, "Address", "grid")
    page.goto(address)
    grid = page.locator(".head-grid")
    grid.wait_for()
    settled(page)
    grid.get_by_role("button", name=re.compile("^layer 3, head 5")).click()
    page.wait_for_function("() => location.search.includes('head=5')")
    assert "alone=grid" in page.url
    for hidden in (".heatmap", "h1", "textarea", "[data-testid=stSidebar]"):
        expect(page.locator(hidden).filter(visible=True)).to_have_count(0)
    page.reload()
    expect(grid).to_be_visible()
    expect(page.get_by_role("heading")).to_have_count(0)
    assert page.errors == []


@pytest.mark.matrix
def test_a_click_in_a_picture_alone_leads_to_no_other_page(page, server):
    page.goto(f"{server}/?{SCENE}&embed=true&alone=heatmap")
    picture = page.locator(".heatmap")
    picture.locator("canvas.map").wait_for()
    expect(picture.get_by_text("Click a cell")).to_have_count(0)
    assert read_a_cell(page, picture)[:2] == ("J' → aime", "I")
    picture.locator("canvas.map").click()
    page.reload()
    picture.locator("canvas.map").wait_for()
    assert "alone=heatmap" in page.url
    assert "/inside" not in page.url


@pytest.mark.matrix
@pytest.mark.parametrize(
    "path",
    first_of(["training?alone=toy_rates", "positions?alone=dot+products&positions_tab=sinusoids"]),
)
def test_a_chart_stands_alone(page, server, path):
    page.goto(f"{server}/{path}&embed=true")
    charts = page.locator(".svg-container, .vega-embed")
    expect(charts.filter(visible=True)).to_have_count(1)


@pytest.mark.matrix
def test_the_live_picture_gives_a_deck_of_another_host_its_keys(page, start_server, reveal):
    deck = bytearray()
    with listening(deck) as (host, _), start_server(HEADLIGHT_EMBED=host) as app:
        address = html.escape(f"{app}/?{SCENE}&embed=true&alone=heatmap")
        frame = f'<iframe src="{address}" width="900" height="500"></iframe>'
        deck += DECK.format(picture=frame, **reveal).encode("utf-8")
        page.goto(host)
        page.frame_locator("iframe").locator(".heatmap canvas.map").focus()
        turn_away_and_back(page)


@pytest.mark.matrix
def test_a_picture_that_is_not_drawn_says_so_and_an_unknown_one_shows_the_page(page, server):
    page.goto(f"{server}/?{SCENE}&picture=heatmap&alone=lines&embed=true")
    expect(page.get_by_text("This picture is not drawn")).to_be_visible()
    page.goto(f"{server}/?{SCENE}&alone=%3Cb%3E&embed=true")
    expect(page.get_by_role("heading", name="Attention")).to_be_visible()


@pytest.mark.matrix
def test_what_cannot_be_copied_is_shown_to_be_copied_by_hand(page, server):
    page.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new Error());")
    menu = copy(page, server, "Frame")
    box = menu.get_by_role("textbox", name="To be copied")
    expect(box).to_be_focused()
    assert box.input_value().startswith("<iframe ")


@pytest.mark.matrix
def test_a_chart_can_be_copied_as_it_looks(page, server):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server)
    page.goto(f"{server}/positions?positions_tab=sinusoids")
    page.locator("[class*=st-key-chart-]").first.locator(".svg-container, .vega-embed").wait_for()
    menu = page.locator("[class*=st-key-save-]").first
    menu.get_by_role("button", name=re.compile("^Save: ")).focus()
    page.keyboard.press("Enter")
    menu.get_by_role("button", name="Frame", exact=True).click()
    expect(menu.get_by_text("Copied: paste it")).to_be_visible()
    page.set_content(page.evaluate("() => navigator.clipboard.readText()"))
    expect(page.frame_locator("iframe").locator("svg").first).to_be_visible()


@pytest.mark.matrix
def test_a_tall_picture_is_as_small_as_its_frame(page, server, deck):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server)
    page.goto(f"{server}/decoding?{SCENE}")
    menu = page.locator(".st-key-player .save-menu")
    menu.get_by_role("button", name=re.compile("^Save: ")).focus()
    page.keyboard.press("Enter")
    menu.get_by_role("button", name="Frame", exact=True).click()
    expect(menu.get_by_text("Copied: paste it")).to_be_visible()
    deck(page.evaluate("() => navigator.clipboard.readText()"))
    page.wait_for_function(
        """() => {
            const { contentDocument, clientHeight } = document.querySelector("iframe");
            const picture = contentDocument?.querySelector("#picture canvas, #picture .transport");
            return picture && contentDocument.documentElement.scrollHeight <= clientHeight + 1;
        }"""
    )


@pytest.mark.parametrize("width", first_of([640, 1920]))
def test_a_frame_of_all_heads_has_labels_gaps_and_its_whole_height(page, server, tmp_path, width):
    file = tmp_path / "frame.html"
    file.write_text(f'<meta charset="utf-8">{copied(page, server, "Frame", "grid")}')
    page.set_viewport_size({"width": width, "height": 720})
    page.goto(file.as_uri())
    frame = page.frame_locator("iframe")
    room = page.locator("iframe").bounding_box()

    def boxes(selector):
        return [each.bounding_box() for each in frame.locator(f".head-grid {selector}").all()]

    def fits():
        maps, layers = boxes(".map"), boxes(".frame > .label:not(.corner)")
        lowest = room["y"] + room["height"]
        is_whole = maps and all(box["y"] + box["height"] < lowest for box in (*maps, *layers))
        is_readable = all(box["height"] >= 9 for box in (*layers, *boxes(".column")))
        first, second = maps[:2]
        has_gaps = second["x"] - first["x"] - first["width"] > 1
        return is_whole and is_readable and has_gaps and len(layers) == 3

    until(page, fits, ValueError, TypeError)
