"""The models that courses begin with: recorded as plain code computes, and edited in place."""

import pytest
import torch
from torch import nn
from torch.nn.attention.flex_attention import flex_attention

from headlight.model.edits.attention import AttentionEdit, Closed
from headlight.model.library.hub import LoadingError
from headlight.model.questions import Request
from headlight.model.transformer.attention import UNCHANGED, Edit
from headlight.model.transformer.trace import Run, Site
from headlight.wings.any_module.opening import open_model
from headlight.wings.any_module.watch import watch
from tests.wings.any_module.first_models import (
    HEADS,
    PAD,
    WIDTH,
    WORDS,
    Both,
    Flexible,
    Folding,
    Lecture,
    Padded,
    Translation,
    build,
    call_translation,
)

TEXT = "5 7 9 4 12"
IDS = torch.tensor([[5, 7, 9, 4, 12], [3, 8, 2, 2, 6]])
RIGHT = torch.tensor([[5, 7, 9, 4, 12], [3, 8, 2, PAD, PAD]])
LEFT = torch.tensor([[5, 7, 9, 4, 12], [PAD, PAD, 3, 8, 2]])
FULL = "-inf", "-1e9"
GATE = torch.tensor([1.0, 0.0, 0.3, 1.0])


def split(states):
    """(B, T, WIDTH) -> (B, HEADS, T, D)"""
    return states.unflatten(-1, (HEADS, -1)).transpose(1, 2)


def plain_weights(layer, states, mask):
    """The weights of a layer of `Padded`, from its matrix."""
    query, key, _ = (split(part) for part in layer.maps(states).chunk(3, dim=-1))
    scores = query @ key.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5
    return scores.masked_fill(~mask, layer.closed).softmax(-1)


def seen_by(model, ids):
    """The mask (B, 1, Q, K) of `Padded`."""
    length = ids.size(1)
    return torch.ones(length, length).tril().bool() & (ids != model.pad)[:, None, None]


def states_of(model, ids):
    return model.words(ids) + model.places(torch.arange(ids.size(1)))


@pytest.mark.parametrize("closed", FULL)
@pytest.mark.parametrize(("pad", "words"), [(PAD, WORDS), (4, WORDS), (0, 9), (8, 9), (PAD, 4)])
@torch.no_grad()
def test_a_decoder_that_hides_its_padding_opens_whatever_the_id(closed, pad, words):
    model = build(lambda: Padded(float(closed), words, pad=pad))
    reader = open_model(model, padding=pad)
    assert reader.shape.kinds == {"decoder": (2, HEADS)}
    ids = torch.tensor([[each for each in range(words) if each != pad][:5]])
    trace = reader.trace(" ".join(map(str, ids[0].tolist())))
    torch.testing.assert_close(trace.logits, model(ids))
    expected = plain_weights(model.layers[0], states_of(model, ids), seen_by(model, ids))
    torch.testing.assert_close(trace.attention[Site("decoder", 0)].weights, expected)
    assert open_model(model).shape == reader.shape  # which finds the hidden id


@pytest.mark.parametrize("closed", FULL)
@pytest.mark.parametrize("ids", [RIGHT, LEFT])
@torch.no_grad()
def test_a_padded_batch_is_masked_on_whichever_side_its_padding_is(closed, ids):
    model = build(lambda: Padded(float(closed), layers=1))
    expected = model(ids)
    with watch(model) as seen:
        output = model(ids)
    torch.testing.assert_close(output, expected, equal_nan=True)
    assert seen.kinds == {"layers.0": "masked"}
    mask = seen_by(model, ids)
    weights = plain_weights(model.layers[0], states_of(model, ids), mask)
    torch.testing.assert_close(seen[0], weights.nan_to_num(0.0))
    empty = ~mask.any(dim=-1)[1, 0]
    assert empty.tolist() == [bool(ids is LEFT and n < 2) for n in range(5)]
    assert (seen[0][1, :, empty] == (0 if closed == "-inf" else 0.2)).all()


class Backward(Padded):
    """Each token sees itself and later ones."""

    def forward(self, ids):
        mask = torch.ones(ids.size(1), ids.size(1)).triu().bool()[None, None]
        return self.layers[0](states_of(self, ids), mask)


