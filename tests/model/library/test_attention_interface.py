"""Records by the attention interface, against the library's own eager attention."""

import pytest
import torch
from torch.testing import assert_close
from transformers import AttentionInterface, AttentionMaskInterface

from headlight.model.library import attention_interface
from headlight.model.library.attention_interface import NAME, register
from headlight.model.library.decoder_modules import output_projection
from headlight.model.transformer.trace import Site
from tests.model.library.families import (
    DECODERS,
    FAMILIES,
    a_site,
    eager,
    kinds,
    make_inputs,
    traced,
)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("name", FAMILIES)
def test_logits_and_weights_equal_eager_attention(name, attached):
    logits, trace = traced(name, attached)
    expected = eager(name)
    assert_close(logits, expected.logits, atol=1e-6, rtol=0)
    for kind, prefix in kinds(name).items():
        weights = expected[f"{prefix}_attentions" if prefix else "attentions"]
        assert_close(trace.weights(kind), torch.cat(weights), atol=1e-6, rtol=0)
    _, attachment = attached(name)
    assert set(attachment.kinds) == set(kinds(name))
    assert len(trace.attention) == sum(layers for layers, _ in attachment.kinds.values())
    assert max(attachment.parity.outputs, attachment.parity.weights) < 1e-6


@pytest.mark.parametrize("name", FAMILIES)
def test_unwatched_the_model_computes_the_same(name, attached):
    model, _ = attached(name)
    with torch.inference_mode():
        logits = model(**make_inputs(name)).logits
    assert_close(logits, eager(name).logits, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_stages_of_a_record_follow_from_each_other(name, attached):
    _, trace = traced(name, attached)
    for record in trace.attention.values():
        scores = record.query @ record.key.transpose(2, 3) * record.scale
        if record.bias is not None:
            scores = scores + record.bias
        if record.softcap is not None:
            scores = record.softcap * torch.tanh(scores / record.softcap)
        assert_close(record.scores, scores, atol=1e-5, rtol=1e-5)
        closed = record.masked_scores.isinf()
        assert_close(record.masked_scores[~closed], record.scores[~closed])
        assert not record.weights[closed].any()
        others = record.masked_scores.exp().sum(dim=-1)
        if record.sinks is not None:
            others = others + record.sinks.exp()[:, None]
        assert_close(record.weights, record.masked_scores.exp() / others[..., None])
        assert_close(record.heads, record.weights @ record.value)


def test_what_is_special_about_a_family_is_recorded(attached):
    records = {name: traced(name, attached)[1].attention[a_site(name)] for name in FAMILIES}
    with_softcap = {name for name, record in records.items() if record.softcap is not None}
    with_sinks = {name for name, record in records.items() if record.sinks is not None}
    grouped = {name for name, record in records.items() if record.key_heads == 2}
    rotated = {name for name, record in records.items() if record.rotated}
    assert (with_softcap, with_sinks) == ({"Gemma 2"}, {"GPT-OSS"})
    assert grouped == set(DECODERS) - {"GPT-2", "GPT-NeoX", "OPT"}
    assert rotated == (set(DECODERS) - {"GPT-2", "OPT"}) | {"ModernBERT"}
    assert traced("T5", attached)[1].attention[Site("encoder", 1)].bias is not None
    # OPT scales its queries itself, which is undone.
    record = records["OPT"]
    assert record.scale == record.query.size(-1) ** -0.5


def test_the_sinks_take_weight(attached):
    _, trace = traced("GPT-OSS", attached)
    sums = trace.weights("decoder").sum(dim=-1)
    assert (sums < 0.999).all()
    assert (sums > 0).all()


@pytest.mark.parametrize(
    ("name", "left_out"),
    [("Llama", "mask"), ("T5", "mask"), ("Gemma 2", "softcap"), ("T5", "position_bias"),
     ("GPT-OSS", "s_aux"), ("Gemma 3", "scaling")],
)  # fmt: skip
def test_what_is_left_out_is_seen(name, left_out, attached):
    def poorer(*arguments, **options):
        return attention_interface.attention(*arguments, **{**options, left_out: None})

    attached(name)  # registers ours, at first
    try:
        if left_out == "mask":
            AttentionMaskInterface.register(NAME, lambda *_, **__: None)
        else:
            AttentionInterface.register(NAME, poorer)
        logits, _ = traced(name, attached)
    finally:
        register()
    assert (logits - eager(name).logits).abs().max() > 0.01


@pytest.mark.parametrize("name", ["ALBERT", "Mistral", "BART"])
def test_the_overview_has_all_weights_in_bytes(name, attached):
    site = a_site(name)
    everything, whole = traced(name, attached)
    logits, trace = traced(name, attached, full=[site])
    assert torch.equal(logits, everything)
    assert set(trace.attention) == {site}
    assert set(trace.overview) == set(whole.attention) - {site}
    for other, weights in trace.overview.items():
        assert weights.dtype == torch.uint8
        assert weights.shape == whole.attention[other].weights[0].shape
        assert weights.untyped_storage().nbytes() == weights.numel()
    for kind in kinds(name):
        assert_close(trace.weights(kind), whole.weights(kind), atol=0.51 / 255, rtol=0)
    assert torch.equal(trace.weights(site.kind)[1], whole.weights(site.kind)[1])


@pytest.mark.parametrize("name", FAMILIES)
def test_heads_add_up_to_what_the_projection_returns(name, attached):
    model, attachment = attached(name)
    returned = {}
    module_sites = attachment.sites.modules.items()
    handles = [
        output_projection(model, module).register_forward_hook(
            lambda _, __, output, site=sites[-1]: returned.__setitem__(site, output)
        )
        for module, sites in module_sites
    ]
    _, trace = traced(name, attached)
    for handle in handles:
        handle.remove()
    for site, output in returned.items():
        parts = attachment.heads_to_stream(model, site)  # (H, D, d_model)
        module = next(part for part, sites in module_sites if site in sites)
        bias = getattr(output_projection(model, module), "bias", None)
        total = (trace.attention[site].heads @ parts).sum(dim=1)
        assert_close(total if bias is None else total + bias, output, atol=1e-5, rtol=1e-4)
