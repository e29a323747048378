"""Sampling and beam search; greedy decoding is in test_decoding.py."""

import itertools

import pytest
import torch
from torch.nn import functional as F
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from headlight.model.decoding.prefixes import NEVER_WRITTEN
from headlight.model.decoding.search import decode
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import CellEdit, Edits
from headlight.model.insight.scoring import next_log_probabilities
from headlight.model.shape import shape_of
from headlight.model.tokens import END_ID, START_ID
from headlight.model.transformer.decode import narrow
from headlight.model.transformer.trace import Run

SOURCE = torch.tensor([[4, 5, 6, 7, 3]])
EDITS = Edits(
    cells=(CellEdit("cross", 1, 0, opened=False), CellEdit("decoder", 0, 2, opened=True)),
    gates={("cross", 0, 1): 0.0, ("encoder", 1, 2): 0.5},
)
# One pass over a whole sentence scores its prefixes only where none sees what comes later.
CAUSAL_EDITS = Edits(cells=EDITS.cells[:1], gates=EDITS.gates)


def exhaustive(model, limit, length_penalty, edits):
    """The best of all sentences that end within the limit, or fill it, by scoring every one."""
    words = [i for i in range(model.config.target_vocab_size) if i not in (*NEVER_WRITTEN, END_ID)]
    best = (-float("inf"), None)
    for length in range(limit + 1):
        for ids in itertools.product(words, repeat=length):
            logits = model(SOURCE, torch.tensor([[START_ID, *ids]]), Run(edits))
            steps = next_log_probabilities(logits, torch.tensor([START_ID, *ids]))[0]
            finished = length < limit
            total = (steps if finished else steps[:-1]).sum().item()
            score = total / max(1, length + finished) ** length_penalty
            if score > best[0]:
                best = (score, (list(ids), finished, total))
    return best[1]


