"""Any order of texts, heads, queries and keys: weights as by plain code, or a sentence."""

import random

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from headlight.model.edits.attention import AttentionEdit
from headlight.model.transformer.trace import Site
from headlight.wings.any_module.opening import open_model
from headlight.wings.any_module.watch import watch

FOLDS = ("heads first", "texts first", "einsum", "groups of keys", "one key", "fused")


class Folded(nn.Module):
    """Attends in one of the ways in which people put heads and texts into axes."""

    def __init__(self, fold, order, heads, width, time_first=False, causal=False):
        super().__init__()
        self.fold, self.order, self.heads = fold, order, heads
        self.time_first, self.causal = time_first, causal
        self.maps = nn.ModuleList(nn.Linear(heads * width, heads * width) for _ in range(4))
        self.plain = None  # scores (B, H, Q, K)

    def forward(self, x, y):
        states = (x, y, y)
        parts = [layer(part) for layer, part in zip(self.maps, states, strict=False)]
        if self.time_first:
            parts = [part.transpose(0, 1) for part in parts]
        q, k, v = (part.unflatten(-1, (self.heads, -1)) for part in parts)  # (B, T, H, D)
        if self.fold == "one key":
            k, v = k[:, :, :1], v[:, :, :1]
        every = k.expand(*k.shape[:2], self.heads, -1)
        later = torch.ones(q.size(1), k.size(1), dtype=torch.bool).triu(1) & self.causal
        plain = torch.einsum("bqhd,bkhd->bhqk", q, every).masked_fill(later, -torch.inf)
        self.plain = plain
        heads = getattr(self, self.fold.replace(" ", "_"))(q, k, v, later).flatten(2)
        out = self.maps[3](heads)
        return out.transpose(0, 1) if self.time_first else out

    def folded(self, q, k, v, later, fold):
        q, k, v = (fold(part.transpose(1, 2)) for part in (q, k, v))  # (N, T, D)
        scores = (q @ k.transpose(1, 2)).masked_fill(later, -1e9)
        return scores.softmax(dim=2) @ v

    def heads_first(self, q, k, v, later):
        result = self.folded(q, k, v, later, lambda part: part.transpose(0, 1).flatten(0, 1))
        return result.unflatten(0, (self.heads, -1)).permute(1, 2, 0, 3)

    def texts_first(self, q, k, v, later):
        result = self.folded(q, k, v, later, lambda part: part.flatten(0, 1))
        return result.unflatten(0, (-1, self.heads)).transpose(1, 2)

    def einsum(self, q, k, v, later):
        scores = torch.einsum(f"bqhd,bkhd->{self.order}k", q, k)
        sizes = [later.size(0) if letter == "q" else 1 for letter in self.order]
        scores = scores.masked_fill(later.reshape(*sizes, -1), -1e9)
        return torch.einsum(f"{self.order}k,bkhd->bqhd", F.softmax(scores, dim=-1), v)

    def one_key(self, q, k, v, later):
        scores = torch.einsum(f"bqhd,bkd->{self.order}k", q, k[:, :, 0])
        sizes = [later.size(0) if letter == "q" else 1 for letter in self.order]
        scores = scores.masked_fill(later.reshape(*sizes, -1), -1e9)
        return torch.einsum(f"{self.order}k,bkd->bqhd", F.softmax(scores, dim=-1), v[:, :, 0])

    def groups_of_keys(self, q, k, v, later):
        q, k, v = (part.transpose(1, 2).unflatten(1, (1, -1)) for part in (q, k, v))
        scores = (q @ k.transpose(-2, -1)).masked_fill(later, -1e9)  # (B, 1, H, Q, K)
        return (scores.softmax(-1) @ v)[:, 0].transpose(1, 2)

    def fused(self, q, k, v, later):
        letters = self.order.replace("q", "")  # of texts and heads
        q, k, v = (part.transpose(1, 2) for part in (q, k, v))
        if letters == "hb":
            q, k, v = (part.transpose(0, 1) for part in (q, k, v))
        result = F.scaled_dot_product_attention(q, k, v, ~later, scale=1.0)
        return (result.transpose(0, 1) if letters == "hb" else result).transpose(1, 2)


def cases(count=36):
    chance = random.Random(7)
    for n in range(count):
        texts, heads, queries, keys, width = (chance.choice((1, 2, 3, 4)) for _ in range(5))
        if n % 3 == 0:
            texts = heads = queries = keys = width = chance.choice((2, 3, 4))
        order = "".join(chance.sample("bhq", 3))
        yield FOLDS[n % len(FOLDS)], order, heads, width, texts, queries, keys, n


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("time_first", [False, True])
@torch.no_grad()
def test_every_order_of_axes_is_right_or_refused(time_first, causal):
    refused = []
    for fold, order, heads, width, texts, queries, keys, seed in cases():
        torch.manual_seed(seed)
        model = Folded(fold, order, heads, width, time_first, causal).eval()
        sizes = (
            [(queries, texts), (keys, texts)] if time_first else [(texts, queries), (texts, keys)]
        )
        states = [torch.randn(*size, heads * width) for size in sizes]
        if causal or seed % 2:
            states[1] = states[0]
        try:
            with watch(model) as seen:
                model(*states)
        except ValueError as error:
            refused.append(str(error))
            continue
        (record,) = seen.attention.values()
        torch.testing.assert_close(
            record.weights, model.plain.softmax(-1), msg=f"{fold} {order} {seed}"
        )
        if record.heads is not None:
            torch.testing.assert_close(record.weights @ record.value, record.heads)
        if record.query is not None:
            scores = record.query @ record.key.transpose(-2, -1) * record.scale
            torch.testing.assert_close(scores, record.scores)
    assert len(refused) <= 6
    assert all("cannot be told" in message for message in refused)


