"""Both edges of a path closed in models of the transformers library, only by their readers."""

import pytest
import torch
from torch.testing import assert_close

from headlight.wings.cause.knockout import edges_of
from headlight.wings.cause.paths import two_steps
from tests.wings.cause.closing import cells_of, path_followed, without_cells

TEXT = "I love my cat."


@pytest.mark.parametrize("name", ["BART", "T5", "Marian"])
def test_both_edges_are_closed_as_cells_are(name, load):
    reader = load(name)
    trace = reader.trace(TEXT, "J'aime mon chat.")
    edges = edges_of(trace, reader)
    changes = path_followed(reader, trace, edges, 2, 1)
    first, ends = cells_of(edges, 2, 1)
    wanted = [
        [without_cells(reader, trace, edges, 2, start + end) for end in ends]
        for start in ([], first)
    ]
    assert_close(changes, torch.tensor(wanted), atol=1e-4, rtol=0)


def test_a_model_without_an_encoder_has_no_such_paths(load):
    reader = load("GPT-2")
    writing = reader.write(TEXT, longest=3).writing
    trace = reader.trace(TEXT, writing)
    edges = edges_of(trace, reader, writing=writing)
    with pytest.raises(ValueError, match="with an encoder and a decoder"):
        next(two_steps(reader, trace, edges, 0, 0))