@pytest.mark.parametrize("make", [Backward, Both])
@torch.no_grad()
def test_what_sees_later_tokens_is_not_called_masked(make):
    model = build(make)
    for ids in (IDS, LEFT):
        with watch(model) as seen:
            model(ids)
        assert {*seen.kinds.values()} == {"self"}
    assert next(iter(open_model(model).shape.kinds)) == "encoder"


@torch.no_grad()
def test_a_text_of_which_all_becomes_no_number_is_refused_with_its_module():
    model = build(lambda: Padded(float("-inf"), layers=3))
    with pytest.raises(ValueError, match=r"not a number \(NaN\) in layers\.2"), watch(model):
        model(LEFT)


@torch.no_grad()
def test_texts_of_other_lengths_are_padded_with_the_models_own_id():
    model = build(Translation)
    reader = open_model(model, call=call_translation, start=2, end=3, padding=PAD)
    assert {*reader.shape.kinds.values()} == {(2, HEADS)}
    traces = [reader.tokenized(Request(text, "6 8")) for text in ("5 7 9 4 12", "8 6")]
    together = reader.together(traces, Run())
    for row, trace in zip(together, traces, strict=True):
        ids = [
            torch.tensor([[t.id for t in side]])
            for side in (trace.source_tokens, trace.target_tokens)
        ]
        torch.testing.assert_close(row, call_translation(model, *ids)[0], atol=1e-5, rtol=1e-5)
    padded = reader.trace("8 6", "6 8", pad_to=5)
    assert [token.is_padding for token in padded.source_tokens] == [False, False, True, True, True]
    assert not padded.attention[Site("encoder", 1)].weights[..., 2:].any()
    torch.testing.assert_close(padded.logits[0, :3], together[1], atol=1e-5, rtol=1e-5)
    source = torch.tensor([[8, 6, PAD, PAD, PAD]])
    states = model.source(source.T) + model.places[:5]
    attention = model.transformer.encoder.layers[0].self_attn
    _, weights = attention(
        *[states] * 3, key_padding_mask=source == PAD, average_attn_weights=False
    )
    torch.testing.assert_close(padded.attention[Site("encoder", 0)].weights, weights)
    with pytest.raises(ValueError, match="the model takes"):
        reader.trace("8 6", "6 8", pad_to=9999)
    without = open_model(model, call=call_translation, start=2, end=3)
    with pytest.raises(ValueError, match="padding="):
        without.together(traces, Run())


@pytest.mark.parametrize("padding", [WORDS, -1, True, "1"])
def test_padding_is_an_id_of_the_model(padding):
    with pytest.raises(LoadingError, match=rf"is no id of this model, which knows {WORDS} tokens"):
        open_model(build(Both), padding=padding)


def test_padding_that_the_model_does_not_hide_is_refused():
    assert "pad" not in open_model(build(Both), padding=PAD).missing
    with pytest.raises(LoadingError, match="does not hide this id"):
        open_model(build(Both), padding=5)


