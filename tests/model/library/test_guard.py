"""What a model brought along ends, and in a sentence if it goes wrong."""

import sys
import time

import pytest
import torch

from model.library.guard import (
    TokenizerError,
    are_numbers,
    check_ids,
    check_numbers,
    tokenizing,
    within,
)
from model.trace import Trace


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


@pytest.mark.parametrize("ids", [[1, 30], [-1, 2], [0] * 9])
def test_tokens_that_a_model_does_not_have(ids):
    with pytest.raises(ValueError, match="The tokenizer of this model makes"):
        check_ids(ids, known=30, most=8)


def test_tokens_that_a_model_has():
    check_ids([0, 29, 3], known=30, most=3)
    check_ids([], known=0, most=0)


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


def test_code_that_does_not_end_is_stopped():
    def endless():
        while True:
            pass

    before, begun = sys.gettrace(), time.monotonic()
    with pytest.raises(TimeoutError, match=r"not done after 0\.2 seconds"), within(0.2):
        endless()
    assert time.monotonic() - begun < 20
    assert sys.gettrace() is before


def test_code_that_ends_is_let_be():
    with within(60):
        assert sorted([2, 1]) == [1, 2]
