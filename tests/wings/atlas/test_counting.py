"""Counting a corpus: figures that can be said otherwise, in any order, in parts."""

from collections import Counter

import numpy as np
import pytest
import torch

from headlight.model.continuer import Continuer
from headlight.model.corpus import CorpusLine, Window
from headlight.wings.atlas.counting import (
    CUT,
    NUMBERS_AT_ONCE,
    REFUSED,
    batches,
    count_window,
    lengths,
    merge,
    numbers_of,
    read,
)
from headlight.wings.atlas.examples import FEWEST, KEPT, SIGNS, merge_samples, sampled
from headlight.wings.atlas.figures import clearest_pattern, figures
from tests.wings.atlas.plain import plain_figures


def counted(reader, lines, first=0):
    return count_window(reader, Window(first, list(lines)), {"text": "a"})


def assert_same(a, b, tolerance=1e-6):
    assert a.lines == b.lines
    for kind in ("encoder", "decoder", "cross"):
        ours, theirs = figures(a, kind), figures(b, kind)
        assert ours.keys() == theirs.keys()
        for name, figure in ours.items():
            for part, array in vars(figure).items():
                other = getattr(theirs[name], part)
                if part == "bins" or array is None:
                    continue
                np.testing.assert_allclose(array, other, atol=tolerance, err_msg=name)


@pytest.fixture(scope="module")
def lines(pairs):
    """The pairs in many lengths: alone, by twos and by threes."""
    many = [*pairs]
    for count in (2, 3):
        many += [
            tuple(" ".join(side) for side in zip(*pairs[first : first + count], strict=True))
            for first in range(len(pairs) - count)
        ]
    return [CorpusLine(number, *pair) for number, pair in enumerate(many)]


@pytest.fixture(scope="module")
def whole(shipped, lines):
    return counted(shipped, lines)


@pytest.fixture(scope="module")
def sums(shipped, lines):
    """The sums of each line, by its number."""
    return {line.number: counted(shipped, [line]).sums for line in lines}


@pytest.mark.matrix
def test_the_shipped_models_figures_are_those_of_plain_loops(shipped, lines, whole):
    traces = [shipped.trace(line.text, line.second) for line in lines]
    for kind, (layers, heads) in shipped.shape.kinds.items():
        result = figures(whole, kind)
        for name, expected in plain_figures(traces, kind, layers, heads).items():
            np.testing.assert_allclose(result[name].mean, expected, atol=2e-6, err_msg=name)


def test_two_halves_merge_to_the_whole(shipped, lines, whole):
    first, second = counted(shipped, lines[::2]), counted(shipped, lines[1::2], first=1)
    merged = merge(second, first)
    assert_same(merged, whole)
    assert merged.windows == [0, 1]
    assert merged.texts == whole.texts
    assert merged.sample == whole.sample
    for name, array in whole.best.items():
        np.testing.assert_allclose(merged.best[name], array, atol=2e-6)


def test_the_order_of_lines_does_not_matter(shipped, lines, whole):
    order = np.random.default_rng(0).permutation(len(lines))
    assert_same(counted(shipped, [lines[place] for place in order]), whole)


def test_merging_is_the_same_either_way_round(shipped, lines):
    a, b = counted(shipped, lines[:4]), counted(shipped, lines[4:9], first=1)
    for name, array in merge(a, b).sums.items():
        np.testing.assert_array_equal(array, merge(b, a).sums[name])


def test_nothing_is_counted_twice(shipped, lines):
    one = counted(shipped, lines[:2])
    with pytest.raises(ValueError, match="Window 1 of the text is in both"):
        merge(one, one)


def test_counts_of_other_texts_do_not_merge(shipped, lines):
    one, other = counted(shipped, lines[:2]), counted(shipped, lines[:2], first=1)
    other.about = {"text": "b"}
    with pytest.raises(ValueError, match="differ in their text"):
        merge(one, other)


def test_without_targets_the_models_own_are_read(shipped, pairs):
    own = [CorpusLine(number, source) for number, (source, _) in enumerate(pairs)]
    written = [line._replace(second=shipped.translate(line.text).text) for line in own]
    assert_same(counted(shipped, own), counted(shipped, written))


def test_a_decoder_alone_reads_the_first_text(make_model, tokenizer, pairs):
    options = {"encoder_layers": 0, "source_vocab_size": tokenizer.vocab_size}
    model = make_model(**options, target_vocab_size=tokenizer.vocab_size)
    reader = Continuer(model, tokenizer)
    lines = [CorpusLine(number, *pair) for number, pair in enumerate(pairs)]
    traces = [reader.trace(line.text) for line in lines]
    result = figures(counted(reader, lines), "decoder")
    for name, expected in plain_figures(traces, "decoder", *reader.shape.kinds["decoder"]).items():
        np.testing.assert_allclose(result[name].mean, expected, atol=2e-6, err_msg=name)


