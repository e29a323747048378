import numpy as np

from headlight.wings.atlas.page.distributions import Spread, distributions
from tests.viz.unpacking import unpack

SPREADS = [
    Spread("<b>entropy", "1.2 ± 0.1 nats", np.array([1, 5, 2]), 0.0, 6.0, 1.5, "here 1.5", True),
    Spread("positional", "0.4"),
    Spread("broad", "0.3 ± 0.2", np.array([4, 0])),
]


def test_each_row_travels_with_its_own_bins():
    picture = distributions(SPREADS)
    header, counts = unpack(picture, "<f4")
    assert [row["bins"] for row in header["rows"]] == [3, 0, 2]
    np.testing.assert_array_equal(counts, [1, 5, 2, 4, 0])
    assert header["rows"][0] == SPREADS[0]._asdict() | {"bins": 3}
    assert [row["here"] for row in header["rows"]] == [1.5, None, None]


def test_the_numbers_saved_are_the_sentences_in_each_bin():
    numbers = distributions(SPREADS).numbers
    assert numbers["sentences by <b>entropy"].axes == {"from": ["0", "2", "4"]}
    np.testing.assert_array_equal(numbers["sentences by broad"].values, [4, 0])
    assert len(numbers) == 2
