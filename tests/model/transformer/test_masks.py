import pytest
import torch

from headlight.model.insight.masks import masked_softmax
from headlight.model.transformer.masks import look_ahead_mask

# The two sentence pairs that most tutorials on the Transformer work through.
SOURCES = torch.tensor([[1, 5, 6, 4, 3, 9, 5, 2, 0], [1, 8, 7, 3, 4, 5, 6, 7, 2]])
TARGETS = torch.tensor([[1, 7, 4, 3, 5, 9, 2, 0], [1, 5, 6, 2, 4, 7, 6, 2]])


def matrix(*rows):
    return torch.tensor([[cell == "1" for cell in row] for row in rows])


LOWER_TRIANGLE = matrix("1000000", "1100000", "1110000", "1111000", "1111100", "1111110", "1111111")


def test_the_tutorials_source_mask_hides_the_padded_key(make_model):
    mask = make_model(source_vocab_size=10, target_vocab_size=10).source_mask(SOURCES)
    assert mask.shape == (2, 1, 1, 9)
    assert mask.dtype == torch.bool
    assert torch.equal(mask[0, 0], matrix("111111110"))
    assert torch.equal(mask[1, 0], matrix("111111111"))


def test_the_tutorials_target_mask_is_a_lower_triangle(make_model):
    mask = make_model(source_vocab_size=10, target_vocab_size=10).target_mask(TARGETS[:, :-1])
    assert mask.shape == (2, 1, 7, 7)
    assert mask.dtype == torch.bool
    assert torch.equal(mask[0, 0], LOWER_TRIANGLE)
    assert torch.equal(mask[1, 0], LOWER_TRIANGLE)


def test_padding_within_the_target_is_hidden_from_every_query(make_model):
    targets = torch.tensor([[1, 7, 4, 3, 2, 0, 0, 0], [1, 5, 6, 2, 4, 7, 6, 2]])
    mask = make_model(source_vocab_size=10, target_vocab_size=10).target_mask(targets[:, :-1])
    padded = matrix("1000000", "1100000", "1110000", "1111000", "1111100", "1111100", "1111100")
    assert torch.equal(mask[0, 0], padded)
    assert torch.equal(mask[1, 0], LOWER_TRIANGLE)


def test_look_ahead_after_a_cache_is_the_bottom_of_the_whole_triangle():
    whole = look_ahead_mask(7)
    assert torch.equal(whole[0, 0], LOWER_TRIANGLE)
    for earlier in range(7):
        assert torch.equal(look_ahead_mask(7 - earlier, earlier), whole[:, :, earlier:])


SCORES = torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.0, -1.0]])
SEEN = torch.tensor([[True, False, True], [False, False, False]])


def test_minus_infinity_keeps_rows_at_one_and_empties_a_blocked_row():
    weights = masked_softmax(SCORES, SEEN, "-inf")
    expected = torch.tensor([1.0, 3.0]).softmax(0)
    assert weights[0].tolist() == [expected[0], 0, expected[1]]
    assert weights[1].tolist() == [0, 0, 0]


def test_a_large_negative_number_spreads_a_blocked_row_over_forbidden_keys():
    weights = masked_softmax(SCORES, SEEN, "large negative")
    assert torch.equal(weights[0], masked_softmax(SCORES, SEEN, "-inf")[0])
    assert weights[1].tolist() == pytest.approx([1 / 3] * 3)


def test_zeroing_after_the_softmax_loses_weight():
    weights = masked_softmax(SCORES, SEEN, "zero after")
    assert torch.equal(weights, SCORES.softmax(-1) * SEEN)
    assert weights[0].sum() < 0.8
