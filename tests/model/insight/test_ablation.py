from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.ablation import head_removals, without_each_head
from headlight.model.insight.scoring import next_log_probabilities
from headlight.model.library.loading import load_bert
from headlight.model.shape import Shape
from headlight.model.transformer.trace import Run, Site
from tests.model.insight.recording import HEADS, SITES, reader_of, record, tokens

SOURCE = torch.tensor([[4, 5, 6, 7, 8, 9, 3]])
TARGET = torch.tensor([[2, 14, 15, 16, 17, 18]])
EDITS = {
    Site("encoder", 1): AttentionEdit(gate=torch.tensor([1.0, 0.0, 0.5, 1.0])),
    Site("decoder", 0): AttentionEdit(block=torch.eye(8, dtype=torch.bool), scale=0.3),
    Site("cross", 1): AttentionEdit(gate=torch.tensor([0.25, 1.0, 1.0, 1.0])),
}


def removals_of(model, edits=None):
    trace = record(model, edits, tokens(*SOURCE[0].tolist()), tokens(*TARGET[0].tolist()))
    return head_removals(reader_of(model), trace, edits)


def score(model, edits, source=SOURCE, target=TARGET):
    logits = model(source, target, Run(edits))
    return next_log_probabilities(logits, target[0]).sum(dim=-1)


def one_removed(edits, site, head):
    """The edits with one head's gate at 0, for a run of its own."""
    edit = edits.get(site, AttentionEdit())
    gate = torch.ones(HEADS) if edit.gate is None else edit.gate.clone()
    gate[head] = 0
    return edits | {site: replace(edit, gate=gate)}


@pytest.mark.parametrize("edits", [{}, EDITS], ids=["as trained", "with edits in force"])
def test_each_removal_equals_a_run_with_that_one_gate_at_zero(model, edits):
    result = dict(removals_of(model, edits))
    assert set(result) == set(SITES)
    whole = score(model, edits)
    for site in SITES:
        alone = torch.stack(
            [score(model, one_removed(edits, site, head)) - whole for head in range(HEADS)]
        )
        assert_close(result[site], alone[:, 0], atol=1e-5, rtol=0)


def test_the_edits_in_force_are_left_as_they_were(model):
    gates = {site: edit.gate.clone() for site, edit in EDITS.items() if edit.gate is not None}
    list(removals_of(model, EDITS))
    assert list(EDITS) == [Site("encoder", 1), Site("decoder", 0), Site("cross", 1)]
    for site, gate in gates.items():
        assert torch.equal(EDITS[site].gate, gate)


def test_every_row_of_a_batch_lacks_one_head_of_one_site():
    site, other = Site("decoder", 0), Site("cross", 0)
    heads = [(site, 0), (site, 1), (other, 0), (other, 1)]
    shape = Shape({"decoder": (1, 2), "cross": (1, 2)}, 8)
    edits = without_each_head({site: AttentionEdit(torch.tensor([1.0, 0.5]))}, heads, shape)
    assert edits[site].gate.tolist() == [[0, 0.5], [1, 0], [1, 0.5], [1, 0.5]]
    assert edits[other].gate.tolist() == [[1, 1], [1, 1], [0, 1], [1, 0]]


@pytest.mark.parametrize("site", SITES, ids=str)
def test_rows_with_gates_of_their_own_equal_separate_runs(model, site):
    gates = torch.tensor([[1.0, 0.0, 0.5, 1.0], [0.0, 0.0, 1.0, 0.25], [1.0, 1.0, 1.0, 1.0]])
    together = model(SOURCE.expand(3, -1), TARGET.expand(3, -1), Run({site: AttentionEdit(gates)}))
    spread = model(SOURCE, TARGET, Run({site: AttentionEdit(gates)}))
    for row, gate in enumerate(gates):
        alone = model(SOURCE, TARGET, Run({site: AttentionEdit(gate)}))[0]
        assert_close(together[row], alone, atol=1e-5, rtol=0)
        assert_close(spread[row], alone, atol=1e-5, rtol=0)


def test_gates_of_one_change_nothing_bit_for_bit(model):
    ones = {site: AttentionEdit(torch.ones(1, HEADS)) for site in SITES}
    assert torch.equal(model(SOURCE, TARGET, Run(ones)), model(SOURCE, TARGET))


def test_a_model_with_more_encoder_than_decoder_layers_is_covered(make_model):
    result = dict(removals_of(make_model(encoder_layers=3, decoder_layers=1)))
    sizes = [("encoder", 0), ("encoder", 1), ("encoder", 2), ("decoder", 0), ("cross", 0)]
    assert [tuple(site) for site in result] == sizes


def test_fewer_runs_side_by_side_say_the_same(model, monkeypatch):
    together = dict(removals_of(model))
    monkeypatch.setattr("headlight.model.insight.scoring.NUMBERS_AT_ONCE", 3 * 6 * 20)
    apart = dict(removals_of(model))
    for site in SITES:
        assert_close(apart[site], together[site], atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("kind", "masked"),
    [
        ("BertForMaskedLM", [2, 4]),
        ("BertForSequenceClassification", []),
        ("BertForQuestionAnswering", []),
    ],
)
def test_heads_of_a_bert_are_removed_from_what_it_says(kind, masked, make_bert_folder):
    reader = load_bert(make_bert_folder(kind))
    trace = reader.trace("the cat sat.", second="it was playing!", masked=masked)
    objective = reader.objective(trace)

    def score(logits):
        chosen = logits[0].log_softmax(-1)[list(objective.rows), list(objective.ids)]
        return chosen.sum()

    result = dict(head_removals(reader, trace))
    assert list(result) == reader.shape.sites
    for site in (Site("encoder", 0), Site("encoder", 2)):
        for head in (0, 3):
            gate = torch.ones(HEADS)
            gate[head] = 0
            with torch.inference_mode():
                alone = reader.rerun(trace, Run({site: AttentionEdit(gate)}))
            assert_close(result[site][head], score(alone) - score(trace.logits), atol=1e-4, rtol=0)


def test_without_anything_to_measure_on_the_reason_is_said(bert):
    with pytest.raises(
        ValueError, match="Without a prediction, the effect of a head cannot be measured"
    ):
        list(head_removals(bert, bert.trace("the cat sat.")))
