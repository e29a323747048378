"""One weight of a run as the key of what is computed about it."""

from unittest.mock import patch

import pytest

from model.edits import Edits
from model.insight.weight import Weight
from model.trace import Site
from pages.shared.runs import inside
from pages.shared.runs.translator import TranslatorRun
from tests.pages.sessions import end, session

SENTENCE = "I love my cat."
SITE = Site("cross", 1)


@pytest.fixture(autouse=True)
def visitor():
    with session("inside"):
        yield
    end("inside")


def weight(key=2, edits=Edits()):
    return Weight(TranslatorRun("en-fr", SENTENCE, edits=edits), SITE, 3, 2, key)


def test_a_weight_is_taken_apart_in_the_numbers_of_its_run(shipped):
    record = shipped.trace(SENTENCE).attention[SITE]
    part = inside.taken_apart(weight())
    assert part.weights.allclose(record.weights[0, 3, 2], atol=1e-5)
    assert part.value.allclose(record.value[0, 3, 2], atol=1e-4)
    assert inside.taken_apart(weight()) is part
    assert inside.taken_apart(weight(key=1)) is not part


def test_the_views_of_a_query_are_computed_once_for_all_its_keys():
    with patch.object(inside, "explain", wraps=inside.explain) as explain:
        found = inside.explained(weight(key=1), close=False)
        assert inside.explained(weight(key=3), close=False) is found
        assert explain.call_count == 1
        assert inside.explained(weight(), close=True).removals is not None
        faded = Edits(gates={("cross", 1, 3): 0.5})
        changed = inside.explained(weight(edits=faded), close=False)
    assert explain.call_count == 3
    assert changed.value_norms.allclose(found.value_norms / 2, atol=1e-4)
