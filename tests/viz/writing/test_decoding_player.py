import numpy as np
import pytest

from headlight.viz import Bar, decoding_player
from tests.viz.unpacking import unpack

READ, SOURCE = ["<start>", "a", "<b>"], ["x", "y"]
SELF = np.tril(np.arange(1.0, 10.0).reshape(3, 3) / 10)
CROSS = np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
VISIBLE = np.tri(3, dtype=bool)
BARS = [[Bar("a", 0.5, chosen=True), Bar("c", 0.25, before="d", drawn=0.1)]] * 3
TEXTS = ["", "a", "a<b>", "a<b>"]


def draw(**changes):
    parts = {"cross": CROSS, "texts": TEXTS, "bars": BARS, "visible": VISIBLE, **changes}
    return decoding_player(
        SELF,
        parts["cross"],
        parts["visible"],
        READ,
        SOURCE,
        texts=parts["texts"],
        bars=parts["bars"],
        start=1,
        ending="the end",
    )


def test_the_numbers_travel_in_order():
    _, body = unpack(draw())
    expected = [*SELF.ravel(), *CROSS.ravel(), *VISIBLE.ravel().astype(float)]
    np.testing.assert_allclose(np.frombuffer(body, np.float32), expected)


def test_tokens_texts_and_bars_travel_as_they_are():
    header, _ = unpack(draw())
    assert (header["read"], header["source"]) == (READ, SOURCE)
    assert header["texts"] == TEXTS
    assert header["bars"][2][1] == {
        "text": "c",
        "probability": 0.25,
        "before": "d",
        "drawn": 0.1,
        "rank": 0,
        "chosen": False,
    }
    assert (header["start"], header["ending"]) == (1, "the end")


def draw_prompted(prompt, steps, **changes):
    """A player without a source, and its self-attention; the prompt has `prompt` tokens."""
    read = [f"r{position}" for position in range(prompt + steps - 1)]
    weights = np.random.default_rng(0).random((steps, len(read)), dtype=np.float32)
    parts = {"cross": None, "source": None, "read": read, **changes}
    texts = [f"text {step}" for step in range(steps + 1)]
    picture = decoding_player(
        weights,
        parts["cross"],
        np.tri(steps, len(read), prompt - 1, dtype=bool),
        parts["read"],
        parts["source"],
        texts=texts,
        bars=[BARS[0]] * steps,
    )
    return picture, weights


@pytest.mark.parametrize(("prompt", "steps"), [(1, 3), (5, 2), (200, 1)])
def test_without_a_source_every_step_looks_at_the_prompt_and_what_was_written(prompt, steps):
    picture, weights = draw_prompted(prompt, steps)
    header, body = unpack(picture, np.float32)
    assert header["source"] is None
    assert len(header["read"]) - len(header["bars"]) == prompt - 1
    own, visible = body.reshape(2, *weights.shape)
    np.testing.assert_array_equal(own, weights)
    np.testing.assert_array_equal(visible.sum(axis=1), prompt + np.arange(steps))
    assert set(picture.numbers) == {"self-attention", "visible"}
    assert picture.numbers["self-attention"].axes["query"] == header["read"][prompt - 1 :]
