"""Edges closed in models of the transformers library, only by their readers."""

import pytest
from torch.testing import assert_close

from headlight.model.insight.knockout import edges_of
from headlight.model.library.transformers_loading import load_transformers_reader
from tests.model.insight.closing import closed_by_hand, measured

TEXT = "I love my cat."


@pytest.mark.parametrize("name", ["BART", "T5", "Marian"])
def test_the_edges_to_a_source_are_closed_as_cells_are(name, transformers_folders):
    reader = load_transformers_reader(transformers_folders[name])
    trace = reader.trace(TEXT, "J'aime mon chat.")
    edges = edges_of(trace, reader)
    _, changes = measured(reader, trace, edges)
    assert edges.kind == "cross"
    assert changes.abs().max() > 1e-3
    assert_close(changes, closed_by_hand(reader, trace, edges), atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", ["GPT-2", "Llama"])
def test_so_are_those_from_what_a_decoder_wrote_to_its_prompt(name, transformers_folders):
    reader = load_transformers_reader(transformers_folders[name])
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
