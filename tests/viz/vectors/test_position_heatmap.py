import re

import numpy as np
import pytest

from headlight.viz import position_heatmap
from headlight.viz.vectors.position_heatmap import numbers_of

TABLE = np.array([[0.0, 1.0, -0.5], [0.8, 0.5, -2.0]])


def test_rows_are_positions_and_columns_dimensions():
    figure = position_heatmap(TABLE)
    np.testing.assert_allclose(figure.data[0].z, TABLE)
    assert figure.layout.yaxis.title.text == "position"
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.title.text == "dimension"
    assert "position %{y}<br>dimension %{x}" in figure.data[0].hovertemplate


def test_the_colours_are_centred_on_zero_and_shared_where_a_limit_is_given():
    assert (position_heatmap(TABLE).data[0].zmin, position_heatmap(TABLE).data[0].zmax) == (-2, 2)
    shared = position_heatmap(TABLE, limit=5).data[0]
    assert (shared.zmin, shared.zmax) == (-5, 5)


def test_the_numbers_are_those_drawn_with_the_names_of_both_axes():
    numbers = numbers_of(position_heatmap(TABLE, columns="other", name="factor"))["factor"]
    np.testing.assert_array_equal(numbers.values, TABLE.astype(np.float32))
    assert numbers.axes == {"position": ["0", "1"], "other": ["0", "1", "2"]}


def test_a_table_with_other_axes_is_refused():
    for shape in ((3,), (2, 3, 4)):
        with pytest.raises(ValueError, match=f"this one has the shape {re.escape(str(shape))}"):
            position_heatmap(np.zeros(shape))
