"""The cache on the page Decoding, against the decoding itself."""

import numpy as np

from headlight.model.insight.cache import bytes_at, bytes_held, cache_states
from headlight.pages.parts.decoding.cache import rows_of
from headlight.viz.numbers import bytes_text
from tests.pages.apps import open_page
from tests.pages.pictures import canvas_pictures

SENTENCE = "My sister sold seven boats."


def test_the_page_shows_what_was_held_at_every_step(shipped):
    app = open_page("decoding", sentence=SENTENCE, cache_length="1000")
    assert not app.exception
    steps = shipped.write(SENTENCE).steps
    header, data = next(picture for picture in canvas_pictures(app) if "steps" in picture[0])
    expected = [cache_states(steps, kind).ravel() for kind in ("decoder", "cross")]
    assert (np.frombuffer(data, np.uint8) == np.concatenate(expected)).all()
    assert header["steps"][0].startswith("Prefill: 1 position computed")
    assert header["steps"][3] == "Decode: 1 position computed, 3 read from the cache."
    metrics = {metric.label: metric.value for metric in app.metric}
    held = steps[-1].cached
    own = [size for site, size in held.items() if site.kind == "decoder"]
    assert metrics[f"Measured, {len(steps)} positions"] == bytes_text(bytes_held(held, "decoder"))
    assert metrics["Cache"] == bytes_text(bytes_at(own, 1_000)) == "6.1 MB"
    assert metrics["Tokens computed"] == "1,000 instead of 500,500"


def test_without_a_cache_the_page_says_why():
    app = open_page("decoding", sentence=SENTENCE, edits="look-ahead.off")
    assert not app.exception
    assert any(
        "every step computes all positions again" in caption.value for caption in app.caption
    )


def test_layers_that_are_alike_are_one_row_of_a_large_cache():
    states = np.zeros((3, 40, 60), np.uint8)
    states[:, ::2] = 1
    rows = rows_of("Own", states, ["a"] * 60, ["once for heads 1–4"])
    assert list(rows.rows) == ["20 layers, as 1", "20 layers, as 2"]
    assert rows.groups == ["once for heads 1–4"]
    assert (rows.states[:, 0] == 1).all()
    assert len(rows_of("Own", states[:, :3], ["a"] * 60).rows) == 3