@pytest.mark.parametrize("length_penalty", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("edits", [Edits(), CAUSAL_EDITS], ids=["as trained", "edited"])
def test_a_wide_enough_beam_finds_what_an_exhaustive_search_finds(
    length_penalty, edits, make_model
):
    model = make_model(source_vocab_size=8, target_vocab_size=8)
    sites = edits.at_sites(shape_of(model.config), 10)
    strategy = Strategy("beam", beam_size=200, length_penalty=length_penalty)
    (match,) = decode(model, SOURCE, strategy, max_new_tokens=3, edits=sites)
    ids, finished, total = exhaustive(model, 3, length_penalty, sites)
    assert (match.ids, match.finished) == (ids, finished)
    assert match.log_probability == pytest.approx(total, abs=1e-5)


@pytest.mark.parametrize("edits", [Edits(), EDITS], ids=["as trained", "edited"])
def test_a_beam_of_one_is_greedy(edits, translator, pairs):
    sites = edits.at_sites(translator.shape, 24)
    for source, _ in pairs:
        source_ids = translator.ids(translator.read(source))
        options = {"max_new_tokens": 12, "edits": sites}
        (best,) = decode(translator.model, source_ids, **options)
        (beam,) = decode(translator.model, source_ids, Strategy("beam", beam_size=1), **options)
        assert (beam.ids, beam.finished) == (best.ids, best.finished)
        assert beam.log_probability == pytest.approx(best.log_probability, abs=1e-5)


def test_a_beams_score_is_that_of_teacher_forcing_under_its_edits(make_model):
    model = make_model(5)
    sites = EDITS.at_sites(shape_of(model.config), 12)
    strategy = Strategy("beam", beam_size=3)
    (match,) = decode(model, SOURCE, strategy, max_new_tokens=8, edits=sites)
    read = torch.tensor([START_ID, *match.ids])
    total = 0.0
    for step, following in enumerate([*match.ids, END_ID][: len(match.ids) + match.finished]):
        logits = model(SOURCE, read[None, : step + 1], Run(sites))[0, -1]
        total += logits.log_softmax(-1)[following].item()
    assert match.log_probability == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize("temperature", [0.5, 2.0])
@pytest.mark.parametrize("top_k", [0, 5, 50])
@pytest.mark.parametrize("top_p", [1.0, 0.9, 0.01])
def test_narrowing_is_that_of_transformers(temperature, top_k, top_p):
    scores = torch.randn(6, 30, generator=torch.Generator().manual_seed(7)) * 3
    expected = TemperatureLogitsWarper(temperature)(None, scores)
    if top_k:
        expected = TopKLogitsWarper(top_k)(None, expected)
    if top_p < 1:
        expected = TopPLogitsWarper(top_p)(None, expected)
    result = narrow(scores, temperature, top_k, top_p).log_softmax(dim=-1)
    torch.testing.assert_close(result, expected.log_softmax(dim=-1))


@pytest.mark.parametrize("top_p", [0.2, 0.5, 0.9])
def test_of_equally_likely_tokens_those_of_transformers_are_kept(top_p):
    scores = torch.randint(4, (50, 30), generator=torch.Generator().manual_seed(7)).float()
    expected = TopPLogitsWarper(top_p)(None, scores).isfinite()
    assert torch.equal(narrow(scores, 1.0, 0, top_p).isfinite(), expected)


def test_the_smallest_temperature_draws_the_likeliest():
    scores = torch.randn(6, 30, generator=torch.Generator().manual_seed(7))
    scores[:, 4] = -torch.inf
    drawn = narrow(scores, 1e-300, 0, 0.9).softmax(dim=-1)
    torch.testing.assert_close(drawn, F.one_hot(scores.argmax(dim=-1), 30).float())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "sample", "temperature": 0.0}, "decode greedily"),
        ({"strategy": "sample", "temperature": -1.0}, "above 0"),
        ({"strategy": "sample", "temperature": float("nan")}, "above 0"),
        ({"strategy": "sample", "top_p": 0.0}, "top_p must be above 0"),
        ({"strategy": "sample", "top_p": 1.5}, "at most 1"),
        ({"strategy": "sample", "top_k": -1}, "top_k must be 0"),
        ({"strategy": "beam", "beam_size": 0}, "size must be at least 1"),
        ({"strategy": "best"}, "'best' is not a strategy"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Strategy(**options)


def test_a_strategy_minds_its_own_options_only():
    assert Strategy("greedy", temperature=0.0).width == Strategy("sample", beam_size=0).width == 1


def test_the_same_seed_draws_the_same_ids_and_another_seed_others(make_model):
    model = make_model()

    def draw(seed):
        rows = SOURCE.repeat(8, 1)
        return [d.ids for d in decode(model, rows, Strategy("sample", seed=seed), max_new_tokens=8)]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


@pytest.mark.parametrize(("temperature", "top_k"), [(1.0, 0), (0.7, 6)])
def test_drawn_tokens_follow_the_stated_distribution(temperature, top_k, make_model):
    """Pearson's chi-squared over 4,000 first tokens, at the 0.1 % level for 17 degrees at most."""
    model = make_model(3)
    draws = 4_000
    strategy = Strategy("sample", temperature=temperature, top_k=top_k, seed=11)
    decoded = decode(model, SOURCE.repeat(draws, 1), strategy, max_new_tokens=1)
    ids = [d.ids[0] if d.ids else END_ID for d in decoded]
    logits = model(SOURCE, torch.tensor([[START_ID]]))[:, -1]
    logits[:, NEVER_WRITTEN] = -torch.inf
    expected = narrow(logits, temperature, top_k, 1.0).softmax(-1)[0] * draws
    counts = torch.bincount(torch.tensor(ids), minlength=20)
    assert counts[expected == 0].sum() == 0
    likely = expected > 0
    statistic = ((counts - expected)[likely] ** 2 / expected[likely]).sum()
    assert statistic < 40.8


def test_edits_reach_sampling(translator, pairs):
    sites = EDITS.at_sites(translator.shape, 24)
    source_ids = translator.ids(translator.read(pairs[2][0]))
    options = {"max_new_tokens": 12, "edits": sites}
    (drawn,) = decode(translator.model, source_ids, Strategy("sample", top_k=1), **options)
    (best,) = decode(translator.model, source_ids, **options)
    assert drawn.ids == best.ids
    assert drawn.log_probability == pytest.approx(best.log_probability, abs=1e-5)


def test_a_translator_passes_every_strategy_on(translator, pairs):
    source, target = pairs[0]
    assert translator.translate(source, strategy="beam", beam_size=3).text == target
    assert translator.translate(source, strategy="sample", top_k=1).text == target
    drawn = {
        translator.translate(source, strategy="sample", temperature=5.0, seed=seed).text
        for seed in range(5)
    }
    assert len(drawn) > 1