def test_what_cannot_be_read_or_not_whole_is_counted(translator):
    lines = [
        CorpusLine(0, "I love my cat."),
        CorpusLine(1, "cat " * 60, "chat"),
        CorpusLine(2, "\u200b", "x"),
    ]
    became = counted(translator, lines).lines
    assert became[CUT] == 1
    assert became["counted"] + became["nothing that the model can read"] == 3


def test_batches_stay_within_memory_and_lose_nobody(shipped):
    read_lines = [
        (line, read(shipped, line, []))
        for line in (CorpusLine(number, "word " * (1 + number % 200)) for number in range(300))
    ]
    result = list(batches(shipped, read_lines))
    assert sorted(line.number for batch in result for line, _ in batch) == list(range(300))
    assert all(len(b) == 1 or numbers_of(shipped, len(b), b[-1]) <= NUMBERS_AT_ONCE for b in result)
    assert max(map(len, result)) > 1


def test_a_model_that_sees_padding_reads_only_what_is_as_long(shipped, lines, whole, monkeypatch):
    together = shipped.read_together

    def careless(traces, run):
        together(traces, run)
        if len({lengths(trace) for trace in traces}) > 1:
            for weights in run.trace.looks.values():
                weights.fill_(0.5)

    monkeypatch.setattr(shipped, "read_together", careless)
    assert_same(counted(shipped, lines), whole)


def test_a_sentence_that_a_model_refuses_leaves_the_others(shipped, lines, monkeypatch):
    together = shipped.read_together
    unwanted = read(shipped, lines[3])

    def choosy(traces, run):
        if unwanted in traces:
            raise ValueError("Not this one.")
        together(traces, run)

    monkeypatch.setattr(shipped, "read_together", choosy)
    result = counted(shipped, lines)
    monkeypatch.undo()
    expected = counted(shipped, [line for line in lines if line.number != 3])
    assert result.lines == expected.lines + Counter({REFUSED: 1})
    result.lines = expected.lines
    assert_same(result, expected)


def test_examples_are_the_sentences_with_the_highest_and_lowest_scores(sums, whole):
    for layer, names in enumerate(clearest_pattern(whole, "encoder")):
        name = names[0]
        part = f"encoder/{name}"
        scores = {
            number: found[f"{part}/means"][layer, 0]
            for number, found in sums.items()
            if found[f"{part}/rows"][layer, 0] >= FEWEST
        }
        best = sorted(scores.values(), reverse=True)
        for side, expected in (("clearest", best), ("least", best[::-1])):
            lines_kept = whole.best[f"encoder/{name}/{side}/lines"][layer, 0]
            kept = np.abs(whole.best[f"encoder/{name}/{side}/scores"][layer, 0])
            assert kept == pytest.approx(expected[:KEPT], abs=5e-6)
            assert [scores[number] for number in lines_kept] == pytest.approx(kept, abs=5e-6)


def test_a_pattern_that_has_one_score_a_sentence_has_examples_too(sums, whole):
    scores = [item["cross/diagonal/sum"][1, 0] for item in sums.values()]
    for side, sign in SIGNS.items():
        expected = sorted(scores, key=lambda score: -sign * score)[:KEPT]
        kept = sign * whole.best[f"cross/diagonal/{side}/scores"][1, 0]
        assert kept == pytest.approx(expected, abs=5e-6)


def test_a_sample_does_not_depend_on_the_order():
    lines = [CorpusLine(number, str(number)) for number in range(5_000)]
    whole = sampled(lines)
    assert merge_samples(sampled(lines[3_000:]), sampled(lines[:3_000])) == whole
    middle = np.mean([number for _, number, *_ in whole])
    assert middle == pytest.approx(2_500, rel=0.1)


def test_what_was_counted_holds_no_tensor_that_grows(shipped, lines, whole):
    twice = merge(
        whole, counted(shipped, [line._replace(number=line.number + 99) for line in lines], 1)
    )
    assert {name: array.shape for name, array in twice.sums.items()} == {
        name: array.shape for name, array in whole.sums.items()
    }
    assert twice.sums["encoder/entropy/sum"] == pytest.approx(2 * whole.sums["encoder/entropy/sum"])
    assert not any(torch.is_tensor(array) for array in twice.sums.values())
