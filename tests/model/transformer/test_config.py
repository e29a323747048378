import json
import re

import pytest

from headlight.model.transformer.config import TransformerConfig


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"d_model": 10, "heads": 4}, "d_model 10 is not a multiple of heads 4."),
        ({"d_model": 9, "heads": 3}, "Sinusoidal positions need an even d_model, not 9."),
        (
            {"target_vocab_size": 11},
            "Tied embeddings need one shared vocabulary, but the source has 10 tokens and the "
            "target 11.",
        ),
        ({"norm": "sandwich"}, "norm has to be one of pre, post."),
        ({"activation": "tanh"}, "activation has to be one of relu, gelu."),
        (
            {"positions": "rotary"},
            "positions has to be one of sinusoidal, learned, none.",
        ),
    ],
)
def test_numbers_that_do_not_fit_raise_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        TransformerConfig(**{"source_vocab_size": 10, "target_vocab_size": 10, **options})


def test_an_odd_width_is_fine_without_sinusoids():
    assert TransformerConfig(10, 10, d_model=9, heads=3, positions="learned").head_width == 3


def test_a_saved_config_reads_back_equal(tmp_path):
    config = TransformerConfig(
        11,
        13,
        d_model=24,
        heads=3,
        encoder_layers=1,
        decoder_layers=4,
        d_ff=7,
        dropout=0.25,
        norm="post",
        activation="gelu",
        positions="learned",
        max_positions=99,
        tie_embeddings=False,
        pad_id=5,
    )
    config.save(tmp_path / "config.json")
    assert TransformerConfig.from_file(tmp_path / "config.json") == config


def test_an_unknown_entry_is_named(tmp_path):
    path = tmp_path / "config.json"
    TransformerConfig(10, 10).save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "d_mdoel": 3}))
    with pytest.raises(ValueError, match=r"config\.json has unknown entries: d_mdoel\."):
        TransformerConfig.from_file(path)


def test_a_missing_entry_is_named(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"source_vocab_size": 10}))
    with pytest.raises(ValueError, match=r"config\.json lacks an entry: .*target_vocab_size"):
        TransformerConfig.from_file(path)


def test_entries_are_checked_when_read(tmp_path):
    path = tmp_path / "config.json"
    entries = {"source_vocab_size": 10, "target_vocab_size": 10, "d_model": 10, "heads": 3}
    path.write_text(json.dumps(entries))
    with pytest.raises(ValueError, match="d_model 10 is not a multiple of heads 3"):
        TransformerConfig.from_file(path)
