import numpy as np
import pytest
import torch

from headlight.viz import (
    attention_film,
    attention_heatmap,
    attention_lines,
    compared_maps,
    head_grid,
    head_scores,
    mask_matrix,
    probability_bars,
    sum_bars,
)
from headlight.viz.arrays import as_floats, as_levels, head_weights, layer_weights
from tests.viz.unpacking import unpack

TOKENS = ["[CLS]", "a", "cat"]


@pytest.fixture
def attentions():
    """What transformers returns: a tensor [1, head, query, key] a layer, with gradients."""
    torch.manual_seed(0)
    scores = torch.randn(2, 1, 4, 3, 3, requires_grad=True)
    return tuple(scores.softmax(dim=-1))


def values(layers):
    return np.stack([layer[0].detach().float().numpy() for layer in layers])


def test_the_grid_takes_what_transformers_returns(attentions):
    expected = head_grid(values(attentions), TOKENS, TOKENS)
    assert head_grid(attentions, TOKENS) == expected
    assert head_grid(list(attentions), TOKENS, TOKENS) == expected
    assert head_grid(torch.cat(attentions), TOKENS) == expected


def test_pictures_of_one_head_take_a_tensor(attentions):
    head = attentions[1][0, 2]
    expected = values(attentions)[1, 2]
    assert attention_lines(head, TOKENS) == attention_lines(expected, TOKENS, TOKENS)
    assert attention_heatmap(head, TOKENS) == attention_heatmap(expected, TOKENS, TOKENS)


def test_bfloat16_becomes_an_array(attentions):
    rough = tuple(layer.bfloat16() for layer in attentions)
    np.testing.assert_array_equal(layer_weights(rough), values(rough))
    assert head_weights(rough[0][0, 0]).dtype == np.float32


def test_arrays_stay_as_they_are():
    array = np.random.default_rng(0).random((2, 4, 3, 5))
    assert layer_weights(array) is array
    assert all(layer.base is array for layer in layer_weights(tuple(array)))
    np.testing.assert_array_equal(layer_weights(tuple(array)), array)
    assert head_weights(array[0, 0]).base is array
    np.testing.assert_array_equal(head_weights([[0.5, 0.5], [1, 0]]), [[0.5, 0.5], [1, 0]])


def test_bytes_stay_bytes(attentions):
    levels = tuple((255 * layer).round().to(torch.uint8) for layer in attentions)
    for layer, expected in zip(layer_weights(levels), values(attentions), strict=True):
        assert layer.dtype == np.uint8
        np.testing.assert_array_equal(layer, as_levels(expected))


@pytest.mark.parametrize("picture", [attention_heatmap, attention_lines])
def test_pictures_of_one_head_take_bytes(picture, attentions):
    levels = as_levels(values(attentions)[0, 0])
    assert picture(levels, TOKENS) == picture(levels / np.float32(255), TOKENS)


def test_levels_are_within_half_a_step_of_the_weights_and_stay_what_they_are():
    weights = np.random.default_rng(0).random((4, 50), dtype=np.float32)
    levels = as_levels(weights)
    np.testing.assert_allclose(as_floats(levels), weights, atol=0.5 / 255 + 1e-6)
    assert as_levels(levels) is levels
    assert as_floats(weights) is weights
    every = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(as_levels(as_floats(every)), every)


def test_cross_attention_has_its_own_keys(attentions):
    cross = tuple(layer[..., :2] for layer in attentions)
    assert head_grid(cross, TOKENS, ["x", "y"]) == head_grid(values(cross), TOKENS, ["x", "y"])


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (None, "There are no weights.*output_attentions=True"),
        ((None, None), "There are no weights.*output_attentions=True"),
        ((torch.zeros(3, 4, 3, 3),), "weights of 3 texts, but a picture shows one text"),
        (((torch.zeros(1, 4, 3, 3),),), r"attentions of generate\(\), one tuple a step"),
        ([np.zeros((4, 3, 3)), np.zeros((2, 3, 3))], r"one shape.*\(2, 3, 3\), \(4, 3, 3\)"),
        ([], "one shape"),
        (np.zeros((4, 3, 3)), r"\[layer, head, query, key\], but these have the shape \(4, 3, 3\)"),
    ],
)
def test_what_the_grid_cannot_draw(weights, sentence):
    with pytest.raises(ValueError, match=sentence):
        head_grid(weights, TOKENS)


