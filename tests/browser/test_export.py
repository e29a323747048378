"""Saving pictures from a page: what is in the files, and that they need nothing else."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from headlight.model.transformer.trace import Site
from headlight.viz.tokens import WRITES
from tests.browser.heatmaps import hover_cell
from tests.browser.rest import box_at_rest, hover, until
from tests.matrix import first_of

SENTENCE = "I love my cat."
LAYER, HEAD = 2, 3  # from 1, as on screen
SVG = "{http://www.w3.org/2000/svg}"
PICTURES = {
    "grid": ("Cross-attention, all heads", ".head-grid"),
    "heatmap": (f"Cross-attention, layer {LAYER}, head {HEAD}", ".heatmap"),
    "lines": (f"Cross-attention, layer {LAYER}, head {HEAD}, as lines", ".attention-lines"),
    "text": (f"Cross-attention, layer {LAYER}, head {HEAD}, as a text", ".attention-text"),
}


def open_picture(page, server, key):
    """The picture on the Attention page, and the menu that saves it."""
    picture = "heatmap" if key == "grid" else key
    page.goto(f"{server}/?sentence={SENTENCE}&layer={LAYER}&head={HEAD}&picture={picture}")
    what, selector = PICTURES[key]
    page.locator(selector).wait_for()
    opener = page.get_by_role("button", name=f"Save: {what}", exact=True)
    opener.focus()
    page.keyboard.press("Enter")
    menu = page.locator(f".st-key-{key} .save-menu")
    expect(opener).to_have_attribute("aria-expanded", "true")
    return page.locator(selector), menu


def opened(menu):
    """The menu, which a saved file closes, open again."""
    if not menu.get_by_role("group", name="Save as", exact=True).is_visible():
        menu.get_by_role("button", name=re.compile("^Save: ")).click()
    return menu


def save(page, menu, form):
    """The bytes and the name of a file that the menu saves."""
    opened(menu)
    with page.expect_download() as saved:
        menu.get_by_role("button", name=form.upper(), exact=True).click()
    name = saved.value.suggested_filename
    assert name.endswith(f".{form}")
    return saved.value.path().read_bytes(), name


@pytest.mark.matrix
@pytest.mark.parametrize("key", PICTURES)
def test_a_png_is_the_whole_picture_at_twice_its_size(page, server, key):
    picture, menu = open_picture(page, server, key)
    data, name = save(page, menu, "png")
    box = picture.bounding_box()
    image = Image.open(io.BytesIO(data)).convert("RGB")
    assert 2 * (420 + 32) <= image.width <= 2 * (max(np.ceil(box["width"]), 420) + 32)
    assert image.height > box["height"]
    assert len(image.getcolors(maxcolors=10**7)) > 50
    assert name.startswith("headlight_en-fr_cross-attention")
    assert "i-love-my-cat" in name
    assert page.errors == []


def edges_of(image):
    """How many columns and rows at the left, top, right and bottom are all of one colour."""
    dots = np.asarray(image.convert("RGB")).astype(int)
    drawn = np.argwhere((dots != dots[0, 0]).any(axis=2))
    (top, left), (bottom, right) = drawn.min(axis=0), drawn.max(axis=0)
    return left, top, image.width - 1 - right, image.height - 1 - bottom


@pytest.mark.parametrize("theme", first_of(["light", "dark"]))
def test_a_figure_has_the_size_and_the_words_that_were_chosen(page, server, theme):
    page.emulate_media(color_scheme=theme)
    _, menu = open_picture(page, server, "heatmap")
    opened(menu).get_by_label("Words", exact=True).select_option("Picture only")
    sizes = {}
    for scale in "1234":
        opened(menu).get_by_label("Size", exact=True).select_option(scale)
        image = Image.open(io.BytesIO(save(page, menu, "png")[0]))
        sizes[scale] = image.size
        assert image.size == tuple(int(scale) * side for side in sizes["1"])
        assert "dpi" not in image.info
    # The edge, and less than a letter's size: the box of letters is larger than their ink.
    assert max(edges_of(image)) <= 4 * (4 + 13)
    paper = np.asarray(image.convert("L"))[0, 0]
    assert (paper > 128) == (theme == "light")
    root = ElementTree.fromstring(save(page, menu, "svg")[0])
    assert (float(root.get("width")), float(root.get("height"))) == sizes["1"]
    assert SENTENCE not in " ".join("".join(text.itertext()) for text in root.iter(f"{SVG}text"))
    opened(menu).get_by_label("Words", exact=True).select_option("Title only")
    root = ElementTree.fromstring(save(page, menu, "svg")[0])
    said = " ".join("".join(text.itertext()) for text in root.iter(f"{SVG}text"))
    assert said.startswith(PICTURES["heatmap"][0])
    assert SENTENCE not in said
    assert page.errors == []


def test_a_figure_of_a_width_in_mm_says_its_dots_and_its_choice_is_kept(page, server):
    _, menu = open_picture(page, server, "heatmap")
    menu.get_by_label("Size", exact=True).select_option("300 dpi")
    width = menu.get_by_label("Width in mm")
    width.fill("120")
    width.press("Tab")
    data, _ = save(page, menu, "png")
    image = Image.open(io.BytesIO(data))
    image.load()  # which checks the sums of its chunks
    assert image.width == round(120 / 25.4 * 300)
    assert image.info["dpi"] == pytest.approx((300, 300), abs=0.01)
    root = ElementTree.fromstring(save(page, menu, "svg")[0])
    assert root.get("width") == "120mm"
    _, _, across, down = map(float, root.get("viewBox").split())
    assert float(root.get("height").removesuffix("mm")) == pytest.approx(120 * down / across)
    _, menu = open_picture(page, server, "heatmap")  # on a page loaded again
    expect(menu.get_by_label("Size", exact=True)).to_have_value("mm")
    expect(menu.get_by_label("Width in mm")).to_have_value("120")
    menu.get_by_label("Width in mm").fill("4000")
    menu.get_by_role("button", name="PNG", exact=True).click()
    expect(menu.get_by_text("Give a width from 10 to 400 mm.")).to_be_visible()
    assert page.errors == []


@pytest.mark.parametrize("key", first_of(PICTURES))
@pytest.mark.parametrize("mm", [None, 85])
def test_a_pdf_is_one_page_of_the_figures_size_with_the_tokens_as_text(page, server, key, mm):
    page.add_init_script("window.print = () => { top.printed = document.title }")
    _, menu = open_picture(page, server, key)
    if mm:
        menu.get_by_label("Size", exact=True).select_option("300 dpi")
        menu.get_by_label("Width in mm").fill(str(mm))
    menu.get_by_role("button", name="PDF (print)", exact=True).click()
    until(page, lambda: page.evaluate("window.printed"))
    assert "i-love-my-cat" in page.evaluate("window.printed")
    document = page.locator("iframe#headlight-printed").get_attribute("srcdoc")
    root = ElementTree.fromstring(re.search("<svg.*</svg>", document, re.DOTALL)[0])
    size = [float(root.get(side).removesuffix("mm")) for side in ("width", "height")]
    _, _, *pixels = map(float, root.get("viewBox").split())
    width = mm or pixels[0] / 96 * 25.4
    assert size == pytest.approx([width, width * pixels[1] / pixels[0]])
    context = page.context.browser.new_context(offline=True)
    other = context.new_page()
    other.set_content(document)
    pdf = other.pdf(prefer_css_page_size=True)
    context.close()
    (box,) = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert [float(side) / 72 * 25.4 for side in box] == pytest.approx(size, abs=0.4)  # a point
    fonts = re.findall(rb"/FontName /[A-Z]{6}\+(\w+)", pdf)
    assert set(fonts) == {b"SourceSans3VF"}
    assert pdf.count(b"/ToUnicode") >= len(fonts)  # so that its texts can be searched and copied
    assert page.errors == []


def test_an_svg_from_a_narrow_window_names_the_rows_above_them(page, server):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server}/inside?sentence={SENTENCE}")
    menu = page.locator(".st-key-story-softmax .save-menu")
    menu.get_by_role("button", name=re.compile("^Save: ")).focus()
    page.keyboard.press("Enter")
    root = ElementTree.fromstring(save(page, menu, "svg")[0])
    texts = {"".join(text.itertext()) for text in root.iter(f"{SVG}text")}
    assert {"scores", "weights"} <= texts


@pytest.mark.parametrize("key", first_of(PICTURES))
def test_an_svg_holds_the_tokens_as_text_and_asks_for_nothing(page, server, translator, key):
    _, menu = open_picture(page, server, key)
    data, _ = save(page, menu, "svg")
    root = ElementTree.fromstring(data)
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    trace = translator.trace(SENTENCE)
    if key != "grid":
        read = [text.partition(WRITES)[0] for text in texts]
        # The running text has, for each row, the token that is written after it.
        target = trace.target_tokens[1:] if key == "text" else trace.target_tokens
        for token in (*trace.source_tokens, *target):
            assert token.text in read
    assert f"Sentence: “{SENTENCE}”" in " ".join(texts)
    assert not list(root.iter(f"{SVG}script")) + list(root.iter(f"{SVG}foreignObject"))
    without_names = data.replace(b"http://www.w3.org/", b"")
    assert not re.search(rb"https?://|url\(\W?(?!#)\w+:", without_names)


@pytest.mark.matrix
def test_a_file_says_what_it_shows_and_nothing_of_pointing(page, server, translator):
    picture, menu = open_picture(page, server, "heatmap")
    svg = lambda: ElementTree.fromstring(save(page, menu, "svg")[0])  # noqa: E731
    texts = lambda root: ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]  # noqa: E731
    expect(picture.locator(".hint")).to_contain_text("Point at a cell")
    untouched = svg()
    hover_cell(page, picture, 1, 2)
    expect(picture.locator(".reading")).to_contain_text("looks at")
    pointed = svg()
    assert texts(pointed) == texts(untouched)
    assert len(list(pointed.iter())) == len(list(untouched.iter()))
    said = " ".join(texts(pointed))
    assert said.startswith(PICTURES["heatmap"][0])
    assert "looks at" not in said
    assert "Point at" not in said


@pytest.mark.matrix
@pytest.mark.parametrize("key", first_of(["heatmap", "lines", "text"]))
def test_the_texts_of_an_svg_fit_in_a_wider_font(page, server, browser, key):
    _, menu = open_picture(page, server, key)
    data, _ = save(page, menu, "svg")
    other = browser.new_page()
    other.set_content(f"<body style='margin:0'>{data.decode()}</body>")
    outside = other.evaluate(
        """() => {
            const svg = document.querySelector("svg");
            const edge = svg.getBoundingClientRect();
            const outside = [];
            for (const text of svg.querySelectorAll("text")) {
                text.style.fontFamily = "monospace";
                const box = text.getBoundingClientRect();
                if (box.left < edge.left || box.right > edge.right) outside.push(text.textContent);
            }
            return outside;
        }"""
    )
    other.close()
    assert outside == []


@pytest.mark.matrix
def test_a_page_has_the_colours_of_the_app_and_no_dead_hints(page, server, browser, tmp_path):
    picture, menu = open_picture(page, server, "heatmap")
    accent = picture.evaluate("it => getComputedStyle(it).getPropertyValue('--accent')")
    data, name = save(page, menu, "html")
    (tmp_path / name).write_bytes(data)
    other = browser.new_page()
    other.goto((tmp_path / name).as_uri())
    other.locator(".heatmap canvas.map").wait_for()
    body = "getComputedStyle(document.body).getPropertyValue"
    assert other.evaluate(f"{body}('--accent')").strip() == accent.strip()
    expect(other.locator(".hint")).to_be_hidden()
    expect(other.locator("p").first).to_contain_text(PICTURES["heatmap"][0])
    other.close()


@pytest.mark.matrix
def test_a_page_of_all_heads_opens_on_the_chosen_one(page, server, browser, tmp_path):
    _, menu = open_picture(page, server, "grid")
    data, name = save(page, menu, "html")
    (tmp_path / name).write_bytes(data)
    other = browser.new_page()
    other.goto((tmp_path / name).as_uri())
    chosen = other.locator(".head-grid .map[aria-pressed=true]")
    expect(chosen).to_have_attribute("aria-label", re.compile(f"^layer {LAYER}, head {HEAD}:"))
    other.close()


@pytest.mark.parametrize("key", first_of(["grid", "heatmap"]))
def test_a_page_draws_without_a_network(page, server, browser, tmp_path, key):
    _, menu = open_picture(page, server, key)
    data, name = save(page, menu, "html")
    (tmp_path / name).write_bytes(data)
    context = browser.new_context(offline=True)
    other, asked = context.new_page(), []
    other.on("request", lambda request: asked.append(request.url))
    other.goto((tmp_path / name).as_uri())
    drawn = other.locator(".map" if key == "grid" else ".heatmap canvas.map").first
    drawn.wait_for()
    assert f"Sentence: “{SENTENCE}”" in other.locator("body").inner_text()
    assert not [url for url in asked if url.startswith(("http", "ws"))]
    context.close()


def test_the_numbers_are_those_of_the_run(page, server, translator):
    _, menu = open_picture(page, server, "heatmap")
    trace = translator.trace(SENTENCE)
    weights = trace.attention[Site("cross", LAYER - 1)].weights[0, HEAD - 1].numpy()
    saved = np.load(io.BytesIO(save(page, menu, "npz")[0]), allow_pickle=False)
    np.testing.assert_allclose(saved["weight"], weights, atol=1e-6)
    assert saved["weight.key"].tolist() == [token.text for token in trace.source_tokens]
    data, _ = save(page, menu, "csv")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
    read = np.array([row["value"] for row in rows]).astype(np.float32)
    np.testing.assert_array_equal(read.reshape(weights.shape), saved["weight"])
    scene = json.loads(save(page, menu, "json")[0])
    opened = scene.get("slides", [scene])[0]  # with talks, it is a talk of one slide
    assert opened["parameters"]["sentence"] == SENTENCE
    assert str(saved["caption"]) == scene["caption"]
    assert "Changed: nothing, as trained." in scene["caption"]


@pytest.mark.matrix
def test_saving_leaves_the_picture_as_it_was(page, server):
    picture, menu = open_picture(page, server, "lines")
    token = picture.locator(".query").nth(1)
    token.click()
    before = box_at_rest(picture)
    save(page, menu, "svg")
    save(page, menu, "csv")
    expect(token).to_have_attribute("aria-pressed", "true")
    after = box_at_rest(picture)
    assert (after["width"], after["height"]) == (before["width"], before["height"])
    assert page.errors == []


def test_a_hostile_sentence_stays_text_in_every_file(page, server, browser, tmp_path):
    page.goto(f"{server}/?sentence=%3C%2Fscript%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E %3D1%2B1")
    page.locator(".heatmap").wait_for()
    menu = page.locator(".st-key-heatmap .save-menu")
    data, name = save(page, menu, "html")
    (tmp_path / name).write_bytes(data)
    context = browser.new_context(offline=True)
    other, said = context.new_page(), []
    other.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    other.goto((tmp_path / name).as_uri())
    other.locator(".heatmap canvas.map").first.wait_for()
    assert said == []
    assert "</script><script>alert(1)" in other.locator("body").inner_text()
    context.close()
    ElementTree.fromstring(save(page, menu, "svg")[0])


@pytest.mark.matrix
@pytest.mark.parametrize("label", first_of(["Sinusoids", "Wavelengths"]))
def test_a_chart_of_another_library_is_saved_by_the_menu_that_names_it(page, server, label):
    page.goto(f"{server}/positions?positions_tab=sinusoids")
    opener = page.get_by_role("button", name=re.compile(f"^Save: {label}")).first
    opener.wait_for()
    chart = page.locator("[class*=st-key-chart-]").filter(has=opener)
    drawn = chart.locator(".svg-container, .vega-embed").first
    box = box_at_rest(drawn)
    menu = chart.locator(".save-menu")
    hover(drawn, lambda: menu.evaluate("node => getComputedStyle(node).opacity") == "1")
    opener.click()
    data, name = save(page, chart, "svg")
    root = ElementTree.fromstring(data)
    assert f"_{label.lower()}" in name
    assert float(root.get("width")) >= box["width"]
    assert list(root.iter(f"{SVG}path"))


@pytest.mark.matrix
def test_a_player_is_saved_without_what_only_the_app_can_answer(page, server, browser, tmp_path):
    page.goto(f"{server}/decoding?sentence={SENTENCE}")
    page.locator(".decoding-player .bar").first.wait_for()
    menu = page.locator(".st-key-player .save-menu")
    menu.get_by_role("button", name=re.compile("^Save: ")).focus()
    page.keyboard.press("Enter")
    assert "click one to force" not in save(page, menu, "svg")[0].decode()
    data, name = save(page, menu, "html")
    (tmp_path / name).write_bytes(data)
    other = browser.new_page()
    other.goto((tmp_path / name).as_uri())
    expect(other.locator(".bar").first).to_be_visible()
    expect(other.locator(".typed")).to_be_hidden()
    expect(other.get_by_text("click one to force")).to_be_hidden()
    other.close()
