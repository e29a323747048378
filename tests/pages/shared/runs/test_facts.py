"""What is known of a model besides its runs."""

import pytest

from model.library.card import Card
from model.library.parity import Parity
from pages.shared.runs.facts import (
    Size,
    card_of,
    measured_parity,
    parity_at_loading,
    size_of,
)
from pages.shared.runs.run import ModelRun
from pages.shared.runs.shelf import shelf
from pages.shared.state.catalog import DEFAULT, LIBRARY

pytestmark = pytest.mark.usefixtures("one_session")


@pytest.fixture
def loaded(bert_folder, transformers_folders):
    """The keys of a BERT and of a model that runs in the library, both in memory."""
    names = [str(bert_folder), str(transformers_folders["T5"])]
    for name in names:
        shelf().ask(name).result.result()
    return [LIBRARY + name for name in names]


def test_the_size_counts_shared_weights_once(shipped, loaded):
    count = sum(parameter.numel() for parameter in shipped.model.parameters())
    assert size_of(DEFAULT) == Size(count, 4 * count)
    tied = shelf().get(loaded[1].removeprefix(LIBRARY)).reader.model
    assert size_of(loaded[1]).parameters == tied.num_parameters()


def test_a_model_that_is_not_in_memory_has_no_size():
    with pytest.raises(ValueError, match="not in memory"):
        size_of(f"{LIBRARY}gone")


def test_parity_is_measured_at_loading_or_on_a_text(loaded, bert):
    ours, theirs = loaded
    assert parity_at_loading(ours) is None
    assert parity_at_loading(DEFAULT) is None
    assert max(parity_at_loading(theirs)) < 1e-4
    run = ModelRun("the cat was playing.", second="a dog", model=ours)
    measured = bert.parity("the cat was playing.", "a dog")
    assert measured_parity(run) == Parity(measured.outputs, measured.weights)


def test_a_model_without_a_card_has_nothing_to_say(loaded):
    assert card_of(DEFAULT) == card_of(loaded[0]) == Card()
