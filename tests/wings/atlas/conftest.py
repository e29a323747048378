import pytest

from headlight.model.checkpoint import save_checkpoint


@pytest.fixture(scope="module")
def folder(tmp_path_factory, translator):
    """The folder of a checkpoint of the tiny translator."""
    made = tmp_path_factory.mktemp("model")
    save_checkpoint(made, translator.model, translator.tokenizer)
    return made
