"""Writing with any function as the step, against every text scored one by one."""

import itertools
from functools import partial

import pytest
import torch

from headlight.model.decoding.prefixes import NEVER_WRITTEN
from headlight.model.decoding.search import decode
from headlight.model.decoding.strategies import Strategy
from headlight.model.tokens import END_ID, START_ID
from headlight.model.transformer.decode import Ends, Texts, beam, greedy, sample, score

WORDS, END = 4, 3
ENDS = Ends(torch.tensor([END]))
NO_ENDS = Ends(ENDS.ids[:0])


def a_step(seed):
    """A step whose log-probabilities depend on all tokens of a text, and on nothing else."""
    table = torch.randn(6, 50, WORDS, generator=torch.Generator().manual_seed(seed)) * 2

    def step(texts):
        ids = texts.ids  # (R, T)
        hashes = [
            sum((at + 2) * (index + 1) for at, index in enumerate(line)) for line in ids.tolist()
        ]
        return table[ids.size(1), [each % 50 for each in hashes]].log_softmax(dim=-1)

    return step


def nothing(rows=1):
    none = torch.empty(rows, 0, dtype=torch.long)
    return Texts(none, none, torch.zeros(rows, 1))


def total_of(step, ids):
    texts = nothing()
    for index in ids:
        texts = texts.extend(torch.tensor([index]), step(texts)[:, index])
    return texts.totals[0, -1].item()


def every_text(longest):
    """Every text that ends, or is as long as a text can be."""
    for length in range(longest):
        for ids in itertools.product(range(END), repeat=length):
            yield [*ids, END]
    yield from map(list, itertools.product(range(END), repeat=longest))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("penalty", [0.0, 0.6, 2.0])
def test_a_wide_beam_finds_the_best_of_all_texts(seed, penalty):
    step = a_step(seed)
    best = max(every_text(4), key=lambda ids: score(total_of(step, ids), len(ids), penalty))
    text = beam(step, nothing(), ENDS, 4, width=100, penalty=penalty)
    assert text.ids.tolist() == [best]
    assert text.totals[0, -1].item() == pytest.approx(total_of(step, best), abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_takes_the_likeliest_and_a_beam_of_one_and_top_1_do_too(seed):
    step = a_step(seed)
    expected = []
    while len(expected) < 6 and END not in expected:
        texts = nothing()
        for index in expected:
            texts = texts.extend(torch.tensor([index]), torch.zeros(1))
        expected.append(step(texts).argmax().item())
    assert greedy(step, nothing(), ENDS, 6).ids.tolist() == [expected]
    drawn = sample(step, nothing(), ENDS, 6, torch.default_generator, top_k=1)
    assert drawn.ids.tolist() == [expected]
    assert beam(step, nothing(), ENDS, 6, width=1, penalty=0.0).ids.size(1) <= 6


@pytest.mark.parametrize("write", [greedy, partial(sample, generator=torch.default_generator)])
def test_writing_stops_when_one_of_several_texts_ends(write):
    def step(texts):  # the second of three ends at the third token
        scores = torch.zeros(3, WORDS)
        scores[1, END] = 99.0 * (texts.ids.size(1) == 2)
        scores[:, 0] += 50.0
        return scores.log_softmax(dim=-1)

    texts = write(step, nothing(3), ENDS, 6)
    assert texts.ids.tolist() == [[0, 0, 0], [0, 0, END], [0, 0, 0]]
    assert texts.rows.tolist() == [[row] * 3 for row in range(3)]
    assert write(step, texts.take([1]), ENDS, 6).ids.tolist() == [[0, 0, END]]
    assert write(step, texts.take([1]), NO_ENDS, 3).ids.size(1) == 3


@pytest.mark.parametrize("seed", range(5))
def test_rows_lead_back_through_the_candidates_of_every_step(seed):
    step, levels = a_step(seed), []
    text = beam(step, nothing(), ENDS, 5, width=3, watch=lambda *level: levels.append(level))
    row = 0
    for at, index in enumerate(text.ids[0].tolist()):
        candidates, kept = levels[at]
        assert text.rows[0, at] == row
        (place,) = [
            each
            for each in kept
            if (candidates.rows[each, -1], candidates.ids[each, -1]) == (row, index)
        ]
        assert torch.equal(candidates.totals[place], text.totals[0, : at + 2])
        live = [each for each in kept if candidates.ids[each, -1] != END]
        row = live.index(place) if place in live else None
    for candidates, _ in levels:
        assert (candidates.totals[:, -1].diff() <= 0).all()


def test_the_same_generator_draws_the_same_texts():
    def draw(seed):
        generator = torch.Generator().manual_seed(seed)
        return sample(a_step(0), nothing(40), NO_ENDS, 5, generator).ids

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))


@pytest.mark.parametrize("seed", range(3))
def test_a_plain_step_without_a_cache_writes_what_the_app_does(seed, make_model):
    model, source = make_model(seed), torch.tensor([[4, 5, 6, 7, 3]])
    memory = model.encode(source)

    def step(texts):
        ids = torch.nn.functional.pad(texts.ids, (1, 0), value=START_ID)
        logits = model.decode(ids, memory, None)[:, -1].log_softmax(dim=-1)
        return logits.index_fill(1, torch.tensor(NEVER_WRITTEN), -torch.inf)

    how = step, nothing(), Ends(torch.tensor([END_ID])), 8
    texts = [greedy(*how), beam(*how, width=3, penalty=0.6)]
    strategies = [Strategy(), Strategy("beam", beam_size=3, length_penalty=0.6)]
    for text, strategy in zip(texts, strategies, strict=True):
        (ours,) = decode(model, source, strategy, max_new_tokens=8)
        assert text.ids.tolist() == [ours.written]
        assert text.rows.tolist() == [ours.rows]
        assert text.totals[0, -1].item() == pytest.approx(ours.log_probability, abs=1e-4)
