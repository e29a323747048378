import pytest
import torch

from headlight.model.insight.scoring import (
    next_log_probabilities,
    trace_log_probabilities,
)


def test_log_probabilities_are_those_of_the_shifted_target():
    logits = torch.randn(2, 3, 10)
    result = next_log_probabilities(logits, torch.tensor([2, 7, 5]))
    for row in range(2):
        for position, following in enumerate([7, 5, 3]):  # the end token comes last
            expected = logits[row, position].log_softmax(-1)[following]
            assert result[row, position] == pytest.approx(expected.item(), abs=1e-6)


def test_a_translations_score_is_the_sum_over_its_trace(translator, pairs):
    for source, _ in pairs[:4]:
        translation = translator.translate(source)
        trace = translator.trace(source, translation)
        assert trace_log_probabilities(trace).sum().item() == pytest.approx(
            translation.score, abs=1e-4
        )


def test_padding_of_the_target_adds_nothing(translator, pairs):
    plain = translator.trace(*pairs[0])
    padded = translator.trace(*pairs[0], pad_to=20)
    torch.testing.assert_close(
        trace_log_probabilities(padded), trace_log_probabilities(plain), atol=1e-5, rtol=0
    )