def plain_heads(module, x, edit_of=lambda head, scores: scores):
    """The heads of `Heads` one by one: weights (B, HEADS, T, T), and values."""
    weights, values = [], []
    for n, head in enumerate(module.heads):
        scores = head.query(x) @ head.key(x).transpose(1, 2) * (WIDTH // HEADS) ** -0.5
        later = torch.ones(x.size(1), x.size(1)).triu(1).bool()
        weights.append(edit_of(n, scores).masked_fill(later, -torch.inf).softmax(-1))
        values.append(head.value(x))
    return torch.stack(weights, dim=1), torch.stack(values, dim=1)


@pytest.mark.parametrize("fused", [False, True])
@torch.no_grad()
def test_modules_of_one_head_are_the_heads_of_a_layer(fused):
    model = build(lambda: Lecture(fused))
    expected = model(IDS)
    with watch(model) as seen:
        output = model(IDS)
    torch.testing.assert_close(output, expected)
    assert seen.kinds == {f"blocks.{n}.attention.heads": "masked" for n in range(3)}
    states = model.blocks[0]["norm"](states_of(model, IDS))
    weights, values = plain_heads(model.blocks[0]["attention"], states)
    record = seen.attention["blocks.0.attention.heads"]
    torch.testing.assert_close(record.weights, weights)
    torch.testing.assert_close(record.value, values)
    torch.testing.assert_close(record.weights @ record.value, record.heads)
    scores = record.query @ record.key.transpose(-2, -1) * (WIDTH // HEADS) ** -0.5
    torch.testing.assert_close(record.scores, scores)

    reader = open_model(model)
    assert reader.shape.kinds == {"decoder": (3, HEADS)}
    trace = reader.trace(TEXT)
    assert [*trace.attention] == [Site("decoder", n) for n in range(3)]
    torch.testing.assert_close(trace.attention[Site("decoder", 0)].weights, weights[:1])
    torch.testing.assert_close(trace.logits, expected[:1])


class Sharper(Edit):
    def score(self, query, key, scale):
        return 3 * super().score(query, key, scale)

    def mix(self, weights, value):
        return super().mix(weights, value) * torch.arange(1.0, 1 + value.size(1))[:, None, None]


@pytest.mark.parametrize("fused", [False, True])
@torch.no_grad()
def test_an_edit_reaches_the_modules_of_its_heads(fused):
    model = build(lambda: Lecture(fused))
    reader, site = open_model(model), Site("decoder", 1)
    inputs = []
    hook = model.blocks[1]["norm"].register_forward_hook(lambda *call: inputs.append(call[2]))
    model(IDS[:1])
    hook.remove()
    module = model.blocks[1]["attention"]
    block = torch.zeros(HEADS, 5, 5, dtype=torch.bool)
    block[2, 3, 1] = block[0, 4, 2] = True
    bias = torch.randn(HEADS, 5, 5)

    def run(edit, edit_of=lambda head, scores: scores, factors=torch.ones(HEADS)):
        edited = reader.trace(TEXT, edits={site: edit})
        weights, values = plain_heads(module, inputs[0], edit_of)
        torch.testing.assert_close(edited.attention[site].weights, weights)
        heads = weights @ values * factors[:, None, None]
        torch.testing.assert_close(edited.attention[site].heads, heads)
        handle = module.mix.register_forward_pre_hook(
            lambda *_: (heads.transpose(1, 2).flatten(2),)
        )
        torch.testing.assert_close(edited.logits, model(IDS[:1]))
        handle.remove()

    run(AttentionEdit(gate=GATE), factors=GATE)
    run(AttentionEdit(block=block), lambda n, scores: scores.masked_fill(block[n], -torch.inf))
    run(AttentionEdit(bias=bias), lambda n, scores: scores + bias[n])
    run(AttentionEdit(scale=1.0), lambda n, scores: scores * (WIDTH // HEADS) ** 0.5)
    cells = block[None]
    run(Closed(UNCHANGED, cells), lambda n, scores: scores.masked_fill(block[n], -torch.inf))
    run(Sharper(), lambda n, scores: 3 * scores, torch.arange(1.0, 1 + HEADS))


@torch.no_grad()
def test_each_row_of_gates_is_its_own_run_over_modules_of_one_head():
    reader, site = open_model(build(Lecture)), Site("decoder", 2)
    trace = reader.trace(TEXT)
    rows = reader.rerun(trace, Run({site: AttentionEdit(gate=torch.eye(HEADS))}))
    for row, gate in zip(rows, torch.eye(HEADS), strict=True):
        alone = reader.trace(TEXT, edits={site: AttentionEdit(gate=gate)}).logits[0]
        torch.testing.assert_close(row, alone, atol=1e-5, rtol=1e-5)


class Chained(Lecture):
    """Each head reads the one before it, and all are joined: these are layers."""

    def forward(self, ids):
        x, outputs = states_of(self, ids), []
        for head in self.blocks[0]["attention"].heads:
            outputs.append(head(x))
            x = x + outputs[-1].repeat(1, 1, HEADS)
        return self.out(torch.cat(outputs, dim=-1))


@torch.no_grad()
def test_heads_that_read_other_inputs_are_layers():
    model = build(Chained)
    with watch(model) as seen:
        model(IDS)
    assert [weights.size(1) for weights in seen] == [1] * HEADS
    assert open_model(model).shape.kinds == {"decoder": (HEADS, 1)}


@pytest.mark.parametrize("time_first", [False, True])
@torch.no_grad()
def test_heads_in_the_axis_of_the_texts_are_those_of_each_text(time_first):
    model = build(lambda: Folding(time_first))
    query, key, value = (split(layer(model.words(IDS))) for layer in model.layers[0].maps)
    weights = (query @ key.transpose(-2, -1)).softmax(-1)
    for count in (2, 1):
        with watch(model) as seen:
            model(IDS[:count])
        torch.testing.assert_close(seen[0], weights[:count])
        assert seen.kinds == {"layers.0": "self", "layers.1": "self"}
    square = torch.arange(2, 2 + 16).reshape(4, 4)  # as many texts as tokens, and as heads
    query, key, _ = (split(layer(model.words(square))) for layer in model.layers[0].maps)
    with watch(model) as seen:
        model(square)
    torch.testing.assert_close(seen[0], (query @ key.transpose(-2, -1)).softmax(-1))
    reader, site = open_model(model), Site("encoder", 1)
    assert reader.shape.kinds == {"encoder": (2, HEADS)}
    heads = reader.trace(TEXT).attention[site].heads
    edited = reader.trace(TEXT, edits={site: AttentionEdit(gate=GATE)})
    states = model.words(IDS[:1]) + (weights @ value)[:1].transpose(1, 2).flatten(2)
    states = states + (heads * GATE[:, None, None]).transpose(1, 2).flatten(2)
    torch.testing.assert_close(edited.logits.flatten(), model.out(states[:, 0]).flatten())


def flex_parts(model, ids):
    """The scores (B, H, T, T) of the first layer of `Flexible`, and its mask."""
    layer, x = model.layers[0], model.words(ids)
    query = split(layer.query(x))
    key = layer.rest(x)[..., : WIDTH // 2].unflatten(-1, (2, -1)).transpose(1, 2)
    scores = query @ key.repeat_interleave(2, 1).transpose(-2, -1) * (WIDTH // HEADS) ** -0.5
    far = (torch.arange(ids.size(1))[:, None] - torch.arange(ids.size(1))).abs()
    sentence = (ids == 0).cumsum(1)
    same = sentence[:, :, None] == sentence[:, None]
    mask = (torch.ones(ids.size(1), ids.size(1)).tril().bool() & same)[:, None]
    return scores, lambda scores: (
        5 * torch.tanh(scores / 5) - model.layers[0].slopes[:, None, None] * far
    ).masked_fill(~mask, -torch.inf)


@pytest.mark.parametrize("compiled", [False, True])
@torch.no_grad()
def test_flex_attention_is_recorded_with_its_functions(compiled):
    attend = torch.compile(flex_attention, backend="eager") if compiled else flex_attention
    model = build(lambda: Flexible(attend))
    ids = torch.tensor([[5, 7, 0, 4, 12], [3, 8, 2, 0, 6]])
    expected = model(ids)
    with watch(model) as seen:
        output = model(ids)
    torch.testing.assert_close(output, expected, atol=1e-5, rtol=1e-5)
    assert seen.kinds == {"layers.0": "masked", "layers.1": "masked"}
    scores, modified = flex_parts(model, ids)
    torch.testing.assert_close(seen[0], modified(scores).softmax(-1))
    torch.testing.assert_close(model(ids), expected)  # compiled again

    reader, site = open_model(model), Site("decoder", 0)
    trace = reader.trace("5 7 0 4 12")
    torch.testing.assert_close(trace.logits, expected[:1], atol=1e-5, rtol=1e-5)
    edit = AttentionEdit(scale=1.0, block=torch.eye(5, dtype=torch.bool))
    record = reader.trace("5 7 0 4 12", edits={site: edit}).attention[site]
    scores = modified(scores * (WIDTH // HEADS) ** 0.5)[:1]
    weights = scores.masked_fill(edit.block, -torch.inf).softmax(-1).nan_to_num(0.0)
    torch.testing.assert_close(record.weights, weights)
    torch.testing.assert_close(record.weights @ record.value, record.heads)


def test_a_refusal_names_the_module_with_its_shape_and_what_to_do():
    class Uneven(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(WORDS, WIDTH)
            self.first, self.second = (
                nn.MultiheadAttention(WIDTH, heads, batch_first=True) for heads in (4, 2)
            )

        def forward(self, ids):
            x = self.words(ids)
            x = x + self.first(x, x, x)[0]
            return self.second(x, x, x)[0]

    message = r"of second \(2, 2, 7, 7\) do not: .*encoder have 4 heads\. Let kinds="
    with pytest.raises(LoadingError, match=message):
        open_model(build(Uneven))
