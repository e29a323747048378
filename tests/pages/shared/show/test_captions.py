import pytest

from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import labels_of
from tests.pages.shared.runs.conftest import loaded, one_session

__all__ = ["loaded", "one_session"]

SENTENCE = "I love my cat."


@pytest.mark.parametrize("kind", ["decoder", "cross"])
def test_a_decoders_row_names_what_it_reads_and_what_it_writes(kind, shipped, one_session):
    queries, keys = labels_of(ModelRun(SENTENCE), kind)
    translation = shipped.translate(SENTENCE)
    written = [token.text for token in translation.target_tokens]
    written = written[:-1] if written[-1] == "<end>" else written
    read = ["<start>", *written]
    assert queries == [
        f"{one} → {next}" for one, next in zip(read, [*written, "<end>"], strict=True)
    ]
    source = [token.text for token in translation.source_tokens]
    assert keys == (source if kind == "cross" else read)


def test_a_given_target_is_what_a_row_is_made_to_write(one_session):
    queries, _ = labels_of(ModelRun(SENTENCE, target="Le chat."), "cross")
    assert queries[0] == "<start> → Le"
    assert queries[-1] == ". → <end>"


def test_padding_and_an_encoder_write_nothing(one_session):
    run = ModelRun(SENTENCE, pad_to=12)
    queries, _ = labels_of(run, "decoder")
    assert queries[-1] == "<pad>"
    queries, keys = labels_of(run, "encoder")
    assert queries == keys


def test_a_decoder_alone_is_read_as_the_text_it_is(transformers_folders, loaded, one_session):
    run = ModelRun(SENTENCE, model=loaded(transformers_folders["GPT-2"]))
    queries, keys = labels_of(run, "decoder")
    assert queries == keys
