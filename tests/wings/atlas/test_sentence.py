"""One sentence against a corpus."""

import numpy as np
import pytest

from headlight.model.corpus import CorpusLine, Window
from headlight.model.questions import Request
from headlight.model.translator import load
from headlight.wings.atlas.counting import count_window, read
from headlight.wings.atlas.figures import BY_NAME, OF_SEVERAL, figures, figures_of, standing


@pytest.mark.parametrize("pair", [("I love my cat.", "J'adore mon chat."), ("Hurry up.", None)])
def test_the_figures_of_a_sentence_are_those_of_a_count_of_it_alone(pair):
    reader, line = load("en-fr"), CorpusLine(0, *pair)
    count = count_window(reader, Window(0, [line]), {})
    trace = (
        read(reader, line)
        if pair[1]
        else reader.tokenized(Request(pair[0], reader.translate(pair[0])))
    )
    found = figures_of(reader, trace)
    for kind, own in found.items():
        counted = figures(count, kind)
        assert set(own) == set(counted) - set(OF_SEVERAL)
        for name, values in own.items():
            np.testing.assert_allclose(values, counted[name].mean, atol=1e-6, err_msg=name)


def test_what_is_far_and_what_is_rare():
    bins = np.zeros(20)
    bins[5:8] = 33  # from 0.25 to 0.4
    bins[19] = 1
    share = BY_NAME["previous token"]
    usual = standing(0.3, 0.32, 0.05, bins, share)
    assert (usual.tail, usual.is_far, usual.is_rare) == (0.66, False, False)
    far = standing(0.97, 0.32, 0.05, bins, share)
    assert far.deviations == pytest.approx(13)
    assert (far.tail, far.is_far, far.is_rare) == (0.01, True, True)
    assert standing(0.24, 0.32, 0.05, bins, share)[1:] == (0.0, False, True)
    assert np.isnan(standing(0.3, 0.3, 0.0, bins, share).deviations)


def test_beyond_the_outer_bins_nothing_is_rare_that_they_hold():
    bins = np.zeros(20)
    bins[-1] = 10  # distances of 19 tokens or more
    assert not standing(45.0, 40.0, 4.0, bins, BY_NAME["distance"]).is_rare
