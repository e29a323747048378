"""Edits by the attention interface, against hooks on eager attention that know nothing of it."""

import inspect
import threading

import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits import EXTRA, Edits
from headlight.model.edits.attention import AttentionEdit
from headlight.model.library.decoder_modules import output_projection
from headlight.model.transformer.trace import Run, Site
from tests.matrix import first_of
from tests.model.library.families import (
    FAMILIES,
    PAIRS,
    a_site,
    kinds,
    make_inputs,
    make_model,
    traced,
)

pytestmark = pytest.mark.usefixtures("one_thread")


def changed_by_hook(name, attached, site, edit):
    """The logits under an edit of one site, of eager attention with hooks that know nothing of it.

    A gate is a slice of what the output projection reads, given weights are another of what it
    reads, and cells are cells of a float mask.
    """
    _, trace = traced(name, attached)
    model = make_model(name)
    theirs, attachment = attached(name)
    module = next(part for part, sites in attachment.sites.modules.items() if site in sites)
    place = next(place for place, part in theirs.named_modules() if part is module)
    ours = model.get_submodule(place)
    call = attachment.sites.modules[module].index(site)
    calls = {"projection": -1, "attention": -1}

    def change_heads(projection, inputs):
        calls["projection"] += 1
        if calls["projection"] != call:
            return None
        if edit.weights is not None:
            return ((edit.weights @ trace.attention[site].value).transpose(1, 2).flatten(2),)
        joined = inputs[0].unflatten(-1, (len(edit.gate), -1))
        return ((joined * edit.gate[:, None]).flatten(-2),)

    def change_mask(attention, inputs, options):
        calls["attention"] += 1
        if calls["attention"] != call:
            return None
        bound = inspect.signature(attention.forward).bind(*inputs, **options)
        values = {**bound.arguments, **bound.arguments.pop("kwargs", {})}
        mask_name = (
            "mask"
            if "mask" in inspect.signature(attention.forward).parameters
            else ("attention_mask")
        )
        mask = values.get(mask_name)
        size = next(part.shape[-2:] for part in on_scores if part is not None)
        mask = torch.zeros(1, 1, *size) if mask is None else mask
        mask = mask.expand(-1, -1, *size)
        if edit.open is not None:
            mask = mask.masked_fill(edit.open, 0.0)
        if edit.block is not None:
            mask = mask.masked_fill(edit.block, torch.finfo(mask.dtype).min)
        values[mask_name] = mask if edit.bias is None else mask + edit.bias
        return (), values

    if edit.gate is not None or edit.weights is not None:
        output_projection(model, ours).register_forward_pre_hook(change_heads)
    on_scores = edit.block, edit.open, edit.bias
    if any(part is not None for part in on_scores):
        ours.register_forward_pre_hook(change_mask, with_kwargs=True)
    if edit.scale is not None:
        ours.scaling = edit.scale
    with torch.inference_mode():
        return model(**make_inputs(name)).logits


def cells_of(name, site, *places):
    """Cells (Q, K) that are True in some places."""
    queries, keys = (8 if name in PAIRS and site.kind != "encoder" else 11,) * 2
    keys = 11 if site.kind == "cross" else keys
    cells = torch.zeros(queries, keys, dtype=torch.bool)
    for item in places:
        cells[item] = True
    return cells


SITES = [(name, kind) for name in FAMILIES for kind in kinds(name)]


@pytest.mark.parametrize(("name", "kind"), first_of(SITES, 12))
def test_edits_equal_hooks(name, kind, attached):
    site = Site(kind, 1)
    plain, trace = traced(name, attached)
    heads = attached(name)[1].kinds[kind][1]
    edits = {
        "gate": AttentionEdit(gate=torch.linspace(0, 1, heads)),
        "block": AttentionEdit(block=cells_of(name, site, (5, 4), (7, 6), (7, 2))),
        "open": AttentionEdit(open=cells_of(name, site, (2, 6), (7, 0))),
        "scale": AttentionEdit(scale=0.1),
        "bias": AttentionEdit(bias=torch.randn(heads, *cells_of(name, site).shape)),
        "weights": AttentionEdit(weights=trace.attention[site].weights[0].roll(1, dims=0)),
    }
    if kind != "decoder" and name != "ModernBERT":
        del edits["open"]  # nothing is closed
    if name in ("ModernBERT", "ALBERT"):
        del edits["scale"]  # no attribute of one layer holds it
    if trace.attention[site].softcap is not None:
        del edits["bias"]  # the cap comes between it and the mask
    for what, edit in edits.items():
        logits, _ = traced(name, attached, {site: edit})
        assert_close(logits, changed_by_hook(name, attached, site, edit), atol=2e-5, rtol=1e-5)
        assert (logits - plain).abs().max() > 1e-4, what


