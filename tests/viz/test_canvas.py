import base64
import re
from pathlib import Path

import numpy as np
import pytest

from headlight import viz
from headlight.viz import CanvasPicture, Chip, attention_lines, head_grid, token_strip
from headlight.viz.canvas import Part
from headlight.viz.modules import exports
from tests.viz.unpacking import split, unpack

PARTS = [
    Part(path)
    for path in sorted(Path(viz.__file__).parent.glob("*/*.js"))
    if "draw" in exports(path)
]


def test_a_picture_with_another_header_keeps_all_else():
    picture = CanvasPicture.pack(PARTS[0], {"é": 1, "b": 2}, np.arange(4.0), height=3)
    other = picture.having(b="ü")
    header, array = split(other.data)
    assert header == {"é": 1, "b": "ü"}
    assert bytes(array) == np.arange(4.0).tobytes()
    assert (other.part, other.height) == (picture.part, picture.height)
    assert split(picture.data)[0]["b"] == 2


def test_the_parts_are_found():
    assert {"heatmap", "head_effects", "token_strip", "vector_rows", "training_curves"} < {
        part.name for part in PARTS
    }


def test_a_packed_picture_unpacks_to_what_went_in():
    array = np.arange(6, dtype=np.uint8).reshape(2, 3)
    picture = CanvasPicture.pack(PARTS[0], {"é": "\ud800"}, array, height=9)
    header, body = split(picture.data)
    assert header == {"é": "\ud800"}
    assert body == bytes(range(6))


def test_every_part_has_an_element_and_draws():
    for part in PARTS:
        assert f'class="picture {part.name.replace("_", "-")}"' in part.markup()
        assert part.code().rstrip().endswith("})();")
        assert f"\nconst ${part.name} = (() => {{" in part.code()


def test_no_part_loads_anything_or_reads_text_as_markup():
    for part in PARTS:
        text = part.markup() + part.stylesheet() + part.code()
        text = text.replace("http://www.w3.org/2000/svg", "")  # only a name
        assert not re.search(
            r"https?:|//cdn|innerHTML|insertAdjacentHTML|document\.write|eval\(", text
        )


def test_pictures_know_nothing_of_the_page_that_they_are_on():
    for part in PARTS:
        text = part.markup() + part.stylesheet() + part.code()
        assert not re.search(
            r"--st-|\.st[A-Z]|st-key|data-testid|headlight|window\.(?!device)", text
        )


def test_colours_are_named_in_one_place():
    for part in PARTS:
        style = part.stylesheet()
        assert not re.search(r"var\(--\w+, *#", style)


def test_a_label_is_what_screen_readers_say_and_never_markup():
    markup = Part(Path("some_part.js"), 'a "b" <c>').markup()
    assert markup == (
        '<div class="picture some-part" translate="no" role="group" '
        'aria-label="a &quot;b&quot; &lt;c&gt;"></div>'
    )


def test_a_notebook_page_carries_its_data_and_no_raw_token():
    picture = token_strip("</script><script>alert(1)</script>", [Chip("<img>")], label="x")
    page = picture.to_html()
    assert "alert(1)" not in page
    assert base64.b64encode(picture.data).decode() in page
    assert page.count("<script") == page.count("</script>") == 1
    assert picture._repr_html_().count("<") == 2  # one iframe, its content escaped


def test_the_grid_holds_every_weight_in_order_of_layer_head_query_key():
    weights = np.random.default_rng(0).random((2, 3, 4, 5))
    header, body = unpack(head_grid(weights, list("abcd"), list("vwxyz")))
    drawn = np.frombuffer(body, np.uint8).reshape(weights.shape) / 255
    np.testing.assert_allclose(drawn, weights, atol=0.5 / 255 + 1e-9)
    assert header["rows"] == ["layer 1", "layer 2"]
    assert header["columns"] == ["head 1", "head 2", "head 3"]


def test_the_grid_names_the_largest_weight_of_every_map():
    weights = np.random.default_rng(1).random((2, 3, 4, 5))
    header, _ = unpack(head_grid(weights, list("abcd"), list("vwxyz")))
    for index, (query, key, value) in enumerate(header["strongest"]):
        map_ = weights.reshape(6, 4, 5)[index]
        assert map_[query, key] == map_.max()
        assert value == pytest.approx(map_.max(), abs=5e-5)


def test_an_own_scale_brightens_each_map_to_its_largest_weight():
    weights = np.random.default_rng(2).random((2, 3, 4, 5)) * 0.3
    _, body = unpack(head_grid(weights, list("abcd"), list("vwxyz"), own_scale=True))
    drawn = np.frombuffer(body, np.uint8).reshape(2, 3, -1)
    assert (drawn.max(axis=-1) == 255).all()
    np.testing.assert_allclose(
        drawn / 255, weights.reshape(2, 3, -1) / weights.max((2, 3))[..., None], atol=0.01
    )


def test_a_map_of_zeros_stays_dark_on_its_own_scale():
    _, body = unpack(head_grid(np.zeros((1, 1, 2, 2)), ["a", "b"], ["c", "d"], own_scale=True))
    assert body == bytes(4)


def test_lines_carry_the_weights_as_they_are():
    weights = np.random.default_rng(3).random((3, 2))
    header, body = unpack(attention_lines(weights, ["a", "a", "b"], ["x", "y"]))
    np.testing.assert_allclose(np.frombuffer(body, "<f4").reshape(3, 2), weights, atol=1e-7)
    assert (header["queries"], header["keys"]) == (["a", "a", "b"], ["x", "y"])


def test_a_picture_is_one_line_in_a_shell():
    assert len(repr(head_grid(np.zeros((1, 1, 2, 2)), ["a", "b"], ["a", "b"]))) < 200
