"""The keys and values of another run, which the tokens of a run see in place of their own."""

import pytest
import torch
from torch.testing import assert_close

from headlight.model.transformer.attention import UNCHANGED, attend
from headlight.model.transformer.trace import Site
from headlight.wings.cause.knockout import OtherRun
from tests.model.library.families import DECODERS, PAIRS, traced
from tests.model.transformer.test_attention import QUERIES, mask, parts

__all__ = ["mask", "parts"]


def test_each_token_sees_the_given_others_and_itself_as_it_is_now(parts, mask):
    query, key, value = (part[:, :, :QUERIES] for part in parts)
    visible = mask[..., :QUERIES]
    given = torch.randn(1, *key.shape[1:]), torch.randn(1, *value.shape[1:])
    others = OtherRun(UNCHANGED, *given)
    record = attend(query, key, value, visible, others)
    for row in range(QUERIES):  # alone, in a text in which it is the only token of its own
        keys, values = (each.expand_as(key).clone() for each in (others.key, others.value))
        keys[:, :, row], values[:, :, row] = key[:, :, row], value[:, :, row]
        alone = attend(query[:, :, row : row + 1], keys, values, visible[:, :, row : row + 1])
        assert_close(record.weights[:, :, row], alone.weights[:, :, 0])
        assert_close(record.heads[:, :, row], alone.heads[:, :, 0])


def test_if_the_given_others_are_its_own_nothing_changes(parts):
    query, key, value = (part[:1, :, :QUERIES] for part in parts)
    record = attend(query, key, value, edit=OtherRun(UNCHANGED, key, value))
    assert_close(record.heads, attend(query, key, value).heads)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("name", [*DECODERS, *PAIRS])
def test_tokens_that_see_the_others_as_they_were_say_what_they_said(name, attached):
    logits, trace = traced(name, attached)
    held = {
        site: OtherRun(UNCHANGED, record.key, record.value)
        for site, record in trace.attention.items()
        if site.kind == "decoder"
    }
    assert_close(traced(name, attached, held)[0], logits, atol=1e-5, rtol=1e-5)
    site = Site("decoder", 1)
    nothing = map(torch.zeros_like, (held[site].key, held[site].value))
    held[site] = OtherRun(UNCHANGED, *nothing)
    assert (traced(name, attached, held)[0] - logits).abs().max() > 1e-3
