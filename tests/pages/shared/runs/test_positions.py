"""What positions do to a translation, as the page Positions has it computed."""

from math import isnan

import numpy as np
import pytest
import torch

from model.trace import PositionEdit
from pages.shared.runs.positions import (
    LEARNED,
    SHIFTS,
    learned_table,
    repositioned,
    retraced,
    shift_scores,
    shuffle,
)
from pages.shared.runs.translator import TranslatorRun, translated

pytestmark = pytest.mark.usefixtures("one_session")
SENTENCE, TRAINED, OFF = "I love my cat.", PositionEdit(), PositionEdit(off=True)


def test_positions_left_alone_change_nothing():
    assert (
        repositioned(SENTENCE, TRAINED, TRAINED, LEARNED).text
        == translated(SENTENCE, name=LEARNED).text
    )
    torch.testing.assert_close(
        retraced(SENTENCE, TRAINED, TRAINED, LEARNED).logits,
        TranslatorRun(SENTENCE, model=LEARNED).trace.logits,
    )


def test_the_decoder_reads_what_the_same_model_wrote_as_trained():
    read = retraced(SENTENCE, OFF, TRAINED, LEARNED).target_tokens
    assert read == TranslatorRun(SENTENCE, model=LEARNED).trace.target_tokens


@pytest.mark.parametrize("name", ["en-fr", LEARNED])
def test_without_positions_shuffled_words_are_the_same_words(name):
    made = shuffle("The red car is faster than the blue car.", 3, name)
    assert sorted(made.order) == list(range(len(made.tokens)))
    assert made.order[-1] == len(made.order) - 1
    assert made.without_positions.max() < 1e-4 * made.largest_output
    assert made.with_positions.max() > 0.01 * made.largest_output


def test_a_shift_beyond_a_learned_table_has_no_score():
    scores = dict(zip(SHIFTS, shift_scores(SENTENCE, LEARNED), strict=True))
    assert -5 < scores[0] < 0
    assert isnan(scores[512])
    assert not any(map(isnan, shift_scores(SENTENCE, "en-fr")))


def test_the_learned_table_is_that_of_the_side():
    encoder, decoder = map(learned_table, ("encoder", "decoder"))
    assert encoder.shape == decoder.shape
    assert not np.array_equal(encoder, decoder)
