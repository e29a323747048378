import pytest
import torch

from headlight.model.decoding.prefixes import NEVER_WRITTEN
from headlight.model.decoding.search import decode
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits.attention import AttentionEdit
from headlight.model.tokens import END_ID, PAD_ID, START_ID, UNKNOWN_ID, pad, source_sequence
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.trace import Site

SOURCES = torch.tensor([[4, 5, 6, 7, 8, 9, 3], [10, 11, 12, 3, 0, 0, 0], [13, 3, 0, 0, 0, 0, 0]])


def greedy_without_cache(model, source_ids, max_new_tokens):
    """The same decoding the slow way: one sentence, everything computed again at each step."""
    ids, log_probability = [START_ID], 0.0
    while len(ids) <= max_new_tokens and ids[-1] != END_ID:
        logits = model(source_ids, torch.tensor([ids]))[0, -1]
        log_probabilities = logits.log_softmax(-1)
        allowed = logits.clone()
        allowed[[PAD_ID, UNKNOWN_ID, START_ID]] = -torch.inf
        ids.append(int(allowed.argmax()))
        log_probability += log_probabilities[ids[-1]].item()
    finished = ids[-1] == END_ID
    return ids[1:-1] if finished else ids[1:], log_probability, finished


@pytest.fixture
def constant_model(make_model):
    """A function to a model that gives every next token the same given logits."""

    def make(**logits):
        model = make_model(tie_embeddings=False, max_positions=12)
        with torch.no_grad():
            model.decoder.norm.weight.zero_()
            model.decoder.norm.bias.fill_(1.0)
            model.output.weight.fill_(-1.0)
            for index, value in logits.items():
                model.output.weight[int(index.removeprefix("id_"))] = value / 16
        return model

    return make


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tie_embeddings", [True, False])
def test_greedy_equals_a_plain_loop_without_a_cache(seed, tie_embeddings, make_model):
    model = make_model(seed, tie_embeddings=tie_embeddings)
    for source_ids in (SOURCES[:1], SOURCES[1:2], SOURCES[2:, :2]):
        decoded = decode(model, source_ids, max_new_tokens=15)[0]
        ids, log_probability, finished = greedy_without_cache(model, source_ids, 15)
        assert decoded.ids == ids
        assert decoded.log_probability == pytest.approx(log_probability, abs=1e-4)
        assert decoded.finished == finished


def test_greedy_equals_the_plain_loop_on_learned_sentences(translator, pairs):
    for source, target in pairs[:3]:
        source_ids = torch.tensor([source_sequence(translator.tokenizer.encode_ids([source])[0])])
        decoded = decode(translator.model, source_ids, max_new_tokens=22)[0]
        ids, log_probability, finished = greedy_without_cache(translator.model, source_ids, 22)
        assert decoded.ids == ids == translator.tokenizer.encode_ids([target])[0]
        assert decoded.log_probability == pytest.approx(log_probability, abs=1e-4)
        assert decoded.finished
        assert finished


def test_the_log_probability_is_the_teacher_forced_sum(translator, pairs):
    source_ids = torch.tensor([source_sequence(translator.tokenizer.encode_ids([pairs[2][0]])[0])])
    decoded = decode(translator.model, source_ids, max_new_tokens=22)[0]
    logits = translator.model(source_ids, torch.tensor([[START_ID, *decoded.ids]]))[0]
    expected = torch.tensor([*decoded.ids, END_ID])
    picked = logits.log_softmax(-1).gather(1, expected[:, None])
    assert decoded.log_probability == pytest.approx(picked.sum().item(), abs=1e-4)


def test_rows_of_a_batch_equal_the_same_sentences_alone(translator, pairs):
    sources = translator.tokenizer.encode_ids([source for source, _ in pairs])
    batch = decode(
        translator.model, pad([source_sequence(ids) for ids in sources]), max_new_tokens=22
    )
    assert len({len(decoded.ids) for decoded in batch}) > 1
    for ids, decoded in zip(sources, batch, strict=True):
        source_ids = torch.tensor([source_sequence(ids)])
        alone = decode(translator.model, source_ids, max_new_tokens=22)[0]
        assert decoded.ids == alone.ids
        assert decoded.finished == alone.finished
        assert decoded.log_probability == pytest.approx(alone.log_probability, abs=1e-4)


