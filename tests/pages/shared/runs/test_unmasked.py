import pytest

from pages.shared.runs.unmasked import cheat

pytestmark = pytest.mark.usefixtures("one_session")


def test_the_model_copies_a_target_that_it_sees_and_writes_nonsense_without_one():
    found = cheat("I love my cat.", "J'adore mon chat.")
    assert found.loss < 0.1
    assert found.text != "J'adore mon chat."
