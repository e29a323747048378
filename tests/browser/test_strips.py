"""Pictures whose colours and numbers have to be understood at a glance, on a page of their own."""

import numpy as np
import pytest
from playwright.sync_api import expect

from headlight.pages.parts.decoding.beam_tree import Leaf, beam_tree
from headlight.viz import Row, compared_maps, measure_bars, vector_rows

DARK = "<style>:root { --paper: #0e1117; --ink: #fafafa }</style>"
VALUES = np.array([-2.0, 0.0, 1.0, 0.123456])


def strips(page, rows, width=1200, paper="", **options):
    page.set_viewport_size({"width": width, "height": 720})
    page.set_content(vector_rows(rows, **options).to_html() + paper)
    shown = page.locator(".vector-rows")
    shown.locator(".legend .scale").first.wait_for()
    return shown


def color_of(strip, share):
    """The colour a little below the top of a strip, at a share of its width."""
    return strip.evaluate(
        "(canvas, share) => [...canvas.getContext('2d').getImageData("
        "Math.round(canvas.width * share), 2, 1, 1).data].slice(0, 3)",
        share,
    )


def test_a_legend_says_what_the_colours_mean_and_where_they_end(page):
    shown = strips(page, [Row("a", VALUES), Row("p", np.full(4, 0.25), probabilities=True)])
    expect(shown.locator(".scale")).to_have_text(
        ["−2.000+2.000blue below 0, red above", "01weights"]
    )
    outlier = np.append(np.linspace(-1, 1, 63), 40)
    shown = strips(page, [Row("a", outlier)])
    expect(shown.locator(".scale")).to_contain_text("clipped at ±")
    assert page.errors == []


@pytest.mark.parametrize(("paper", "dark"), [("", False), (DARK, True)])
def test_zero_is_nearly_the_paper(page, paper, dark):
    strip = strips(page, [Row("a", VALUES)], paper=paper).locator("canvas")
    zero, least = color_of(strip, 0.3), color_of(strip, 0.05)
    assert (max(zero) < 80) if dark else (min(zero) > 230)
    assert least[2] > least[0]


def test_numbers_stand_upright_where_they_have_no_room_across(page):
    rows = [Row("a", np.linspace(-1, 1, 32))]
    for width, height in ((2400, 22), (900, 36), (320, 22)):
        strip = strips(page, rows, width).locator("canvas")
        expect(strip).to_have_css("height", f"{height}px")


def test_pointing_reads_more_decimals_of_a_dimension_counted_from_one(page):
    shown = strips(page, [Row("a", VALUES)])
    strip = shown.locator("canvas").bounding_box()
    page.mouse.move(strip["x"] + 0.9 * strip["width"], strip["y"] + 5)
    expect(shown.locator(".reading")).to_have_text("a, dimension 4: 0.12346")


def test_every_text_of_a_beam_has_its_log_probability(page):
    fate = {"kept": True, "ended": False, "best": True}
    leaves = [
        Leaf(None, "<b>", "<b>", -0.934, -0.9, **fate),
        Leaf(None, "T'", "T'", -5.47, -5, **fate),
    ]
    page.set_content(beam_tree([leaves]).to_html())
    expect(page.locator(".leaf .number")).to_have_text(["−0.93", "−5.47"])
    expect(page.locator(".leaf .name")).to_have_text(["<b>", "T'"])


@pytest.mark.parametrize(("steps", "fits"), [(5, True), (13, True), (30, False)])
def test_a_beam_fits_its_page_or_fades_where_it_goes_on(page, steps, fits):
    fate = {"kept": True, "ended": False, "best": True}
    tree = [[Leaf(0 if step else None, "a", "a", -1, -1, **fate)] for step in range(steps)]
    page.set_viewport_size({"width": 1000, "height": 720})
    page.set_content(beam_tree(tree).to_html())
    sheet, last = page.locator(".sheet"), page.locator(".leaf").last
    if fits:
        expect(last).to_be_in_viewport(ratio=1)
    else:
        expect(sheet).to_have_class("sheet goes-on")
        sheet.evaluate("(sheet) => sheet.scrollTo(9999, 0)")
        expect(last).to_be_in_viewport(ratio=1)
    expect(sheet).to_have_class("sheet")
    for box in (each.bounding_box() for each in page.locator(".leaf").all()):
        assert box["width"] >= 60


def test_a_measure_below_0_has_a_bar_to_the_left_of_0(page):
    runs = {"this text": {"weight": -0.5, "rollout": 0.25, "relevance": float("nan")}}
    page.set_viewport_size({"width": 390, "height": 720})  # one column
    page.set_content(measure_bars(runs, dict.fromkeys(runs["this text"], 1.0)).to_html())
    track = page.locator(".track").first.bounding_box()
    middle = track["x"] + track["width"] / 2
    below, above, unknown = (bar.bounding_box() for bar in page.locator(".bar").all())
    assert below["x"] + below["width"] == pytest.approx(middle, abs=1)
    assert below["width"] == pytest.approx(track["width"] / 4, abs=1)
    assert above["x"] == pytest.approx(middle, abs=1)
    colors = page.locator(".bar, .legend .mark").evaluate_all(
        "(parts) => parts.map((part) => getComputedStyle(part).backgroundColor)"
    )
    run, negative, *bars = colors  # the legend's, then those of the bars
    assert bars[:2] == [negative, run]
    assert unknown["width"] == 0
    expect(page.locator(".number").last).to_have_text("–")


def test_the_cell_that_differs_most_is_framed_in_a_saved_picture_and_after_it(page):
    weights, axes = np.eye(4, dtype=np.float32), (list("abcd"), list("abcd"))
    other = weights.copy()
    other[2, 1] = 0.5
    page.set_content(compared_maps(weights, other, axes, axes).to_html())
    canvas = page.locator("canvas.map").first
    drawn = canvas.evaluate("(canvas) => canvas.toDataURL()")
    framed = canvas.evaluate(
        """(canvas) => {
          let framed = 0;
          canvas.closest(".compared-maps").redraw((each) => {
            const context = each.getContext("2d");
            const draw = context.strokeRect.bind(context);
            context.strokeRect = (...box) => { framed += 1; draw(...box); };
            return context;
          });
          return framed;
        }"""
    )
    assert framed == 12  # black and white, in three maps, which are drawn again after it
    assert canvas.evaluate("(canvas) => canvas.toDataURL()") == drawn


def test_compared_maps_stand_in_one_row_whatever_their_titles(page):
    weights, tokens = np.eye(4, dtype=np.float32), list("abcd")
    axes = tokens, tokens
    titles = "A", "B: a title of so many words that it takes more than one line above its map"
    page.set_viewport_size({"width": 1100, "height": 720})
    page.set_content(compared_maps(weights, weights, axes, axes, titles=titles).to_html())
    maps = page.locator("canvas.map")
    expect(maps).to_have_count(3)
    tops = [box["y"] for box in (each.bounding_box() for each in maps.all())]
    captions = [each.bounding_box()["height"] for each in page.locator("figcaption").all()]
    assert max(captions) > min(captions)
    assert tops == [tops[0]] * 3