class EfficientAttention(nn.Module):
    """A softmax over features, as of Shen et al. 2018."""

    def __init__(self, second):
        super().__init__()
        self.parts = nn.Linear(6, 18)
        self.second = second

    def forward(self, x):
        q, k, v = self.parts(x).chunk(3, dim=-1)
        q = q if self.second else q.softmax(dim=-1)
        return q @ (k.transpose(1, 2).softmax(dim=-1) @ v)


class Windows(nn.Module):
    """Each frame attends to itself: (B * frames, tokens, tokens)."""

    def forward(self, x):  # (B, frames, tokens, features)
        parts = x.flatten(0, 1)
        return ((parts @ parts.transpose(1, 2)).softmax(dim=-1) @ parts).view_as(x)


class OverQueries(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        weights = (x @ x.transpose(1, 2)).softmax(dim=self.dim)
        return weights @ x if self.dim == 1 else torch.einsum("bkq,bkd->bqd", weights, x)


@pytest.mark.parametrize(
    ("model", "sizes"),
    [
        (EfficientAttention(False), (2, 5, 6)),
        (EfficientAttention(True), (2, 5, 6)),
        (EfficientAttention(False), (6, 6, 6)),
        (Windows(), (2, 3, 4, 5)),
        (Windows(), (1, 3, 3, 3)),
        (OverQueries(1), (2, 4, 4)),
        (OverQueries(2), (2, 4, 4)),
    ],
)
@torch.no_grad()
def test_what_is_no_map_of_queries_and_keys_is_refused(model, sizes):
    with (
        pytest.raises(ValueError, match=rf"the (shape )?\({sizes[0]}|scores \("),
        watch(model.eval()),
    ):
        model(torch.randn(sizes))


@torch.no_grad()
def test_a_softmax_that_is_no_attention_is_named_as_it_is():
    class Unbatched(nn.Module):
        def forward(self, x):
            return (x @ x.T).softmax(dim=-1) @ x

    model = Unbatched().eval()
    message = r"Unbatched took a softmax of numbers of the shape \(4, 4\)"
    with pytest.raises(ValueError, match=message), watch(model):
        model(torch.randn(4, 3))


class Half(nn.Module):
    """Every second layer attends without a softmax of queries and keys."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 8)
        self.layers = nn.ModuleList(
            [Folded("texts first", "bhq", 2, 4), Linear(), nn.Conv1d(8, 8, 3, padding=1)]
        )
        self.head = nn.Linear(8, 3)

    def forward(self, ids):
        states = self.embedding(ids)
        states = states + self.layers[2](states.transpose(1, 2)).transpose(1, 2)
        states = states + self.layers[0](states, states)
        return self.head(states + self.layers[1](states))


class Linear(nn.Module):
    def forward(self, x):
        return x @ (x.transpose(1, 2) @ x)


@torch.no_grad()
def test_a_model_of_which_a_part_attends_unseen_is_refused_with_its_name():
    with pytest.raises(ValueError, match=r"in part only: .* in layers\.1, in a way"):
        open_model(Half().eval())
    whole = Half().eval()
    whole.layers[1] = nn.Identity()
    assert open_model(whole).shape.kinds == {"encoder": (1, 2)}


class HeadsFirst(nn.Module):
    """A classifier of ids, whose heads are the slower part of the batch."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 8)
        self.attention = Folded("heads first", "bhq", 2, 4)
        self.head = nn.Linear(8, 3)

    def forward(self, ids):
        states = self.embedding(ids)
        return self.head((states + self.attention(states, states)).mean(dim=1))


@torch.no_grad()
def test_a_model_with_heads_before_texts_opens_and_is_edited():
    torch.manual_seed(0)
    model = HeadsFirst().eval()
    reader = open_model(model)
    trace = reader.trace("1 2 3 4")
    model(torch.tensor([[1, 2, 3, 4]]))
    site = Site("encoder", 0)
    torch.testing.assert_close(trace.attention[site].weights, model.attention.plain.softmax(-1))
    gate = torch.tensor([1.0, 0.0])
    logits = reader.trace("1 2 3 4", edits={site: AttentionEdit(gate=gate)}).logits
    model.attention.maps[3].weight[:, 4:] = 0
    expected = model(torch.tensor([[1, 2, 3, 4]]))
    torch.testing.assert_close(logits.flatten(), expected.flatten())
