import numpy as np
import pytest

from viz import attention_heatmap

WEIGHTS = np.array([[0.1, 0.9, 0.0], [0.25, 0.25, 0.5]])


@pytest.fixture
def figure():
    return attention_heatmap(WEIGHTS, ["look", "look"], ["a", "<b>", "a"])


def test_the_cells_are_the_weights(figure):
    np.testing.assert_allclose(figure.data[0].z, WEIGHTS, atol=1e-7)


def test_queries_run_down_and_keys_run_across(figure):
    assert list(figure.layout.yaxis.ticktext) == ["look", "look"]
    assert figure.layout.yaxis.autorange == "reversed"
    assert list(figure.layout.xaxis.ticktext) == ["a", "&lt;b&gt;", "a"]


def test_repeated_tokens_keep_their_own_places(figure):
    assert list(figure.layout.xaxis.tickvals) == [0, 1, 2]
    assert figure.data[0].x is None  # cells stand at 0, 1, 2 too


def test_colours_run_from_zero_to_the_asked_maximum(figure):
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 1)
    own = attention_heatmap(WEIGHTS, ["q", "r"], ["a", "b", "c"], maximum=None)
    assert own.data[0].zmax == pytest.approx(0.9)


def test_the_colour_scale_is_named_in_a_bar(figure):
    assert figure.data[0].colorbar.title.text == "weight"
    assert figure.data[0].showscale is not False


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2 queries but there are 3"):
        attention_heatmap(WEIGHTS, ["a", "b", "c"], ["a", "b", "c"])


def test_blocked_cells_have_a_cross_and_no_colour():
    blocked = np.array([[False, True, False], [True, False, False]])
    figure = attention_heatmap(WEIGHTS, ["q", "r"], ["a", "b", "c"], blocked=blocked)
    values, crosses = figure.data
    np.testing.assert_array_equal(np.isnan(values.z), blocked)
    np.testing.assert_array_equal(~np.isnan(crosses.z), blocked)
    np.testing.assert_array_equal(np.asarray(crosses.text) == "×", blocked)
    np.testing.assert_allclose(values.z[~blocked], WEIGHTS[~blocked])


def test_a_diverging_scale_is_centred_on_zero():
    change = np.array([[-0.25, 0.1, 0.0], [0.0, 0.2, -0.2]])
    figure = attention_heatmap(
        change, ["q", "r"], ["a", "b", "c"], name="change", diverging=True, maximum=None
    )
    assert figure.data[0].zmin == pytest.approx(-0.25)
    assert figure.data[0].zmax == pytest.approx(0.25)
    assert figure.data[0].colorbar.title.text == "change"
    assert "change" in figure.data[0].hovertemplate


def test_a_difference_of_nothing_still_has_a_scale():
    figure = attention_heatmap(
        np.zeros((2, 3)), ["q", "r"], ["a", "b", "c"], diverging=True, maximum=None
    )
    assert figure.data[0].zmin < 0 < figure.data[0].zmax


def test_a_long_text_is_read_by_pointing_alone():
    tokens = [f"t{number}" for number in range(65)]
    figure = attention_heatmap(np.zeros((65, 2)), tokens, ["a", "b"])
    assert figure.layout.yaxis.showticklabels is False
    assert figure.layout.xaxis.showticklabels is True
    assert list(figure.layout.yaxis.ticktext) == tokens


def test_blocked_cells_of_a_long_text_are_grey_without_crosses():
    blocked = np.triu(np.ones((65, 65), bool), 1)
    tokens = [f"t{number}" for number in range(65)]
    _, crosses = attention_heatmap(np.eye(65), tokens, blocked=blocked).data
    np.testing.assert_array_equal(~np.isnan(crosses.z), blocked)
    assert crosses.text is None
    assert (crosses.xgap, crosses.ygap) == (0, 0)


def test_a_map_of_512_tokens_with_blocked_cells_is_small():
    weights = np.random.default_rng(0).dirichlet(np.ones(512), 512)
    blocked = np.triu(np.ones((512, 512), bool), 1)
    figure = attention_heatmap(weights, [f"t{number}" for number in range(512)], blocked=blocked)
    assert len(figure.to_json()) < 4_000_000
