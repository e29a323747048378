"""Films as GIFs, put together from what a browser sends."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from headlight.pages.shared.show import saving
from headlight.pages.shared.show.saving import PNG, to_gif


def frame(color, size=(40, 20)):
    file = io.BytesIO()
    Image.new("RGBA", size, color).save(file, "PNG")
    return PNG + base64.b64encode(file.getvalue()).decode("ascii")


def asked(*colors, **others):
    return {"frames": [frame(color) for color in colors], "milliseconds": 500, "ends": 2} | others


def test_a_gif_shows_each_frame_for_its_time_and_the_first_and_last_for_longer():
    colors = [(255, 0, 0), (0, 128, 0), (0, 0, 255)]
    made = Image.open(io.BytesIO(to_gif(asked(*colors))))
    assert (made.n_frames, made.size) == (3, (40, 20))
    for place, color in enumerate(colors):
        made.seek(place)
        assert made.info["duration"] == (500 if place == 1 else 1000)
        shown = np.asarray(made.convert("RGB"))[10, 10]
        assert np.abs(shown.astype(int) - color).max() <= 8


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({}, "1 to 240 steps"),
        ({"frames": []}, "1 to 240 steps"),
        ({"frames": ["x"] * 241}, "1 to 240 steps"),
        ({"frames": "data:image/png;base64,"}, "1 to 240 steps"),
        ({"frames": [7]}, "not a picture"),
        ({"frames": ["data:image/svg+xml;base64,AA=="]}, "not a picture"),
        ({"frames": [PNG + "AAAA"]}, "not a picture"),
        ({"frames": [PNG + "é"]}, "ASCII"),
        ({"frames": [frame("red")[:-40]]}, "not a picture"),
        ({"frames": [frame("red"), frame("red", (41, 20))]}, "differ in size"),
        ({"frames": [frame("red", (5000, 1000))]}, "too large"),
    ],
)
def test_what_is_no_film_is_refused_in_a_sentence(wanted, why):
    with pytest.raises(ValueError, match=why):
        to_gif(wanted)


def test_more_than_fits_is_refused_before_it_is_read(monkeypatch):
    monkeypatch.setattr(saving, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="save it as WEBM"):
        to_gif(asked("red", "blue"))


@pytest.mark.parametrize("milliseconds", [None, "fast", -1, 10**12, float("nan")])
def test_a_time_that_makes_no_sense_is_brought_within_bounds(milliseconds):
    made = Image.open(io.BytesIO(to_gif(asked("red", "blue", milliseconds=milliseconds, ends=99))))
    assert 20 <= made.info["duration"] <= 50_000  # both are of one colour
