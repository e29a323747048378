import pytest
import torch

from headlight.model.snapshots import KINDS, Snapshots, record_snapshots
from headlight.model.transformer.trace import Site
from headlight.model.translator import Translator


@pytest.fixture(scope="module")
def history(translator, make_model):
    size = translator.tokenizer.vocab_size
    untrained = Translator(
        make_model(source_vocab_size=size, target_vocab_size=size), translator.tokenizer
    )
    return record_snapshots(
        [untrained, translator], [0, 250], ["I love my cat.", "We leave today."]
    )


def test_every_step_reads_the_last_models_translation(history, translator):
    for sentence, tokens in zip(history.sentences, history.target_tokens, strict=True):
        written = [token.text for token in translator.translate(sentence).target_tokens]
        assert tokens == ["<start>", *written[:-1]]


def test_the_last_step_is_the_trace_of_the_last_model(history, translator):
    trace = translator.trace(history.sentences[1])
    for kind in KINDS:
        for layer in range(2):
            expected = trace.attention[Site(kind, layer)].weights[0]
            assert torch.equal(history.weights[1][kind][-1, layer], expected)
        assert not torch.allclose(history.weights[1][kind][0], history.weights[1][kind][1])


def test_a_saved_history_is_read_back_within_the_rounding_of_float16(history, tmp_path):
    history.save(tmp_path / "history.safetensors")
    read = Snapshots.from_file(tmp_path / "history.safetensors")
    assert (read.steps, read.sentences) == (history.steps, history.sentences)
    assert read.tokens(1, "cross") == history.tokens(1, "cross")
    for kind in KINDS:
        torch.testing.assert_close(
            read.weights[0][kind], history.weights[0][kind], atol=1e-3, rtol=0
        )
