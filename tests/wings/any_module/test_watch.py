"""Attention seen in any module, against plain code and what transformers returns."""

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from headlight.viz import head_grid
from headlight.wings.any_module.watch import watch
from tests.matrix import first_of
from tests.model.library import families
from tests.model.library.shapes import HEADS, SHAPES, WIDTH, Classifier, build, call, texts
from tests.viz.unpacking import unpack

MASKED = {"annotated": 3, "one matrix": 3, "fused": 3, "einsum": 2, "nn.Transformer": 2}


@pytest.mark.parametrize("shape", SHAPES)
@torch.no_grad()
def test_all_attention_is_seen_and_the_output_is_the_models_own(shape):
    model, inputs = build(shape), texts(shape, rows=2)
    expected = call(model, shape, *inputs)
    with watch(model) as seen:
        output = call(model, shape, *inputs)
    torch.testing.assert_close(output, expected, atol=1e-5, rtol=1e-5)
    assert seen.difference < 1e-5
    assert len(seen.weights("masked")) == MASKED.get(shape, 0)
    assert len(seen.weights("cross")) == {"annotated": 3, "nn.Transformer": 2}.get(shape, 0)
    for record in seen.attention.values():
        assert record.weights.size(1) == HEADS
        torch.testing.assert_close(record.weights @ record.value, record.heads)
        torch.testing.assert_close(record.masked_scores.softmax(-1), record.weights)
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())


@torch.no_grad()
def test_an_encoder_with_padding_is_compared_without_torchs_shortcut():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 2 * WIDTH, batch_first=True)
    model, padding = nn.TransformerEncoder(layer, 2).eval(), torch.zeros(2, 5, dtype=torch.bool)
    padding[1, 3:] = True
    states = torch.randn(2, 5, WIDTH)
    with watch(model) as seen:
        output = model(states, src_key_padding_mask=padding)
    expected = model(states, src_key_padding_mask=padding)
    torch.testing.assert_close(output[~padding], expected[~padding], atol=1e-5, rtol=1e-5)
    assert seen.difference < 1e-5
    assert not seen[0][1, :, :, 3:].any()
    assert torch.backends.mha.get_fastpath_enabled()


@torch.no_grad()
def test_weights_of_multihead_attention_are_those_that_it_returns():
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(WIDTH, HEADS, kdim=6, vdim=5, batch_first=True).eval()
    states = torch.randn(2, 4, WIDTH), torch.randn(2, 7, 6), torch.randn(2, 7, 5)
    hidden = torch.zeros(2, 7, dtype=torch.bool)
    hidden[1, 5:] = True
    mask = torch.randn(2 * HEADS, 4, 7)
    given = {"key_padding_mask": hidden, "attn_mask": mask, "average_attn_weights": False}
    _, weights = attention(*states, **given)
    with watch(attention) as seen:
        output, _ = attention(*states, **given)
    (record,) = seen.attention.values()
    torch.testing.assert_close(record.weights, weights)
    assert list(seen.attention) == ["MultiheadAttention"]
    bias = mask.unflatten(0, (2, HEADS)).masked_fill(hidden[:, None, None], 0)
    torch.testing.assert_close(record.bias.masked_fill(hidden[:, None, None], 0), bias)
    torch.testing.assert_close(output, attention(*states, **given)[0])


@torch.no_grad()
def test_fused_attention_with_shared_keys_scale_and_added_mask():
    class Fused(nn.Module):
        def forward(self, x, y, z, mask):  # (B, T, H * D)
            q, k, v = (part.unflatten(-1, (-1, 8)).transpose(1, 2) for part in (x, y, z))
            return F.scaled_dot_product_attention(q, k, v, mask, scale=0.3, enable_gqa=True)

    torch.manual_seed(0)
    query, key, value = torch.randn(2, 4, 5, 8), torch.randn(2, 2, 6, 8), torch.randn(2, 2, 6, 8)
    mask = torch.randn(5, 6).masked_fill(torch.rand(5, 6) < 0.3, -torch.inf)
    model = Fused().eval()
    with watch(model) as seen:
        model(*(part.transpose(1, 2).flatten(2) for part in (query, key, value)), mask)
    (record,) = seen.attention.values()
    scores = 0.3 * query @ key.repeat_interleave(2, dim=1).transpose(-2, -1) + mask
    torch.testing.assert_close(record.weights, scores.softmax(-1))
    assert record.key_heads == 2
    assert seen.kinds == {"Fused": "cross"}


