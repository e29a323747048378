from dataclasses import replace
from itertools import islice

import pytest
import torch
from torch.testing import assert_close

from headlight.model.continuer import Continuer
from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.attribution import sum_score
from headlight.model.shape import shape_of
from headlight.model.stream import Part
from headlight.model.transformer.trace import Site
from headlight.wings.training.repeats import small_model
from headlight.wings.training.small_models import default_options
from headlight.wings.training.tasks import TASKS
from tests.model.insight.recording import weight_of

TINY = replace(
    default_options("repeat"), heads=2, d_model=16, d_ff=16, steps=12, batch_size=8, warmup=4
)


def test_the_decoder_is_alone():
    toy = small_model(TINY)
    assert shape_of(toy.model.config).kinds == {"decoder": (2, 2)}
    assert not any("cross" in name for name, _ in toy.model.named_parameters())
    assert not any(name.startswith("encoder.layers") for name, _ in toy.model.named_parameters())


def test_batches_ask_for_what_has_been_read_before():
    toy = small_model(TINY)
    for batch in islice(toy.batches(), 3):
        for read, expected in zip(batch.target_ids.tolist(), batch.next_ids.tolist(), strict=True):
            assert len(expected) == 2 * TINY.longest
            first = expected.count(0)
            whole = [*read[1:], expected[-1]]
            assert TINY.shortest <= first <= TINY.longest
            assert len(set(whole[:first])) == first
            assert expected[first:] == whole[first:]
            assert whole[first:] == whole[: len(whole) - first]


def test_letters_are_repeated_and_others_refused():
    assert TASKS["repeat"].answer("abc") == "abcabc"
    for text in ("", "aba", "ab1", "AB"):
        with pytest.raises(ValueError, match="each at most once"):
            TASKS["repeat"].answer(text)


def test_what_is_read_equals_plain_calls():
    toy = small_model(TINY)
    result = toy.lesion()
    (longest,) = {len(source) for source, _ in toy.unseen if len(source) == TINY.longest}
    texts = [target for source, target in toy.unseen if len(source) == longest]
    loss, induced = [], []
    for text in texts:
        ids = torch.tensor([[2, *toy.tokenizer.encode_ids([text])[0]]])
        trace, _ = toy.attention(ids)
        probabilities = trace.logits[0].softmax(dim=-1)
        rows = range(longest + 1, 2 * longest)
        loss += [-probabilities[row, ids[0, row + 1]].log() for row in rows]
        weights = trace.weights("decoder")  # of the second reading, on what came after
        rows = range(longest + 1, 2 * longest + 1)
        induced += [weights[:, :, row, row - longest + 1] for row in rows]
    assert_close(result.whole.loss, torch.stack(loss).mean().item())
    assert_close(result.whole.induction, torch.stack(induced).mean(dim=0))
    assert_close(toy.score(), result.whole.induction.max().item())
    gate = torch.ones(2)
    gate[result.head] = 0
    again = toy.read({result.site: AttentionEdit(gate=gate)})
    assert again.loss == result.without.loss
    largest = result.whole.previous.max()
    assert result.whole.previous[result.site.layer, result.head] == largest


def test_snapshots_are_those_of_the_decoder():
    toy = small_model(TINY)
    scores = [step.score for step in toy.train()]
    assert scores[-1] is not None
    history = toy.snapshots()
    assert set(history.weights[0]) == {"decoder"}
    count = 1 + 2 * len(toy.source)
    assert history.weights[0]["decoder"].shape[1:] == (2, 2, count, count)
    assert "".join(history.target_tokens[0][1:]) == toy.target


@pytest.fixture(scope="module")
def trained():
    toy = small_model(replace(default_options("repeat"), steps=400))
    return toy, [step.loss for step in toy.train()]


@pytest.mark.matrix
def test_induction_is_learned_and_needs_the_previous_token_head(trained):
    toy, losses = trained
    assert min(losses[:80]) > 2.5
    assert max(losses[-50:]) < 0.3
    result = toy.lesion()
    assert (result.site.layer, result.whole.induction.argmax().item()) == (0, 1)
    assert result.whole.induction[1, 0] > 0.7
    assert result.without.induction.max() < 0.25
    assert result.without.loss > 2.5


@pytest.mark.matrix
def test_the_layer_of_the_previous_token_head_wrote_the_key_that_induction_looks_at(trained):
    reader = Continuer(trained[0].model.eval(), trained[0].tokenizer)
    trace = reader.trace("kxqmwbkxqm")
    again, after_the_first = 9, 4  # the second q, and the m after the first one
    weight = weight_of(reader, trace, Site("decoder", 1), 0, again, key=after_the_first)
    assert weight.row.argmax() == after_the_first
    result = sum_score(weight)
    wrote = dict(zip(result.key, result.pairs.sum(dim=0).tolist(), strict=True))
    head = wrote.pop(Part("head", "decoder", 0, 0))
    passed_on = wrote.pop(Part("feed-forward", None, 0))
    # How the two divide it among them differs from one processor to the next.
    assert min(head, passed_on) > max(map(abs, wrote.values()))
    looked = trace.attention[Site("decoder", 0)].weights[0, 0, after_the_first]
    assert looked.argmax() == after_the_first - 1
