from dataclasses import replace

import numpy as np
import pytest

from headlight.model.edits import Edits
from headlight.model.transformer.trace import Site
from headlight.pages.shared.runs.run import ModelRun, written
from headlight.wings.cause import calls as patching
from headlight.wings.cause.calls import patched, patched_tokens, two_texts
from headlight.wings.cause.patching import AnswerPair

pytestmark = pytest.mark.usefixtures("one_session")
RUN = ModelRun("I love my cat.", model="en-fr-learned")
CHANGED = "I love my dog."


def quiet(*progress):
    """Take a report, and say nothing."""


@pytest.fixture
def answers():
    texts = two_texts(RUN, CHANGED)
    place = texts.first_apart
    return AnswerPair(
        texts.written.rows[place], texts.written.ids[place], texts.likeliest[1][place][0]
    )


def test_both_texts_are_followed_by_what_was_written_after_the_first(answers):
    texts = two_texts(RUN, CHANGED)
    assert texts.changed.target_tokens == texts.clean.target_tokens
    assert list(texts.written.ids) == [token.id for token in written(RUN).target_tokens]
    place = texts.first_apart
    likeliest = [best[0] for best in texts.likeliest[1]]
    assert likeliest[:place] == list(texts.written.ids[:place])
    assert likeliest[place] != texts.written.ids[place]


def test_a_vocabulary_may_be_smaller_than_what_is_kept(monkeypatch):
    monkeypatch.setattr(patching, "LIKELIEST", 100_000)
    texts = two_texts(RUN, CHANGED)
    assert len(texts.likeliest[0][0]) == RUN.trace().logits.size(-1)


def test_if_none_is_apart_it_is_the_one_that_is_furthest_from_as_likely(answers):
    target = written(replace(RUN, sentence=CHANGED)).text
    texts = two_texts(replace(RUN, target=target), CHANGED)
    assert [best[0] for best in texts.likeliest[1]] == list(texts.written.ids)
    assert texts.written.rows[texts.first_apart] == answers.row


def test_heads_fill_as_they_come(answers):
    told = []
    result = patched(
        RUN, CHANGED, answers, "heads", False,
        lambda shares, done: told.append(
            (done, sum(np.isfinite(share).sum() for share in shares.values()))
        ),
    )  # fmt: skip
    assert [done for done, _ in told][-1] == 1
    assert [known for _, known in told] == sorted({known for _, known in told})
    assert result.itself == pytest.approx(0, abs=1e-4)
    assert result.outputs == result.parts == pytest.approx(1, abs=1e-4)
    assert result.before < 0 < result.aim


def test_a_head_is_what_all_its_tokens_are(answers):
    shares = patched(RUN, CHANGED, answers, "heads", False, quiet).shares
    site = Site("cross", len(shares["cross"]) - 1)
    result = patched_tokens(RUN, CHANGED, answers, "heads", False, site, 0)
    assert result[-1] == pytest.approx(shares["cross"][-1, 0], abs=1e-4)
    assert len(result) == answers.row + 1


def test_the_other_way_and_other_parts_are_runs_of_their_own(answers):
    there, back = (patched(RUN, CHANGED, answers, "heads", way, quiet) for way in (False, True))
    assert (there.before, there.aim) == (back.aim, back.before)
    assert not np.allclose(there.shares["cross"], back.shares["cross"])
    looks = patched(RUN, CHANGED, answers, "weights", False, quiet)
    assert looks.outputs == pytest.approx(1, abs=1e-4)
    assert looks.parts != pytest.approx(1, abs=1e-2)
    assert patched.kept(RUN, "I love my horse.", answers, "heads", False, None) is None


def test_edits_are_in_force_in_both_runs(answers):
    edited = replace(RUN, edits=Edits(gates={("cross", 0, 1): 0.0}))
    result = patched(edited, CHANGED, answers, "heads", False, quiet)
    assert result.shares["cross"][0, 1] == pytest.approx(0, abs=1e-6)
    assert result.outputs == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ("I love my cat.", "the same tokens"),
        ("I love my cat and my dog.", "is 6 tokens and the changed one 9"),
        ("I love my cat. " * 100, "more tokens than this model reads"),
        (" ", "nothing to"),
    ],
)
def test_texts_that_cannot_be_compared_are_refused_in_a_sentence(changed, why):
    with pytest.raises(ValueError, match=why):
        two_texts(RUN, changed)
