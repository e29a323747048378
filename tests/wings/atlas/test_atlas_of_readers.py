"""The atlas of other people's models: batches against single traces, and figures against loops."""

import numpy as np
import pytest
import torch

from headlight.model.corpus import CorpusLine, Window
from headlight.model.insight.ablation import head_removals
from headlight.model.transformer.trace import Site
from headlight.wings.atlas.counting import count_window, read, rows_of
from headlight.wings.atlas.figures import figures
from headlight.wings.atlas.results import definitions_for, measured, sums_of_line
from tests.wings.atlas.plain import plain_figures

NAMES = ("BERT", "GPT-2", "Llama", "T5", "BART", "RoBERTa", "DistilBERT", "ALBERT")


@pytest.fixture(scope="module", params=NAMES)
def reader(request, load, bert, one_thread):
    return bert if request.param == "BERT" else load(request.param)


@pytest.fixture(scope="module")
def lines(pairs):
    return [CorpusLine(number, *pair) for number, pair in enumerate(pairs)]


def traces_of(reader, lines):
    """Each line in a trace of its own."""
    results = []
    for line in lines:
        target = line.second if reader.shape.layers("cross") else None
        second = line.second if target is None and "read a pair" not in reader.missing else None
        results.append(reader.trace(line.text, target, second=second))
    return results


def test_a_batch_has_the_weights_of_each_text_alone(reader, lines):
    traces = traces_of(reader, lines)
    assert len({len(trace.query_tokens(reader.shape.sites[0])) for trace in traces}) > 1
    for rows in rows_of(reader, [read(reader, line) for line in lines]):
        for row, trace in enumerate(traces):
            for layer in range(reader.shape.layers(rows.kind)):
                alone = trace.site_weights(Site(rows.kind, layer))  # (H, Q, K)
                _, queries, keys = alone.shape
                assert rows.queries[row].sum() == queries
                assert rows.present[row].sum() == keys
                batched = rows.weights[layer, row]
                torch.testing.assert_close(batched[:, :queries, :keys], alone)
                assert not batched[:, :queries, keys:].any()


def test_figures_are_those_of_plain_loops(reader, lines):
    traces = traces_of(reader, lines)
    count = count_window(reader, Window(0, lines), {})
    assert count.sentences == len(lines)
    for kind, (layers, heads) in reader.shape.kinds.items():
        result = figures(count, kind)
        for name, expected in plain_figures(traces, kind, layers, heads).items():
            np.testing.assert_allclose(result[name].mean, expected, atol=2e-6, err_msg=name)


def test_effects_are_measured_on_what_the_model_says(reader, lines):
    sums = sums_of_line(reader, lines[3])
    assert sums["tokens"] >= 1
    for kind, shape in reader.shape.kinds.items():
        for name in ("removal", "importance"):
            assert sums[f"{kind}/{name}"].shape == shape
            assert np.isfinite(sums[f"{kind}/{name}"]).all()
        assert sums[f"{kind}/importance"].any()


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("score", "units of the score"),
        ("labels", "nats a label"),
        ("tags", "nats a tag"),
        ("classes", "nats a text"),
        ("GPT-2", "nats a token"),
    ],
)
def test_effects_have_the_unit_of_what_a_model_says(name, unit, load, lines, one_thread):
    reader = load(name)
    trace, objective = measured(reader, lines[3])
    loss, *_ = (each for each in definitions_for(objective) if each.name == "loss")
    assert loss.unit == unit
    assert ("score" in loss.words) == (name == "score")
    sums = sums_of_line(reader, lines[3])
    assert sums["tokens"] == len(objective.ids)
    for site, changes in head_removals(reader, trace, objective=objective):
        lost = sums[f"{site.kind}/removal"][site.layer]
        np.testing.assert_allclose(lost, -changes.numpy(), atol=1e-6)
