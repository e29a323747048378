import numpy as np
import pytest

from headlight.viz import attention_film
from tests.viz.unpacking import unpack

STEPS, QUERIES, KEYS = [0, 5, 20], ["a", "<b>"], ["x", "x", "y"]
WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(3), (3, 2, 4, 2)).astype(np.float32)


def test_differences_between_steps_are_kept_far_below_what_is_shown():
    _, body = unpack(attention_film(WEIGHTS, STEPS, QUERIES, KEYS))
    drawn = np.frombuffer(body, "<u2").reshape(WEIGHTS.shape) / 65_535
    np.testing.assert_allclose(drawn, WEIGHTS, atol=8e-6)
    np.testing.assert_allclose(drawn[2] - drawn[0], WEIGHTS[2] - WEIGHTS[0], atol=1.6e-5)


def test_equal_weights_show_no_difference():
    same = np.repeat(WEIGHTS[:1], 3, axis=0)
    _, body = unpack(attention_film(same, STEPS, QUERIES, KEYS))
    drawn = np.frombuffer(body, "<u2").reshape(same.shape)
    assert (drawn == drawn[0]).all()


def test_steps_tokens_and_the_choice_travel_as_they_are():
    header, _ = unpack(attention_film(WEIGHTS, STEPS, QUERIES, KEYS, selected=(1, 3), name="run 2"))
    assert (header["steps"], header["queries"], header["keys"]) == (STEPS, QUERIES, KEYS)
    assert (header["layers"], header["heads"], header["selected"]) == (2, 4, [1, 3])
    assert header["name"] == "run 2"


def test_a_film_of_one_layer_needs_no_axis_for_it():
    plain = attention_film(WEIGHTS[:, 0], STEPS, QUERIES, KEYS)
    assert plain == attention_film(WEIGHTS[:, :1], STEPS, QUERIES, KEYS)


@pytest.mark.parametrize(
    ("weights", "steps", "keys", "message"),
    [
        (WEIGHTS[:2], STEPS, KEYS, "texts for step 3"),
        (WEIGHTS, [0, 5, 5], KEYS, "must increase"),
        (WEIGHTS * np.nan, STEPS, KEYS, "every key masked"),
        (WEIGHTS[0, 0], STEPS, KEYS, r"have the shape \(4, 2, 3\)"),
    ],
)
def test_what_does_not_fit_is_refused(weights, steps, keys, message):
    with pytest.raises(ValueError, match=message):
        attention_film(weights, steps, QUERIES, keys)