@pytest.mark.parametrize("mask", EXTRA.values(), ids=EXTRA.keys())
def test_a_mask_equals_a_mask_of_numbers(mask, attached):
    """Whatever mask there is, on a model of its kind."""
    kind = "decoder" if "decoder" in mask.kinds else mask.kinds[-1]
    name = "Llama" if kind == "decoder" else "T5"
    site = Site(kind, 1)
    edits = Edits(masks={(mask.name, kind): mask.offered[0]})
    heads = attached(name)[1].kinds[kind][1]
    edit = edits.at_site(site, heads, 11)
    plain, _ = traced(name, attached)
    logits, _ = traced(name, attached, {site: edit})
    assert_close(logits, changed_by_hook(name, attached, site, edit), atol=2e-5, rtol=1e-5)
    assert (logits - plain).abs().max() > 1e-5


@pytest.mark.parametrize("name", FAMILIES)
def test_a_query_whose_keys_are_all_closed_takes_nothing(name, attached):
    site = a_site(name)
    logits, trace = traced(name, attached, {site: AttentionEdit(block=cells_of(name, site, (4,)))})
    record = trace.attention[site]
    assert not record.weights[:, :, 4].any()
    assert not record.heads[:, :, 4].any()
    assert record.weights[:, :, 3].any()
    assert logits.isfinite().all()


@pytest.mark.parametrize("name", ["DistilBERT", "Gemma 2", "GPT-OSS", "T5"])
def test_a_batch_of_edits_equals_one_after_the_other(name, attached):
    site = a_site(name)
    heads = attached(name)[1].kinds[site.kind][1]
    gates = 1 - torch.eye(heads)
    blocks = torch.stack([
        torch.stack([cells_of(name, site, (6, key)) for _ in range(heads)])
        for key in range(heads)
    ])  # fmt: skip
    inputs = {part: ids.expand(heads, -1) for part, ids in make_inputs(name).items()}
    edit = AttentionEdit(gate=gates, block=blocks)
    together, _ = traced(name, attached, {site: edit}, **inputs)
    for row in range(heads):
        alone, _ = traced(name, attached, {site: AttentionEdit(gate=gates[row], block=blocks[row])})
        assert_close(together[row], alone[0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["BERT", "Llama", "T5"])
def test_gradients_reach_the_gates_of_every_site(name, attached):
    model, attachment = attached(name)
    gates = {
        Site(kind, layer): torch.ones(heads, requires_grad=True)
        for kind, (layers, heads) in attachment.kinds.items()
        for layer in range(layers)
    }
    edits = {site: AttentionEdit(gate=gate) for site, gate in gates.items()}
    with attachment.watching(Run(edits)):
        model(**make_inputs(name)).logits.logsumexp(dim=-1).sum().backward()
    assert all(gate.grad.abs().min() > 0 for gate in gates.values())
    # One of them, against a difference.
    site, step = a_site(name), 1e-2
    sums = []
    for sign in (-1, 1):
        gate = torch.ones_like(gates[site])
        gate[1] += sign * step
        logits, _ = traced(name, attached, {site: AttentionEdit(gate=gate.detach())})
        sums.append(logits.logsumexp(dim=-1).sum().item())
    assert_close(gates[site].grad[1].item(), (sums[1] - sums[0]) / (2 * step), rtol=0.05, atol=0.02)


def test_threads_with_other_edits_share_a_model(attached):
    name, site = "Llama", Site("decoder", 1)
    edits = [{site: AttentionEdit(gate=1 - torch.eye(4)[head])} for head in range(4)]
    expected = [traced(name, attached, edit) for edit in edits]
    wrong = []

    def repeat(which):
        for _ in range(25):
            logits, trace = traced(name, attached, edits[which])
            same = torch.equal(logits, expected[which][0])
            heads = trace.attention[site].heads
            if not same or heads[:, which].any() or len(trace.attention) != 3:
                wrong.append(which)

    threads = [threading.Thread(target=repeat, args=(which,)) for which in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
