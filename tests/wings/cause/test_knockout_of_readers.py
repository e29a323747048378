"""Edges closed in models of the transformers library, only by their readers."""

import pytest
import torch
from torch.testing import assert_close

from headlight.wings.cause.knockout import edges_of
from headlight.wings.cause.readings import READINGS, readings
from tests.matrix import first_of
from tests.wings.cause.closing import closed_by_hand, measured

TEXT = "I love my cat."


@pytest.mark.parametrize("name", ["BART", "T5", "Marian"])
def test_the_edges_to_a_source_are_closed_as_cells_are(name, load):
    reader = load(name)
    trace = reader.trace(TEXT, "J'aime mon chat.")
    edges = edges_of(trace, reader)
    _, changes = measured(reader, trace, edges)
    assert edges.kind == "cross"
    assert changes.abs().max() > 1e-3
    assert_close(changes, closed_by_hand(reader, trace, edges), atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", ["GPT-2", "Llama"])
def test_so_are_those_from_what_a_decoder_wrote_to_its_prompt(name, load):
    reader = load(name)
    writing = reader.write(TEXT, longest=5).writing
    trace = reader.trace(TEXT, writing)
    edges = edges_of(trace, reader, writing=writing)
    weights, changes = measured(reader, trace, edges)
    prompt = len(reader.begin(TEXT))
    assert edges.written.ids == tuple(token.id for token in writing.target_tokens)
    assert edges.written.rows[0] == prompt - 1
    assert [key for word in edges.words for key in word.keys] == list(range(prompt))
    assert weights[0].sum() == pytest.approx(1, abs=1e-4), "the first row sees nothing else"
    assert changes.abs().max() > 1e-3
    assert_close(changes, closed_by_hand(reader, trace, edges), atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", first_of(["GPT-2", "BART", "Llama", "Marian"]))
def test_every_reading_of_a_library_model_adds_up_to_what_it_is_a_share_of(name, load):
    reader = load(name)
    writing = reader.write(TEXT, longest=5).writing
    trace = reader.trace(TEXT, writing)
    edges = edges_of(trace, reader, writing=writing)
    found = readings(reader, trace, edges)
    weights, changes = measured(reader, trace, edges)
    assert list(found) == list(READINGS)
    assert_close(found["weight"], weights, atol=1e-5, rtol=0)
    assert all(numbers.shape == changes.shape for numbers in found.values())
    assert min(found["relevance"].min(), found["rollout"].min(), found["length"].min()) >= 0
    if edges.kind == "cross":
        layers = reader.shape.layers("cross")
        assert_close(found["rollout"].sum(dim=-1), torch.full((len(changes),), 1 - 0.5**layers))
    else:
        assert found["rollout"][0].sum() == pytest.approx(1, abs=1e-4)
