"""A learned table's tokens at other positions, as transformers itself reads them there."""

import pytest
import torch
import transformers
from torch.testing import assert_close

from headlight.model.trace import PositionEdit

TEXT = "I love my cat."


@pytest.fixture(scope="module")
def theirs(transformers_folders):
    return transformers.GPT2LMHeadModel.from_pretrained(transformers_folders["GPT-2"]).eval()


def moved(reader, **edit):
    return reader.trace(TEXT, edits={"decoder": PositionEdit(**edit)})


def ids_of(trace):
    return torch.tensor([[token.id for token in trace.target_tokens]])


@torch.inference_mode()
@pytest.mark.parametrize("edit", [{"shift": 5}, {"order": (0, 3, 1, 2)}])
def test_moved_tokens_are_read_at_their_positions(load, theirs, edit):
    trace = moved(load("GPT-2"), **edit)
    ids = ids_of(trace)
    places = torch.tensor([PositionEdit(**edit).positions(0, ids.size(1))])
    assert_close(trace.logits, theirs(ids, position_ids=places).logits, atol=1e-5, rtol=1e-4)


@torch.inference_mode()
def test_without_positions_nothing_is_added(load, theirs):
    reader = load("GPT-2")
    trace = moved(reader, off=True)
    embedded = (
        theirs.transformer.wte(ids_of(trace))
        - theirs.transformer.wpe.weight[: len(trace.target_tokens)]
    )
    expected = theirs(inputs_embeds=embedded).logits
    assert_close(trace.logits, expected, atol=1e-5, rtol=1e-4)
    embedding = reader.streamed(trace, {"decoder": PositionEdit(off=True)}).embedding["decoder"]
    assert not embedding.positions.any()
    assert (reader.trace(TEXT).logits - trace.logits).abs().max() > 1e-3  # nothing is left behind


def test_what_is_written_without_positions_is_what_a_run_over_it_says(load):
    reader, edits = load("GPT-2"), {"decoder": PositionEdit(off=True)}
    written = reader.write(TEXT, edits=edits, longest=4).writing
    logits = reader.trace(TEXT, written, edits=edits).logits[0]
    ids = [token.id for token in written.target_tokens]
    assert logits[-len(ids) - 1 : -1].argmax(dim=-1).tolist() == ids


def test_a_learned_table_ends(load):
    with pytest.raises(ValueError, match=r"There is no position \d+: the learned table ends at 39"):
        moved(load("GPT-2"), shift=39)


def test_a_table_and_what_it_adds_to_a_text_are_the_librarys(load, theirs):
    reader = load("GPT-2")
    table = theirs.transformer.wpe.weight.detach()
    assert_close(reader.position_table, table)
    trace = reader.trace(TEXT)
    embedding = reader.streamed(trace, {}).embedding["decoder"]
    assert_close(embedding.positions, table[: len(trace.target_tokens)])
    assert_close(embedding.tokens, theirs.transformer.wte(ids_of(trace)).detach())
    assert_close(embedding.states, embedding.tokens + embedding.positions)
    assert load("Llama").position_table is None
