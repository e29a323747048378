"""What the page Attention opens on."""

import pytest

from headlight.pages.shared.show.opening import opening, telling_rank
from headlight.pages.shared.state.models import EXAMPLES, TELLING


def test_the_example_that_is_tried_first_tells_something_of_the_shipped_model(shipped):
    trace = shipped.trace(min(EXAMPLES, key=telling_rank))
    match, tokens = opening(trace), trace.source_tokens
    assert match is not None
    assert (tokens[match.query].text, tokens[match.key].text) in TELLING


@pytest.mark.parametrize(
    ("sentence", "rank"),
    [("The dog ate because it could.", 0), ("Is it an animal.", 1), ("A dogma.", 2), ("", 2)],
)
def test_examples_with_a_pair_that_may_tell_something_come_first(sentence, rank):
    assert telling_rank(sentence) == rank
