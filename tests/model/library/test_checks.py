"""What a tokenizer or a model makes of a text: what is wrong is a sentence."""

import pytest
import torch

from headlight.model.library.checks import (
    TokenizerError,
    are_numbers,
    check_ids,
    check_numbers,
    tokenizing,
)
from headlight.model.trace import Trace


class PanicException(BaseException):
    """What Rust's libraries raise is called so, and is no Exception."""


@pytest.mark.parametrize("error", [PanicException("gave up"), OverflowError("gave up")])
def test_a_tokenizer_that_gives_up_is_said_in_a_sentence(error):
    said = r"cannot read this text: gave up\. Change the text"
    with pytest.raises(TokenizerError, match=said), tokenizing():
        raise error


def test_what_stops_the_program_is_passed_on():
    with pytest.raises(KeyboardInterrupt), tokenizing():
        raise KeyboardInterrupt


@pytest.mark.parametrize("ids", [[1, 30], [-1, 2]])
def test_tokens_that_a_model_does_not_have(ids):
    with pytest.raises(ValueError, match="The tokenizer of this model finds"):
        check_ids(ids, known=30)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_none(number):
    assert not are_numbers(torch.tensor([1.0, number]))
    trace = Trace()
    trace.outputs = {"encoder": torch.tensor([1.0, number])}
    with pytest.raises(ValueError, match="infinite or not a number"):
        check_numbers(trace)


def test_a_token_that_a_model_rules_out_is_no_fault():
    trace = Trace()
    trace.outputs = {"encoder": torch.ones(2)}
    trace.logits = torch.tensor([[[1.0, -float("inf")]]])
    check_numbers(trace)
    assert are_numbers(torch.empty(0))
