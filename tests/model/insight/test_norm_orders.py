import pytest
import torch
from torch.testing import assert_close

from model import load_bert
from model.insight.lens import stream_norms
from model.insight.norm_orders import norm_orders
from model.memory_layout import lay_out
from model.trace import AttentionEdit, PositionEdit, Site
from tests.model.insight.recording import record

EDITS = {
    Site("cross", 0): AttentionEdit(gate=torch.tensor([0.0, 1.0, 0.5, 1.0])),
    "encoder": PositionEdit(off=True),
}


@pytest.mark.parametrize("edits", [{}, EDITS], ids=["as trained", "with edits"])
@pytest.mark.parametrize(("trained", "other"), [("pre", "post"), ("post", "pre")])
def test_the_other_order_is_a_model_of_that_order_with_the_same_weights(
    make_model, trained, other, edits
):
    model = make_model(seed=1, norm=trained)
    twin = make_model(seed=9, norm=other)
    twin.load_state_dict(model.state_dict(), strict=False)
    if other == "pre":
        for stack in (twin.encoder, twin.decoder):
            torch.nn.init.ones_(stack.norm.weight)
            torch.nn.init.zeros_(stack.norm.bias)
    trace = record(model, edits)
    found = norm_orders(model, trace, edits)
    assert list(found) == [trained, other]
    for side in ("encoder", "decoder"):
        expected = {
            trained: stream_norms(trace, side),
            other: stream_norms(record(twin, edits), side),
        }
        for order, rows in expected.items():
            assert [label for label, _ in found[order][side]] == [label for label, _ in rows]
            for (_, here), (_, there) in zip(found[order][side], rows, strict=True):
                assert_close(here, there, atol=1e-5, rtol=1e-5)


def test_trying_the_other_order_leaves_the_model_as_it_was(model, trace):
    before = {name: id(parameter) for name, parameter in model.named_parameters()}
    norm_orders(model, trace)
    assert {name: id(parameter) for name, parameter in model.named_parameters()} == before
    assert torch.equal(record(model).logits, trace.logits)


def test_a_model_laid_out_for_decoding_has_the_same_orders(make_model, model, trace):
    laid_out = lay_out(make_model(seed=1))
    expected, found = norm_orders(model, trace), norm_orders(laid_out, record(laid_out))
    for (_, here), (_, there) in zip(
        found["post"]["decoder"], expected["post"]["decoder"], strict=True
    ):
        assert_close(here, there, atol=1e-5, rtol=0)


@torch.inference_mode()
def test_the_norm_orders_of_a_bert_share_its_weights(make_bert_folder):
    reader = load_bert(make_bert_folder())
    reading = reader.trace("the cat sat.")
    orders = norm_orders(reader.model, reading)
    assert list(orders) == ["post", "pre"]
    assert [list(sides) for sides in orders.values()] == [["encoder"], ["encoder"]]
    trained, other = (sides["encoder"] for sides in orders.values())
    for (name, found), (same, expected) in zip(
        trained, stream_norms(reading, "encoder"), strict=True
    ):
        assert name == same
        assert_close(found, expected)
    # Both read the same first vector, and part from there.
    assert_close(other[0][1], trained[0][1])
    assert (other[1][1] - trained[1][1]).abs().max() > 1e-3
    assert not reader.model.layers[0].attention_residual.norm_first
