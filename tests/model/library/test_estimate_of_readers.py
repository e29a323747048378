"""Estimates in models of the transformers library, against autograd in the library's own code."""

from types import SimpleNamespace

import pytest
import torch
import transformers
from torch.testing import assert_close

from headlight.model.insight.ablation import without_each_head
from headlight.model.insight.estimate import estimated_closings, estimated_removals, gaps
from headlight.model.insight.scoring import log_probability
from headlight.model.transformer.trace import Run, Site
from tests.model.library.conftest import FOLDERS

TEXT, TARGET = "I love my cat.", "J'aime mon chat."
# For each: the class, what reads the heads side by side in a layer, and the site of that layer.
MODELS = {
    "GPT-2": ("GPT2LMHeadModel", "transformer.h.1.attn.c_proj", Site("decoder", 1)),
    "Llama": ("LlamaForCausalLM", "model.layers.0.self_attn.o_proj", Site("decoder", 0)),
    "BART": (
        "BartForConditionalGeneration",
        "model.decoder.layers.1.encoder_attn.out_proj",
        Site("cross", 1),
    ),
    "T5": (
        "T5ForConditionalGeneration",
        "encoder.block.0.layer.0.SelfAttention.o",
        Site("encoder", 0),
    ),
}
EVERY = pytest.mark.parametrize("name", MODELS)
NAMES = {"encoder": "encoder_attentions", "cross": "cross_attentions", "decoder": "attentions"}


@pytest.fixture
def read(load):
    """A function from the name of a model to its reader and a trace of the text."""

    def get(name):
        reader = load(name)
        target = TARGET if "cross" in reader.shape.kinds else None
        masked = [] if "mask words" in reader.missing else [2]
        return reader, reader.trace(TEXT, target, masked=masked)

    return get


def theirs(name, folder, trace):
    """The gradients of the library's own eager model: of joined heads, and of weights."""
    kind, place, site = MODELS[name]
    model = getattr(transformers, kind).from_pretrained(folder, attn_implementation="eager").eval()
    captured = SimpleNamespace(joined=None)
    model.get_submodule(place).register_forward_pre_hook(
        lambda module, inputs: setattr(captured, "joined", inputs[0])
    )
    source, target = (
        torch.tensor([[token.id for token in tokens]])
        for tokens in (trace.source_tokens, trace.target_tokens)
    )
    inputs = {"input_ids": target}
    if trace.source_tokens:
        inputs = {"input_ids": source, "decoder_input_ids": target}
    outputs = model(**inputs, output_attentions=True, use_cache=False)
    weights = outputs[NAMES[site.kind]][site.layer]
    return outputs.logits[0].log_softmax(dim=-1), captured.joined, weights


@EVERY
def test_they_agree_with_the_librarys_own_gradients(name, read, transformers_folders):
    reader, trace = read(name)
    objective, site = reader.objective(trace), MODELS[name][2]
    logits, joined, weights = theirs(name, transformers_folders[name], trace)
    score = logits[list(objective.rows), list(objective.ids)].sum()
    of_heads, of_weights = torch.autograd.grad(score, [joined, weights])
    count = reader.shape.heads(site.kind)
    expected = -(joined * of_heads)[0].unflatten(-1, (count, -1)).sum(dim=(0, 2)).detach()
    assert expected.abs().max() > 1e-3
    assert_close(estimated_removals(reader, trace)[site], expected, atol=1e-4, rtol=1e-3)
    result = estimated_closings(reader, trace, site)
    for head, query, key in ((0, 1, 0), (1, 3, 2), (2 % count, 2, 1)):
        row = weights[0, head, query].detach()
        without = row.clone()
        without[key] = 0
        change = without / without.sum() - row
        one = (change * of_weights[0, head, query]).sum()
        assert_close(result[head, query, key], one, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("name", FOLDERS)
def test_every_model_that_says_something_has_them(name, read):
    reader, trace = read(name)
    objective = reader.objective(trace)
    if objective is None:
        with pytest.raises(ValueError, match="cannot be measured"):
            estimated_removals(reader, trace)
        return
    result = estimated_removals(reader, trace)
    assert list(result) == list(reader.shape.sites)
    site, step = reader.shape.sites[-1], 0.02
    ends = []
    for factor in (1 + step, 1 - step):
        edits = without_each_head({}, [(site, 1)], reader.shape)
        edits[site].gate[0, 1] = factor
        with torch.inference_mode():
            ends.append(log_probability(reader, trace, objective, Run(edits)).item())
    assert result[site][1].item() == pytest.approx((ends[1] - ends[0]) / (2 * step), abs=3e-3)
    cells = estimated_closings(reader, trace, site)
    assert cells.isfinite().any()
    assert all(parameter.grad is None for parameter in reader.model.parameters())
    (gap,) = gaps(reader, trace, [(site, 1)])
    assert 0 < gap.sharpness <= 1