@torch.no_grad()
def test_head_grid_draws_what_was_seen():
    model = build("fused")
    with watch(model) as seen:
        model(*texts("fused"))
    header, cells = unpack(head_grid(seen), np.uint8)
    assert header["queries"] == [str(token) for token in range(1, 10)]
    expected = torch.cat(list(seen)) * 255
    assert np.array_equal(cells.reshape(expected.shape), expected.round().byte())
    assert "h.2.attn: masked, 4 heads, 9 queries, 9 keys" in repr(seen)


@torch.no_grad()
def test_a_kind_can_be_told_and_a_module_that_attends_again_is_numbered():
    class Twice(Classifier):
        def forward(self, ids):
            states = self.embedding(ids)
            for _ in range(2):
                states = self.attention(states, states, states)[0]
            return states

    model = Twice().eval()
    with watch(model, kinds={"attention": "cross"}) as seen:
        model(torch.tensor([[1, 2, 3]]))
    assert seen.kinds == {"attention": "cross", "attention #2": "cross"}
    with pytest.raises(ValueError, match="'decoder', but of self, masked, cross"):
        seen.weights("decoder")


def test_softmaxes_that_are_no_attention_are_not_seen():
    class Mixture(Classifier):
        """Sends each token to experts, and shares its embedding with its output."""

        def forward(self, ids):
            states = self.embedding(ids)
            gates = (states @ self.out.weight.T).softmax(dim=-1)
            states = states + self.attention(states, states, states)[0] * gates.amax(-1, True)
            return (states @ self.embedding.weight.T).softmax(dim=-1)

    model = Mixture().eval()
    with torch.no_grad(), watch(model) as seen:
        model(torch.tensor([[1, 2, 3]]))
    assert list(seen.attention) == ["attention"]


def test_what_was_seen_keeps_its_gradients():
    model = build("one matrix")
    with watch(model) as seen:
        output = model(*texts("one matrix"))[0]
    (gradient,) = torch.autograd.grad(output[0, -1, 3], seen.attention["h.1.attn"].scores)
    assert gradient.abs().max() > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.Linear(2, 2).eval(), "attended nowhere"),
        (Classifier, "in training mode"),
        (lambda: Classifier().eval().to("meta"), "no weights yet"),
        (lambda: torch.compile(Classifier().eval()), "compiled"),
    ],
)
def test_what_cannot_be_watched_is_said(make, message):
    model = make()
    inputs = torch.ones(1, 2) if isinstance(model, nn.Linear) else torch.tensor([[1, 2]])
    with pytest.raises(ValueError, match=message), watch(model):
        model(inputs)


def test_a_model_must_be_called_and_compute_the_same_again():
    with pytest.raises(ValueError, match="was not called"), watch(Classifier().eval()):
        pass

    class Counting(Classifier):
        count = 0

        def forward(self, ids):
            self.count += 1
            return super().forward(ids) + self.count

    model = Counting().eval()
    with pytest.raises(ValueError, match="differs by 1"), watch(model):
        model(torch.tensor([[1, 2]]))

    keyed = nn.MultiheadAttention(WIDTH, HEADS, add_bias_kv=True).eval()
    with pytest.raises(ValueError, match="no token"), watch(keyed):
        keyed(*[torch.randn(2, 1, WIDTH)] * 3)


def test_a_query_with_every_key_masked_is_named_as_what_makes_no_number():
    model = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True).eval()
    states, later = [torch.ones(1, 3, WIDTH)] * 3, torch.ones(3, 3, dtype=torch.bool).triu(1)
    for padding in ([[False, False, True]], [[True, False, False]]):
        masks = {"key_padding_mask": torch.tensor(padding), "attn_mask": later}
        refused = pytest.raises(ValueError, match="every key is masked")
        with refused if padding[0][0] else nullcontext(), watch(model):
            model(*states, **masks)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("family", first_of([*families.FAMILIES]))
@torch.no_grad()
def test_families_of_transformers_are_seen_as_they_say_themselves(family, attention):
    if attention == "sdpa" and family in ("Gemma 2", "GPT-OSS"):
        pytest.skip("caps its scores or has sinks, which fused attention does not know")
    model, inputs = families.make_model(family, attention), families.make_inputs(family)
    with watch(model) as seen:
        model(**inputs)
    expected = families.eager(family)
    names = ("encoder_attentions", "decoder_attentions", "cross_attentions", "attentions")
    theirs = [layer for name in names for layer in getattr(expected, name, None) or ()]
    assert len(seen) == len(theirs)
    found = sorted(seen, key=lambda weights: weights[0, 0, 2, 0].item())
    theirs.sort(key=lambda weights: weights[0, 0, 2, 0].item())
    for ours, other in zip(found, theirs, strict=True):
        ours = ours[..., : other.size(-1)]  # without a sink
        torch.testing.assert_close(ours, other, atol=2e-6, rtol=1e-5)
