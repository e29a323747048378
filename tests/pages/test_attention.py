from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Site
from pages.shared.state.catalog import EXAMPLES
from tests.pages.pictures import canvas_pictures, heatmaps

ROOT = Path(__file__).parents[2]


@pytest.fixture
def app():
    return AppTest.from_file(ROOT / "app.py", default_timeout=120).run()


def headers(app):
    """The headers of the page's canvas pictures, by what they show."""
    found = {}
    for header, _ in canvas_pictures(app):
        if "label" in header:
            found[header["label"].split(",")[0]] = header
        else:
            found["grid" if "rows" in header else "lines"] = header
    return found


def test_the_first_page_shows_the_translation_of_the_first_example(app, shipped):
    assert not app.exception
    result = shipped.translate(EXAMPLES[0])
    shown = headers(app)
    assert shown["French"]["text"] == result.text
    assert [chip["text"] for chip in shown["English"]["chips"]] == [
        token.text for token in result.source_tokens
    ]


def test_the_heatmap_shows_the_trace_of_the_translation(app, shipped):
    app.text_input(key="sentence").set_value("My sister sold seven boats.").run()
    app.segmented_control(key="kind").set_value("cross").run()
    app.segmented_control(key="layer").set_value(2).run()
    app.segmented_control(key="head").set_value(4).run()
    translation = shipped.translate("My sister sold seven boats.")
    trace = shipped.trace("My sister sold seven boats.", translation)
    expected = trace.attention[Site("cross", 2)].weights[0, 4].numpy()
    np.testing.assert_allclose(heatmaps(app)[0][0], expected, atol=1e-5)
    header = heatmaps(app)[0][1]
    assert header["columns"] == [token.text for token in trace.source_tokens]
    assert header["rows"] == ["<start>", *(token.text for token in translation.target_tokens)][:-1]


@pytest.mark.parametrize(("head", "reduce"), [("mean", np.mean), ("max", np.max)])
def test_mean_and_max_are_taken_over_the_heads_of_the_layer(app, shipped, head, reduce):
    app.segmented_control(key="kind").set_value("encoder").run()
    app.segmented_control(key="layer").set_value(0).run()
    app.segmented_control(key="head").set_value(head).run()
    weights = shipped.trace(EXAMPLES[0]).attention[Site("encoder", 0)].weights[0].numpy()
    np.testing.assert_allclose(heatmaps(app)[0][0], reduce(weights, axis=0), atol=1e-5)


def test_an_example_is_one_click_away_and_can_be_clicked_again(app, shipped):
    for _ in range(2):
        app.pills(key="example").set_value(EXAMPLES[1]).run()
        assert app.text_input(key="sentence").value == EXAMPLES[1]
        assert headers(app)["French"]["text"] == shipped.translate(EXAMPLES[1]).text
        app.text_input(key="sentence").set_value("Go.").run()


def test_choosing_lines_replaces_the_heatmap(app):
    app.segmented_control(key="picture").set_value("lines").run()
    assert not heatmaps(app)
    assert "lines" in headers(app)


def test_an_empty_box_asks_for_a_sentence_and_the_last_one_stays(app):
    before = heatmaps(app)[0][0]
    app.text_input(key="sentence").set_value("   ").run()
    assert not app.exception
    assert "Type an English sentence" in app.info[0].value
    assert app.text[0].value == EXAMPLES[0]
    np.testing.assert_array_equal(heatmaps(app)[0][0], before)


def test_with_nothing_ever_typed_there_is_no_picture():
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.query_params["sentence"] = "▁"
    app.run()
    assert not app.exception
    assert "Type an English sentence" in app.info[0].value
    assert not heatmaps(app)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script><img src=x onerror=alert(1)>",
        "**bold** $x^2$ :red[x] [a](javascript:alert(1)) ![](x)",
        "\u202eright to left \u05d0\u05d1\u05d2 👩‍👩‍👧‍👦 e\u0301\u0301 \x00\x07\ufeff",
        "=1+1;#000001 #00000A",
        "<start> <pad> <unk> <end>",
        "word " * 119,
        "\u00ad",
        "\u2060",
        "\u2581",
    ],
)
def test_nothing_a_person_types_breaks_the_page(app, text):
    app.text_input(key="sentence").set_value(text).run()
    assert not app.exception
    assert not app.error


def test_a_link_restores_the_scene():
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    for name, value in {"sentence": "Go on.", "kind": "decoder", "layer": "1", "head": "2"}.items():
        app.query_params[name] = value
    app.run()
    assert app.text_input(key="sentence").value == "Go on."
    assert app.segmented_control(key="kind").value == "decoder"
    assert app.segmented_control(key="layer").value == 0
    assert app.segmented_control(key="head").value == 1


def test_blocked_cells_of_the_decoder_are_crossed_out(app):
    app.segmented_control(key="kind").set_value("decoder").run()
    values = heatmaps(app)[0][0]
    later = np.triu(np.ones_like(values, dtype=bool), k=1)
    np.testing.assert_array_equal(np.isnan(values), later)


def test_brightening_scales_the_colours_and_leaves_the_numbers(app):
    app.segmented_control(key="kind").set_value("encoder").run()
    before, scale = heatmaps(app)[0]
    assert scale["limit"] == 1
    app.toggle(key="own_scale").set_value(True).run()
    after, scale = heatmaps(app)[0]
    np.testing.assert_array_equal(before, after)
    assert scale["limit"] == pytest.approx(after.max())
