import pytest

from headlight.pages.parts.positions.calls import trained_pairs, trained_up_to
from headlight.pages.shared.runs.shipped import FOLDER, cheat, recorded_training

pytestmark = pytest.mark.usefixtures("one_session")


def test_the_recorded_training_is_that_of_the_shipped_model():
    history = recorded_training()
    assert history.steps[0] == 0
    assert history.steps == sorted(history.steps)
    assert recorded_training() is history
    assert FOLDER.name == "en-fr"


def test_few_pairs_reach_the_last_positions():
    for side in ("encoder", "decoder"):
        counts, (last, usual) = trained_pairs("en-fr")[side], trained_up_to(side)
        assert counts[last] > 0
        assert not any(counts[last + 1 :])
        assert usual <= last
        assert counts[usual] > counts[0] / 1_000 >= counts[usual + 1]


def test_the_model_copies_a_target_that_it_sees_and_writes_nonsense_without_one():
    result = cheat("I love my cat.", "J'adore mon chat.")
    assert result.score > -0.5
    assert result.text != "J'adore mon chat."
