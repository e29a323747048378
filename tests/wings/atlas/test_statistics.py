"""Weights made by hand have figures that one can say beforehand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from headlight.model.insight.rows import Rows, pattern_scores
from headlight.wings.atlas.counting import Count, flags_of
from headlight.wings.atlas.figures import (
    clearest_pattern,
    divergences,
    figures,
    offset_shares,
)
from headlight.wings.atlas.statistics import (
    ALL,
    BINS,
    FIRST,
    OFFSETS,
    POSITIONAL,
    STATISTICS,
    add,
    sums_of,
)

WORDS = ("<s>", "I", "see", ",", "he", "said", ",", "it", "all", "now", ".", "</s>")
SIZE = len(WORDS)


def token(text):
    return SimpleNamespace(text=text, is_special=text.startswith("<"))


def rows_of(kind, heads, words=WORDS, pad_to=None):
    """Rows (1, 1, H, Q, K) of heads given as (Q, K), maybe with padding after the words."""
    weights = torch.stack([torch.as_tensor(head, dtype=torch.float32) for head in heads])
    flags = flags_of([[token(word) for word in words]])
    missing = (pad_to or len(words)) - len(words)
    weights = torch.nn.functional.pad(weights, (0, missing, 0, missing))
    flags = {name: torch.nn.functional.pad(flag, (0, missing)) for name, flag in flags.items()}
    there = flags.pop("there")
    visible = there[:, :, None, :].expand(1, 1, *weights.shape[-2:])
    if kind == "decoder":
        visible = visible & torch.ones(weights.shape[-2:]).tril().bool()
    return Rows(kind, weights[None, None], visible[None], there, there, flags)


def figures_of(kind, heads, **options):
    """The figures of one sentence, each (H,)."""
    sums, _ = sums_of(rows_of(kind, heads, **options), torch.tensor([True]))
    return {name: found.mean[0] for name, found in figures(Count({}, sums=sums), kind).items()}


def beside(offset):
    """Each token looks so far away, and at itself where there is none."""
    weights = torch.eye(SIZE)
    for query in range(SIZE):
        if 0 <= query + offset < SIZE:
            weights[query] = torch.nn.functional.one_hot(torch.tensor(query + offset), SIZE)
    return weights


UNIFORM = torch.full((SIZE, SIZE), 1 / SIZE)
CAUSAL = torch.ones(SIZE, SIZE).tril()
CAUSAL = CAUSAL / CAUSAL.sum(dim=-1, keepdim=True)


@pytest.mark.parametrize("pad_to", [None, SIZE + 5])
def test_uniform_weights(pad_to):
    result = figures_of("encoder", [UNIFORM], pad_to=pad_to)
    far = [abs(query - key) for query in range(SIZE) for key in range(SIZE)]
    expected = {
        "entropy": math.log(SIZE), "broad": 1, "confidence": 1 / SIZE,
        "previous token": 1 / SIZE, "next token": 1 / SIZE, "same token": 1 / SIZE,
        "first token": 1 / SIZE, "end token": 1 / SIZE, "special tokens": 2 / SIZE,
        "punctuation": 3 / SIZE, "distance": np.mean(far), "spread of distance": np.std(far),
        "variability": 0,
    }  # fmt: skip
    for name, value in expected.items():
        assert result[name] == pytest.approx(value, abs=1e-6), name


@pytest.mark.parametrize("pad_to", [None, SIZE + 5])
def test_one_key_each(pad_to):
    result = figures_of("encoder", [beside(0), beside(-1), beside(1)], pad_to=pad_to)
    assert result["entropy"] == pytest.approx(0, abs=1e-7)
    assert result["same token"] == pytest.approx([1, 1 / SIZE, 1 / SIZE])
    assert result["previous token"] == pytest.approx([0, 1, 0])
    assert result["next token"] == pytest.approx([0, 0, 1])
    assert result["positional"] == pytest.approx([1, 1, 1])
    away = (SIZE - 1) / SIZE
    assert result["distance"] == pytest.approx([0, away, away])
    assert result["spread of distance"] == pytest.approx(
        [0, *[(away - away**2) ** 0.5] * 2], abs=1e-6
    )


def test_confidence_leaves_the_end_token_out():
    looking = torch.zeros(SIZE, SIZE)
    looking[:, -1], looking[:, 1] = 0.8, 0.2
    looking[-1] = beside(0)[1]  # the row of the end itself does not count
    assert figures_of("encoder", [looking])["confidence"] == pytest.approx([0.2])


def test_a_decoders_first_row_has_no_choice_and_no_part():
    result = figures_of("decoder", [CAUSAL, beside(0)])
    allowed = range(2, SIZE + 1)
    assert result["entropy"] == pytest.approx([np.mean([math.log(n) for n in allowed]), 0])
    assert result["broad"] == pytest.approx([1, 0])
    assert result["same token"] == pytest.approx([np.mean([1 / n for n in allowed]), 1])
    assert "next token" not in result


def test_the_diagonal_of_cross_attention_runs_from_0_to_1():
    result = figures_of("cross", [beside(0), UNIFORM, beside(0).flip(0)], pad_to=SIZE + 3)
    assert result["diagonal"] == pytest.approx([1, 0, -1], abs=1e-6)
    assert "distance" not in result


def test_positional_heads_say_at_which_distance():
    sums, _ = sums_of(rows_of("encoder", [beside(-1), beside(2), UNIFORM]), torch.tensor([True]))
    count = Count({}, sums=sums)
    shares = offset_shares(count, "encoder")[0]
    assert [shares[0, OFFSETS.index(-1)], shares[1, OFFSETS.index(2)]] == [1, 1]
    assert shares[2].max() < POSITIONAL  # of equal keys the first is taken


def test_heads_that_never_meet_are_ln_2_apart():
    sums, _ = sums_of(rows_of("encoder", [beside(0), beside(0), beside(1)]), torch.tensor([True]))
    apart = divergences(Count({}, sums=sums), "encoder")
    assert apart.diagonal() == pytest.approx(0)
    assert apart[0, 1] == pytest.approx(0, abs=1e-7)
    # All but the last row look elsewhere.
    assert apart[0, 2] == apart[2, 0] == pytest.approx(math.log(2) * (SIZE - 1) / SIZE)


def test_weights_that_change_between_sentences_vary():
    total = {}
    for weights in (beside(0), beside(-1)):
        sums, _ = sums_of(rows_of("encoder", [UNIFORM, weights]), torch.tensor([True]))
        total = add(total, sums)
    result = figures(Count({}, sums=total), "encoder")["variability"].mean[0]
    # The rows but the first have two cells of mean 0.5, whose standard deviation is 0.5.
    assert result == pytest.approx([0, (FIRST - 1) / (2 * FIRST)], abs=1e-6)


def test_a_short_sentence_says_nothing_of_what_needs_a_long_one():
    words = WORDS[:3]
    result = figures_of("encoder", [torch.full((3, 3), 1 / 3)], words=words)
    assert math.isnan(result["variability"][0])
    assert math.isnan(result["punctuation"][0])


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_sentence_has_the_scores_of_its_badges(kind):
    weights = np.random.default_rng(1).dirichlet(np.full(SIZE, 0.4), SIZE)
    if kind == "decoder":
        weights = np.tril(weights) / np.tril(weights).sum(axis=1, keepdims=True)
    result = figures_of(kind, [weights])
    for name, score in pattern_scores(weights, kind).items():
        assert max(result[name][0], 0) == pytest.approx(score, abs=1e-6), name


def test_bins_hold_every_sentence_once():
    sums, _ = sums_of(rows_of("encoder", [UNIFORM, beside(0)]), torch.tensor([True]))
    for statistic in STATISTICS:
        if "encoder" in statistic.kinds:
            bins = sums[f"encoder/{statistic.name}/bins"]
            assert bins.shape == (1, 2, BINS)
            assert bins.sum(axis=-1) == pytest.approx(np.ones((1, 2)))


def test_the_clearest_pattern_is_the_one_a_badge_would_name():
    sums, _ = sums_of(rows_of("encoder", [beside(-1), beside(1), UNIFORM]), torch.tensor([True]))
    expected = [["previous token", "next token", "broad"]]
    assert clearest_pattern(Count({}, sums=sums), "encoder") == expected


def test_every_statistic_is_defined_with_its_unit_and_source():
    assert len({statistic.name for statistic in ALL}) == len(ALL)
    for statistic in ALL:
        assert statistic.words
        assert statistic.unit
        assert statistic.source
        assert statistic.kinds
