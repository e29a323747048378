"""What positions do to a translation, as the page Positions has it computed."""

from math import isnan

import numpy as np
import pytest

from headlight.model.transformer.positions import PositionEdit
from headlight.pages.parts.positions.calls import (
    LEARNED,
    SHIFTS,
    learned_table,
    library_tables,
    shift_scores,
    shuffle,
)
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.runs.shelf import shelf
from tests.pages.apps import keep

pytestmark = pytest.mark.usefixtures("one_session")
SENTENCE, TRAINED, OFF = "I love my cat.", PositionEdit(), PositionEdit(off=True)


def moved(encoder, decoder):
    return ModelRun(SENTENCE, moved=(encoder, decoder), model=LEARNED)


def test_positions_left_alone_change_nothing():
    run = moved(TRAINED, TRAINED)
    assert run == run.as_trained
    assert moved(TRAINED, PositionEdit(shift=3)) != run


@pytest.mark.parametrize("name", ["en-fr", LEARNED])
def test_without_positions_shuffled_words_are_the_same_words(name):
    made = shuffle("The red car is faster than the blue car.", 3, name)
    assert sorted(made.order) == list(range(len(made.tokens)))
    assert made.order[-1] == len(made.order) - 1
    assert made.without_positions.max() < 1e-4 * made.largest_output
    assert made.with_positions.max() > 0.01 * made.largest_output


def test_a_shift_beyond_a_learned_table_has_no_score():
    scores = dict(zip(SHIFTS, shift_scores(ModelRun(SENTENCE, model=LEARNED)), strict=True))
    assert -5 < scores[0] < 0
    assert isnan(scores[512])
    assert not any(map(isnan, shift_scores(ModelRun(SENTENCE))))


def test_only_rotary_positions_may_all_be_shifted_without_effect(transformers_folders):
    names = [f"transformers:{keep(transformers_folders[name])}" for name in ("Llama", "GPT-2")]
    llama, gpt_2 = (shift_scores(ModelRun(SENTENCE, model=name)) for name in names)
    np.testing.assert_allclose(llama, llama[0], atol=1e-4)
    assert np.isnan(gpt_2).argmax() == SHIFTS.index(64)  # its table ends at 39
    assert np.nanmax(gpt_2) - np.nanmin(gpt_2) > 1e-2


def test_the_learned_table_is_that_of_the_side():
    encoder, decoder = map(learned_table, ("encoder", "decoder"))
    assert encoder.shape == decoder.shape
    assert not np.array_equal(encoder, decoder)


def test_the_tables_of_a_library_are_those_of_berts_in_memory(make_bert_folder):
    name = str(make_bert_folder())
    assert library_tables(name) == {}
    reader = shelf().ask(name).join().reader
    (match,) = library_tables(name).values()
    np.testing.assert_array_equal(match, reader.model.positions.table.detach().numpy())
    assert name not in library_tables()