def test_rows_that_end_early_stay_as_they_are_when_others_go_on(translator, pairs):
    sources = translator.tokenizer.encode_ids([source for source, _ in pairs])
    source_ids = pad([source_sequence(ids) for ids in sources])
    whole = decode(translator.model, source_ids, max_new_tokens=22)
    limit = sorted(len(decoded.ids) for decoded in whole)[4]
    limited = decode(translator.model, source_ids, max_new_tokens=limit)
    assert {decoded.finished for decoded in limited} == {True, False}
    for short, long in zip(limited, whole, strict=True):
        assert short.ids == long.ids[:limit]
        assert short.finished == (len(long.ids) < limit)


class Scripted:
    """A model that writes the given ids, one row each, whatever it reads."""

    config = TransformerConfig(20, 20)

    def __init__(self, *scripts):
        self.scripts = torch.tensor(scripts)
        self.written = 0

    def encode(self, source_ids, run):
        return torch.arange(len(source_ids))  # the rows, so that decoding knows which are left

    def source_mask(self, source_ids):
        return source_ids

    def decode(self, last_ids, memory, memory_mask, run):
        logits = torch.nn.functional.one_hot(self.scripts[memory, self.written], 20) * 9.0
        self.written += 1
        return logits[:, None]


def test_what_a_model_writes_after_the_end_token_is_left_out():
    model = Scripted([5, END_ID, 6, 7, 8], [9, 10, 11, END_ID, 12])
    first, second = decode(model, SOURCES[:2], max_new_tokens=9)
    assert (first.ids, first.finished) == ([5], True)
    assert (second.ids, second.finished) == ([9, 10, 11], True)
    assert first.log_probability == pytest.approx(second.log_probability / 2, abs=1e-6)
    assert model.written == 4


def test_decoding_stops_at_the_limit_and_says_so(constant_model):
    decoded = decode(constant_model(id_7=4.0), SOURCES[:1], max_new_tokens=5)[0]
    assert decoded.ids == [7] * 5
    assert not decoded.finished


def test_decoding_stops_at_the_end_token_and_says_so(constant_model):
    decoded = decode(constant_model(id_3=4.0), SOURCES[:1], max_new_tokens=5)[0]
    assert decoded.ids == []
    assert decoded.finished
    assert decoded.log_probability == pytest.approx(
        torch.tensor([4.0] + [-16.0] * 19).log_softmax(0)[0].item(), abs=1e-5
    )


def test_padding_unknown_and_start_are_never_written(constant_model):
    assert set(NEVER_WRITTEN) == {PAD_ID, UNKNOWN_ID, START_ID}
    model = constant_model(id_0=9.0, id_1=8.0, id_2=7.0, id_5=6.0, id_3=5.0)
    for decoded in decode(model, SOURCES, max_new_tokens=4):
        assert decoded.ids == [5] * 4


def test_forbidden_tokens_keep_their_share_of_the_probability(constant_model):
    model = constant_model(id_0=2.0, id_5=1.0)
    decoded = decode(model, SOURCES[:1], max_new_tokens=1)[0]
    expected = torch.tensor([2.0, 1.0] + [-16.0] * 18).log_softmax(0)[1].item()
    assert decoded.log_probability == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("strategy", [Strategy(), Strategy("sample"), Strategy("beam")])
def test_scores_that_are_not_numbers_write_nothing(constant_model, strategy):
    with pytest.raises(ValueError, match="are not numbers"):
        decode(constant_model(id_5=torch.nan), SOURCES[:1], strategy, max_new_tokens=4)


def test_a_limit_of_nothing_writes_nothing(constant_model):
    decoded = decode(constant_model(id_7=4.0), SOURCES, max_new_tokens=0)
    assert [(row.ids, row.log_probability, row.finished) for row in decoded] == [([], 0, False)] * 3


def test_edits_reach_encoder_and_decoder(make_model):
    model = make_model(seed=1)
    plain = decode(model, SOURCES, max_new_tokens=8)
    for kind in ("encoder", "decoder", "cross"):
        edits = {Site(kind, 0): AttentionEdit(gate=torch.zeros(4))}
        edited = decode(model, SOURCES, max_new_tokens=8, edits=edits)
        assert plain[0].log_probability != edited[0].log_probability, kind
