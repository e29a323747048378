"""Texts written in one batch, with each one's own edits, against the same texts alone."""

from dataclasses import fields

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headlight.model.decoding.search import decode
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import CellEdit, Edits
from headlight.model.edits.attention import AttentionEdit, Further
from headlight.model.edits.positions import PositionEdit
from headlight.model.edits.tensors import batch_of
from headlight.model.questions import Request
from headlight.model.transformer.trace import Site
from headlight.model.translator import Translator
from tests.conftest import OTHER_TEXTS, PAIRS

TEXTS = [source for source, _ in PAIRS] + OTHER_TEXTS
KINDS = st.sampled_from(["encoder", "decoder", "cross"])
INDEX = st.integers(0, 5)
HEADS = st.tuples(KINDS, st.integers(0, 1), st.integers(0, 3))
CELLS = st.builds(
    CellEdit, KINDS, INDEX, INDEX, opened=st.just(False), head=st.sampled_from([None, 2])
)
MASKS = st.sampled_from([{}, {("window", "decoder"): (2,)}, {("distance", "encoder"): (5,)}])
EDITS = st.builds(
    Edits,
    masks=MASKS,
    cells=st.lists(CELLS, max_size=3),
    gates=st.dictionaries(HEADS, st.sampled_from([0.0, 0.5]), max_size=3),
)
REQUESTS = st.tuples(st.sampled_from(TEXTS), st.sampled_from([None, 20]), EDITS)


def expect_close(ours, theirs):
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def expect_equal_traces(ours, theirs, names=("attention",)):
    """The tokens, the attention, the last states and the logits of two traces are the same."""
    assert (ours.source_tokens, ours.target_tokens) == (theirs.source_tokens, theirs.target_tokens)
    expect_close(ours.logits, theirs.logits)
    assert ours.outputs.keys() == theirs.outputs.keys()
    for name in names:
        assert getattr(ours, name).keys() == getattr(theirs, name).keys()
        for place, record in getattr(theirs, name).items():
            for field in fields(record):
                expected = getattr(record, field.name)
                if isinstance(expected, torch.Tensor):
                    expect_close(getattr(getattr(ours, name)[place], field.name), expected)
    for side, outputs in theirs.outputs.items():
        expect_close(ours.outputs[side], outputs)


@settings(max_examples=8)
@given(requests=st.lists(REQUESTS, min_size=2, max_size=5))
def test_texts_of_a_batch_are_written_and_recorded_as_if_alone(translator, requests):
    shape, texts = translator.shape, []
    for number, (text, pad_to, edits) in enumerate(requests):
        sites = edits.at_sites(shape, 30 + number)  # cells of several sizes
        texts.append(Request(text, pad_to=pad_to, edits=sites))
    for text, ours in zip(texts, translator.write_together(texts), strict=True):
        alone = translator.write(text.text, pad_to=text.pad_to, edits=text.edits)
        assert ours.writing.text == alone.writing.text
        assert ours.writing.target_tokens == alone.writing.target_tokens
        assert ours.path == alone.path
        ids = translator.ids(translator.read(text.text, text.pad_to))
        recorded, limit = [], translator.max_tokens
        decode(translator.model, ids, max_new_tokens=limit, edits=text.edits, record=recorded)
        for step, theirs in zip(ours, recorded, strict=True):
            assert step.cached == theirs.cached
            assert step.token.id == theirs.ids[0]
            expect_close(step.log_probabilities, theirs.log_probabilities[0])
            for site, weights in theirs.weights.items():
                expect_close(step.weights[site], weights[0, :, 0])
                assert torch.equal(
                    step.visible[site], theirs.masked_scores[site][0, :, 0].isfinite()
                )
        for nodes, theirs in zip(ours.tree, recorded, strict=True):
            expect_close(nodes[0].log_probability, theirs.totals[0].item())
        assert (ours.trace is None) == (alone.trace is None)
        if alone.trace:
            expect_equal_traces(ours.trace, alone.trace)


@pytest.mark.parametrize("strategy", [Strategy(), Strategy("beam", beam_size=3)])
@pytest.mark.parametrize("text", TEXTS[:2])
def test_what_was_recorded_while_writing_is_what_a_run_over_the_whole_records(
    translator, text, strategy
):
    decoding = translator.write(text, strategy)
    whole = translator.trace(text, decoding.writing)
    expect_equal_traces(decoding.trace, whole)
    streamed = translator.streamed(decoding.trace, {})
    expect_equal_traces(streamed, whole, ("attention", "residual", "embedding"))


def test_no_run_is_known_of_a_text_that_was_cut_or_edited(translator, make_model, tokenizer):
    text = TEXTS[2]
    assert translator.write(text, longest=3).trace is None
    gate = {Site("cross", 0): AttentionEdit(gate=torch.zeros(4))}
    assert translator.write(text, edits=gate).trace is None
    size = tokenizer.vocab_size
    model = make_model(source_vocab_size=size, target_vocab_size=size, look_ahead_mask=False)
    assert Translator(model, tokenizer).write(text).trace is None


def test_edits_that_only_one_text_can_have_are_alone(translator):
    site = Site("decoder", 0)
    for edit in (
        AttentionEdit(scale=1.0),
        Further(AttentionEdit()),
        AttentionEdit(weights=torch.ones(2, 2)),
        AttentionEdit(open=torch.ones(3, 3, dtype=torch.bool)),  # the future
    ):
        assert batch_of({site: edit}) is None
    gate = {site: AttentionEdit(gate=torch.zeros(4))}
    moved = gate | {"encoder": PositionEdit(shift=1)}
    assert batch_of(gate) == batch_of({})
    assert batch_of(gate) != batch_of(moved)
    assert translator.batch_of(Request(TEXTS[0]), Strategy("beam")) is None
    assert translator.batch_of(Request(TEXTS[0]), Strategy("sample")) is None
    with pytest.raises(ValueError, match="nothing to translate"):
        translator.batch_of(Request(" "), Strategy())