@pytest.mark.parametrize("picture", [attention_heatmap, attention_lines])
def test_what_a_picture_of_one_head_cannot_draw(picture, attentions):
    with pytest.raises(ValueError, match=r"shape \(1, 4, 3, 3\).*attentions\[layer\]\[0, head\]"):
        picture(attentions[0], TOKENS)
    with pytest.raises(ValueError, match="There are no weights"):
        picture(None, TOKENS)


@pytest.mark.parametrize("tokens", [["a", "b"], ["a", "b", "c", "d"]])
@pytest.mark.parametrize(
    "draw",
    [
        lambda weights, tokens: attention_heatmap(weights, tokens),
        lambda weights, tokens: attention_lines(weights, TOKENS, tokens),
        lambda weights, tokens: head_grid(weights[None, None], tokens),
        lambda weights, tokens: head_grid(weights[None, None], TOKENS, tokens),
        lambda weights, tokens: attention_film(weights[None, None], [0], tokens),
        lambda weights, tokens: compared_maps(weights, weights, (TOKENS, tokens), (TOKENS,) * 2),
        lambda weights, tokens: compared_maps(weights, weights, (TOKENS,) * 2, (tokens, TOKENS)),
        lambda weights, tokens: mask_matrix(weights > 0, TOKENS, tokens),
        lambda weights, tokens: probability_bars({"run": weights[0]}, tokens),
        lambda weights, tokens: sum_bars(weights[0], tokens, ends=("up", "down"), total="Sum"),
        lambda weights, tokens: head_scores({"a": weights[0]}, labels={"a": "A"}, name="score"),
    ],
)
def test_numbers_and_tokens_that_do_not_fit_are_refused_by_every_picture(draw, tokens):
    with pytest.raises(ValueError, match=r"There are texts for .*, but numbers of the shape"):
        draw(np.eye(3), tokens)


def pictures_of(weights):
    """The calls that draw weights [query, key], as a notebook makes them."""
    grid = weights[None, None]
    return {
        "heatmap": lambda: attention_heatmap(weights, TOKENS),
        "heatmap up to the largest": lambda: attention_heatmap(weights, TOKENS, maximum=None),
        "lines": lambda: attention_lines(weights, TOKENS),
        "grid": lambda: head_grid(grid, TOKENS),
        "grid of tensors": lambda: head_grid([torch.from_numpy(grid[0])], TOKENS),
        "grid with own scales": lambda: head_grid(grid, TOKENS, own_scale=True),
        "film": lambda: attention_film(grid[None], [0], TOKENS),
        "first map": lambda: compared_maps(weights, np.eye(3), (TOKENS, TOKENS), (TOKENS, TOKENS)),
        "second map": lambda: compared_maps(np.eye(3), weights, (TOKENS, TOKENS), (TOKENS, TOKENS)),
    }


@pytest.mark.parametrize("picture", pictures_of(np.eye(3)))
def test_weights_below_0_are_drawn_as_they_are_or_refused(picture):
    """As those of attention without a softmax: colours that begin at 0 cannot show them."""
    weights = np.random.default_rng(0).random((3, 3), dtype=np.float32)
    pictures_of(weights)[picture]()
    pictures_of(np.zeros((3, 3)) * -1.0)[picture]()
    weights[1, 2] = -0.25
    with pytest.raises(ValueError, match=r"below 0, down to -0\.25.*diverging=True.*np\.abs"):
        pictures_of(weights)[picture]()


def test_the_sign_is_drawn_by_colours_on_both_sides_of_0():
    weights = np.array([[0.5, -0.25], [np.nan, 1]], np.float32)
    header, drawn = unpack(attention_heatmap(weights, ["a", "b"], diverging=True), np.float32)
    assert header["diverging"]
    np.testing.assert_array_equal(drawn.reshape(2, 2), weights)
    hidden = np.where(np.isnan(weights), weights, -1)
    with pytest.raises(ValueError, match="below 0, down to -1"):
        attention_heatmap(hidden, ["a", "b"])


def test_a_film_draws_no_weight_above_1_as_1():
    weights = np.ones((1, 1, 1, 3, 3), np.float16) * np.float16(1.0005)
    _, drawn = unpack(attention_film(weights, [0], TOKENS), "<u2")
    assert (drawn == 65_535).all()
    with pytest.raises(ValueError, match=r"from 0 to 1, but the largest is 2\.5"):
        attention_film(weights * 2.5, [0], TOKENS)
