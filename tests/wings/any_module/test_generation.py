"""The attention of texts that models write in many calls, against one call on the whole text."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from headlight.wings.any_module.watch import SeenKind, watch
from tests.matrix import first_of
from tests.model.library import families

WIDTH, HEADS = 16, 4
BEAMS = {"num_beams": 3, "num_return_sequences": 2}
WAYS = {
    "greedy": ("GPT-2", {}),
    "without a cache": ("GPT-2", {"use_cache": False}),
    "sampled": ("GPT-2", {"do_sample": True}),
    "beams": ("GPT-2", BEAMS),
    "beams without a cache": ("BART", {**BEAMS, "use_cache": False}),
    "encoder and decoder": ("BART", {}),
    "their beams": ("BART", BEAMS),
    "relative positions": ("T5", {}),
    "shared keys": ("Llama", {}),
    "a window": ("Mistral", {}),
}


def whole(name, ids, output) -> dict[SeenKind, tuple]:
    """What the library's own attention is over finished texts, in one call: layers by kind."""
    several = ids.repeat_interleave(len(output) // len(ids), dim=0)
    if name in families.PAIRS:
        inputs = {"input_ids": several, "decoder_input_ids": output[:, :-1]}
    else:
        inputs = {"input_ids": output[:, :-1]}
    seen = families.make_model(name)(**inputs, output_attentions=True)
    masked = getattr(seen, "attentions", None) or seen.decoder_attentions
    return {"masked": masked, "cross": getattr(seen, "cross_attentions", None) or ()}


@pytest.mark.parametrize("way", first_of([*WAYS]))
@torch.no_grad()
def test_a_written_text_has_the_attention_of_one_call_on_it(way):
    name, options = WAYS[way]
    model = families.make_model(name, "sdpa")
    ids = families.make_inputs(name, rows=2, length=5)["input_ids"]
    torch.manual_seed(0)
    expected = model.generate(ids, max_new_tokens=4, **options)
    torch.manual_seed(0)
    with watch(model) as seen:
        output = model.generate(ids, max_new_tokens=4, **options)
    assert torch.equal(output, expected)
    assert "generate" not in vars(model)
    assert seen.difference < 1e-5
    for kind, layers in whole(name, ids, output).items():
        for ours, theirs in zip(seen.weights(kind), layers, strict=True):
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    for record in seen.attention.values():
        torch.testing.assert_close(record.masked_scores.softmax(-1), record.weights)
        torch.testing.assert_close(record.weights @ record.value, record.heads)


@torch.no_grad()
def test_each_step_has_the_rows_of_its_new_tokens_with_a_cache_or_without():
    model, ids = families.make_model("GPT-2"), families.make_inputs("GPT-2", length=5)["input_ids"]
    runs = []
    for cached in (True, False):
        with watch(model) as seen:
            model.generate(ids, max_new_tokens=4, do_sample=False, use_cache=cached)
        runs.append(seen)
        name = "transformer.h.1.attn"
        shapes = [tuple(step[name].weights.shape[2:]) for step in seen.steps]
        assert shapes == [(5, 5), (1, 6), (1, 7), (1, 8)]
        assert seen.kinds[name] == "masked"
        for place, step in enumerate(seen.steps[1:], start=5):
            row = seen.attention[name].weights[:, :, place, : place + 1]
            assert torch.equal(step[name].weights[:, :, 0], row)
    for ours, theirs in zip(*runs, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


class Cached(nn.Module):
    """Reads one token a call, with a list of keys and values as its cache."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, WIDTH)
        self.projection, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, 20)

    def forward(self, ids, cache):  # (B, T)
        parts = self.projection(self.embedding(ids)).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        cache.append((k, v))
        k, v = (torch.cat(parts, dim=2) for parts in zip(*cache, strict=True))
        later = torch.ones(q.size(2), k.size(2), dtype=torch.bool).tril(k.size(2) - q.size(2))
        heads = F.scaled_dot_product_attention(q, k, v, later)
        return self.out(heads.transpose(1, 2).flatten(2))


def test_a_loop_that_calls_a_model_once_a_token_is_joined():
    torch.manual_seed(0)
    model, ids = Cached().eval(), torch.randint(20, (2, 6))
    with watch(model) as seen:
        cache = []
        for at in range(6):
            model(ids[:, at : at + 1], cache)
    assert len(cache) == len(seen.steps) == 6
    with watch(model) as expected:
        model(ids, [])
    torch.testing.assert_close(seen[0], expected[0])
    assert seen.kinds == {"Cached": "masked"}


@torch.no_grad()
def test_a_call_of_another_text_begins_anew():
    torch.manual_seed(0)
    model = Cached().eval()
    with watch(model) as seen:
        for tokens in (3, 4, 4):
            model(torch.randint(20, (1, tokens)), [])
    assert len(seen.steps) == 1
    assert seen[0].shape == (1, HEADS, 4, 4)
    with watch(model) as seen:  # a longer beginning is not the text before with one more token
        for ids in ([[1, 2, 3]], [[1, 2, 3, 4]], [[1, 2, 5, 4, 6]]):
            model(torch.tensor(ids), [])
    assert len(seen.steps) == 1


@torch.no_grad()
def test_a_part_that_is_called_alone_is_seen():
    model = families.make_model("BART")
    ids = families.make_inputs("BART")["input_ids"]
    with watch(model) as seen:
        model.get_encoder()(ids)
    assert [*seen.kinds.values()] == ["self", "self"]


@torch.no_grad()
def test_beams_that_cannot_be_told_apart_by_ids_are_refused():
    model, ids = families.make_model("GPT-2"), families.make_inputs("GPT-2", length=5)["input_ids"]
    states = model.get_input_embeddings()(ids)  # their ids are not returned
    with pytest.raises(ValueError, match="some of 3 beams"), watch(model):
        model.generate(inputs_embeds=states, max_new_tokens=3, num_beams=3)
