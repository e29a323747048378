"""Patching and knockout of models in half precision."""

import pytest

from headlight.wings.cause.knockout import edges_of
from headlight.wings.cause.patching import AnswerPair, patch_heads, two_runs
from tests.matrix import first_of
from tests.model.library.test_half_precision import CASES, TEXT, load_half
from tests.wings.cause.closing import measured

__all__ = ["load_half"]


@pytest.mark.parametrize(("name", "dtype"), first_of(CASES))
def test_every_analysis_takes_half_precision(name, dtype, load_half):
    reader = load_half(name, dtype)
    pair = "J'aime mon chat." if "cross" in reader.shape.kinds else None
    clean, changed = (reader.trace(text, pair) for text in (TEXT, "I love love cat."))
    apart, parts = clean.logits[0, 3] - changed.logits[0, 3], ("heads", "weights", "value")
    answers = AnswerPair(3, apart.argmax().item(), apart.argmin().item())
    runs = two_runs(reader, changed, clean, answers, parts)
    results = [effects for part in parts for _, effects in patch_heads(runs, part)]
    results += measured(reader, clean, edges_of(clean, reader))
    assert all(part.isfinite().all() for part in results)
