"""The model behind a key, whichever it is."""

import pytest

from headlight.model.library.measuring import Parity
from headlight.model.translator import PRETRAINED
from headlight.pages.shared.runs.readers import (
    Size,
    entry_of,
    errors_explained,
    loading,
    parity_at_loading,
    reader,
    size_of,
    translator,
)
from headlight.pages.shared.runs.run import ModelRun, measured_parity
from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.state.models import (
    DEFAULT,
    EXAMPLES,
    LIBRARY,
    CatalogEntry,
    Workshop,
)

OWN = CatalogEntry("own-1", "Mine", ("a",), "input", "output")


def test_without_a_key_it_is_the_chosen_model_one_for_all(state, loaded, bert_folder):
    assert reader() is reader("en-fr") is translator("en-fr")
    state.model = "en-fr-learned"
    assert reader() is translator("en-fr-learned")
    assert reader() is not translator("en-fr")
    state.model = loaded(bert_folder)
    assert reader() is shelf().get(str(bert_folder)).reader


def test_a_model_of_ones_own_is_found_by_its_key_in_this_session_alone(state, translator):
    state.workshop = Workshop(models={OWN.key: (OWN, translator)})
    assert reader(OWN.key) is translator
    del state["workshop"]
    assert reader(OWN.key) is reader("en-fr"), "one that is gone gives way to the default"


def test_a_model_that_is_not_in_memory_is_an_error_that_names_it(state):
    name = "/some/where/else"
    with pytest.raises(ValueError, match=r"^…/where/else is not in memory\. "):
        reader(LIBRARY + name)
    assert loading(LIBRARY + name) == 0


def test_loadings_are_numbered_and_those_of_shipped_models_are_not(state, loaded, bert_folder):
    assert loading(loaded(bert_folder)) == shelf().get(str(bert_folder)).number > 0
    assert loading("en-fr") == loading("en-fr-learned") == 0


@pytest.mark.parametrize(
    ("name", "sides"), [("T5", ("source", "target")), ("GPT-2", ("text", "text"))]
)
def test_a_model_that_translates_has_two_sides(name, sides, state, loaded, transformers_folders):
    key = loaded(transformers_folders[name])
    entry = entry_of(str(transformers_folders[name]), reader(key))
    assert entry.key == key
    assert (entry.source, entry.target) == sides
    assert entry.is_library
    assert not entry.is_own


def test_a_checkpoint_that_reads_words_has_the_examples_of_all(state, loaded):
    folder = PRETRAINED / "en-fr-learned"
    assert entry_of(str(folder), reader(loaded(folder))).examples == EXAMPLES


def test_errors_in_words_stay_and_others_get_some():
    said = ValueError("There is nothing to read.")
    with pytest.raises(ValueError, match=str(said)) as caught, errors_explained():
        raise said
    assert caught.value is said
    with pytest.raises(ValueError, match="sizes do not match") as caught, errors_explained():
        raise RuntimeError("sizes do not match\nat line 3")
    words = str(caught.value)
    assert "line 3" not in words
    assert words.endswith("Change the text, or choose another model.")


@pytest.fixture
def both_loaded(one_session, bert_folder, transformers_folders):
    """The keys of a BERT and of a model that runs in the library, both in memory."""
    names = [str(bert_folder), str(transformers_folders["T5"])]
    for name in names:
        shelf().ask(name).join()
    return [LIBRARY + name for name in names]


def test_the_size_counts_shared_weights_once(shipped, both_loaded):
    count = sum(parameter.numel() for parameter in shipped.model.parameters())
    assert size_of(DEFAULT) == Size(count, 4 * count)
    tied = shelf().get(both_loaded[1].removeprefix(LIBRARY)).reader.model
    assert size_of(both_loaded[1]).parameters == tied.num_parameters()


def test_parity_is_measured_at_loading_or_on_a_text(both_loaded, bert):
    ours, theirs = both_loaded
    assert parity_at_loading(ours) is None
    assert parity_at_loading(DEFAULT) is None
    assert max(parity_at_loading(theirs)) < 1e-4
    run = ModelRun("the cat was playing.", second="a dog", model=ours)
    measured = bert.parity("the cat was playing.", "a dog")
    assert measured_parity(run) == Parity(measured.outputs, measured.weights)
