import re

import pytest

from headlight.model.shape import checked_config
from headlight.model.transformer.positions import Positions


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
        checked_config(**{"source_vocab_size": 10, "target_vocab_size": 10, **options})


def test_an_odd_width_is_fine_without_sinusoids():
    config = checked_config(10, 10, d_model=9, heads=3, positions="learned")
    assert Positions(config)(0, 2).shape == (2, 9)
