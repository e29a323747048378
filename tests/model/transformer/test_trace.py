import pytest
import torch
from torch.testing import assert_close

from headlight.model.decoding.search import decode
from headlight.model.edits.positions import PositionEdit
from headlight.model.insight.scoring import trace_log_probabilities
from headlight.model.trace import Trace
from headlight.model.transformer.cache import KeyValueCache
from headlight.model.transformer.trace import Run, Site

SOURCE_IDS = torch.tensor([[4, 5, 6, 7, 8, 3]])
TARGET_IDS = torch.tensor([[2, 14, 15, 16, 17, 18, 12]])
POSITION_EDITS = (
    PositionEdit(off=True),
    PositionEdit(order=(3, 0, 2, 1)),
    PositionEdit(shift=4),
    PositionEdit(shift=40),  # beyond the table of 32
)


def traced(model, edits):
    trace = Trace()
    model(SOURCE_IDS, TARGET_IDS, Run(edits, trace))
    return trace


def changed_sites(before, after):
    return {
        site
        for site, record in before.attention.items()
        if not torch.equal(record.weights, after.attention[site].weights)
    }


def test_the_recorded_sum_is_what_the_first_layer_reads(make_model):
    model = make_model()
    trace = traced(model, {})
    for side, ids in (("encoder", SOURCE_IDS), ("decoder", TARGET_IDS)):
        record, embedding = trace.embedding[side], getattr(model, side).embedding
        assert torch.equal(record.tokens, embedding.tokens.weight[ids])
        assert torch.equal(record.scaled, record.tokens * 4)  # sqrt(16)
        assert torch.equal(record.positions, embedding.positions.table[: ids.size(1)])
        assert torch.equal(record.states, record.scaled + record.positions)
        assert torch.equal(record.states, embedding(ids))
    states, run, mask = trace.embedding["encoder"].states, Run(), model.source_mask(SOURCE_IDS)
    for layer in model.encoder.layers:
        states = layer(states, mask, run)
    assert torch.equal(model.encoder.norm(states), model.encode(SOURCE_IDS))


@pytest.mark.parametrize("edit", POSITION_EDITS, ids=str)
def test_each_side_is_changed_alone(edit, make_model):
    model = make_model()
    before = traced(model, {})
    decoder = traced(model, {"decoder": edit})
    assert {site.kind for site in changed_sites(before, decoder)} == {"decoder", "cross"}
    encoder = traced(model, {"encoder": edit})
    assert {site.kind for site in changed_sites(before, encoder)} == {"encoder", "cross", "decoder"}
    first = Site("decoder", 0)  # has not met the encoder's output yet
    assert torch.equal(before.attention[first].weights, encoder.attention[first].weights)


def test_an_edit_that_changes_nothing_is_bit_identical(make_model):
    model = make_model()
    plain = model(SOURCE_IDS, TARGET_IDS)
    same = {"encoder": PositionEdit(), "decoder": PositionEdit(order=(0, 1, 2))}
    assert torch.equal(model(SOURCE_IDS, TARGET_IDS, Run(same)), plain)
    assert torch.equal(model(SOURCE_IDS, TARGET_IDS), plain)


@pytest.mark.parametrize("edit", POSITION_EDITS, ids=str)
def test_switched_off_is_a_table_of_zeros_and_moved_is_a_moved_table(edit, make_model):
    model = make_model(positions="learned", max_positions=60)
    changed = traced(model, {"encoder": edit, "decoder": edit})
    for side in (model.encoder, model.decoder):
        table = side.embedding.positions.table
        with torch.no_grad():
            moved = torch.zeros_like(table) if edit.off else table[edit.positions(0, 12)]
            table[:12] = moved[:12]
    assert torch.equal(changed.logits, traced(model, {}).logits)


@pytest.mark.parametrize("edit", POSITION_EDITS, ids=str)
@pytest.mark.parametrize("widths", [1, 3])
def test_stepwise_decoding_has_the_positions_of_teacher_forcing(edit, widths, make_model):
    model = make_model()
    edits = {"encoder": edit, "decoder": edit}
    memory, cache = model.encode(SOURCE_IDS, Run(edits)), KeyValueCache()
    steps = [
        model.decode(ids, memory, model.source_mask(SOURCE_IDS), Run(edits, cache=cache))
        for ids in TARGET_IDS.split(widths, dim=1)
    ]
    assert_close(torch.cat(steps, dim=1), traced(model, edits).logits, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("edit", POSITION_EDITS, ids=str)
def test_a_translation_honours_the_positions(edit, make_model):
    model = make_model()
    edits = {"encoder": edit, "decoder": edit}
    (decoded,) = decode(model, SOURCE_IDS, max_new_tokens=8, edits=edits)
    ids = torch.tensor([[2, *decoded.ids]])
    logits = model(SOURCE_IDS, ids, Run(edits))[0]
    logits[:, [0, 1, 2]] = -torch.inf  # never written
    best = logits.argmax(dim=-1).tolist()
    assert best[: len(decoded.ids)] == decoded.ids


@pytest.mark.matrix
def test_a_text_is_translated_and_traced_with_changed_positions(translator, pairs):
    source, _ = pairs[3]
    edits = {"encoder": PositionEdit(shift=9), "decoder": PositionEdit(off=True)}
    changed = translator.translate(source, edits=edits)
    assert changed.score < translator.translate(source).score
    trace = translator.trace(source, changed, edits=edits)
    assert trace_log_probabilities(trace).sum().item() == pytest.approx(changed.score, abs=1e-3)
    assert not trace.embedding["decoder"].positions.any()
