"""The models that courses and tutorials begin with, written small, each with plain attention."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

WORDS, WIDTH, HEADS, LONGEST = 30, 16, 4, 24
PAD = 1


class Translation(nn.Module):
    """nn.Transformer with the texts second, and masks that are given with the texts."""

    def __init__(self, layers=2):
        super().__init__()
        self.source, self.target = (nn.Embedding(WORDS, WIDTH) for _ in range(2))
        self.places = nn.Parameter(torch.randn(LONGEST, 1, WIDTH))
        self.transformer = nn.Transformer(WIDTH, HEADS, layers, layers, 32)
        self.generator = nn.Linear(WIDTH, WORDS)

    def forward(self, source, target, later, source_padding, target_padding):
        read = self.source(source) + self.places[: len(source)]  # (S, B, WIDTH)
        written = self.target(target) + self.places[: len(target)]
        states = self.transformer(
            read,
            written,
            tgt_mask=later,
            src_key_padding_mask=source_padding,
            tgt_key_padding_mask=target_padding,
            memory_key_padding_mask=source_padding,
        )
        return self.generator(states)


def call_translation(model, source, target):
    """Call it with ids (B, T), in which PAD is hidden; logits (B, T, WORDS)."""
    later = torch.ones(target.size(1), target.size(1), dtype=torch.bool).triu(1)
    logits = model(source.T, target.T, later, source == PAD, target == PAD)
    return logits.transpose(0, 1)


class Lookback(nn.Module):
    """Attends with a mask of booleans (B, 1, Q, K); `closed` is what stands in closed cells."""

    def __init__(self, closed):
        super().__init__()
        self.closed = closed
        self.maps, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, mask):
        q, k, v = (
            part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in self.maps(x).chunk(3, dim=-1)
        )
        scores = q @ k.transpose(-2, -1) * k.size(-1) ** -0.5
        weights = scores.masked_fill(~mask, self.closed).softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))


class Padded(nn.Module):
    """A decoder that hides PAD itself: its mask is tril & (ids != PAD)."""

    def __init__(self, closed=-1e9, words=WORDS, layers=2, pad=PAD):
        super().__init__()
        self.pad = pad
        self.words, self.places = nn.Embedding(words, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.layers = nn.ModuleList(Lookback(closed) for _ in range(layers))
        self.out = nn.Linear(WIDTH, words)

    def forward(self, ids):
        length = ids.size(1)
        mask = (
            torch.ones(length, length, dtype=torch.bool).tril() & (ids != self.pad)[:, None, None]
        )
        x = self.words(ids) + self.places(torch.arange(length))
        for layer in self.layers:
            x = x + layer(x, mask)
        return self.out(x)


class Both(Padded):
    """An encoder that hides PAD, and returns a class from its first token."""

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.size(1)))
        for layer in self.layers:
            x = x + layer(x, (ids != self.pad)[:, None, None])
        return self.out(x[:, 0])[:, :3]


class Head(nn.Module):
    """One head, as a lecture on GPT writes it: a module of its own."""

    def __init__(self, width, fused):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(WIDTH, width, bias=False) for _ in range(3))
        self.register_buffer("before", torch.tril(torch.ones(LONGEST, LONGEST)))
        self.dropout, self.fused = nn.Dropout(0.1), fused

    def forward(self, x):
        length = x.size(1)
        k, q, v = self.key(x), self.query(x), self.value(x)  # (B, T, width)
        if self.fused:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        scores = q @ k.transpose(-2, -1) * k.size(-1) ** -0.5
        scores = scores.masked_fill(self.before[:length, :length] == 0, float("-inf"))
        return self.dropout(F.softmax(scores, dim=-1)) @ v


class Heads(nn.Module):
    def __init__(self, fused):
        super().__init__()
        self.heads = nn.ModuleList(Head(WIDTH // HEADS, fused) for _ in range(HEADS))
        self.mix = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return self.mix(torch.cat([head(x) for head in self.heads], dim=-1))


class Lecture(nn.Module):
    """Blocks of modules that are one head each."""

    def __init__(self, fused=False, layers=3):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.blocks = nn.ModuleList(
            nn.ModuleDict({"norm": nn.LayerNorm(WIDTH), "attention": Heads(fused)})
            for _ in range(layers)
        )
        self.out = nn.Linear(WIDTH, WORDS)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.size(1)))
        for block in self.blocks:
            x = x + block["attention"](block["norm"](x))
        return self.out(x)


class Flex(nn.Module):
    """flex_attention, or that compiled, with one key for two heads and a function of the scores."""

    def __init__(self, attend):
        super().__init__()
        self.attend, self.slopes = attend, nn.Parameter(torch.rand(HEADS))
        self.query, self.rest = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, block_mask):
        split = self.query(x), *self.rest(x).chunk(2, dim=-1)
        q, k, v = (part.unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2) for part in split)
        nearer = self.nearer
        heads = self.attend(q, k, v, score_mod=nearer, block_mask=block_mask, enable_gqa=True)
        return heads.transpose(1, 2).flatten(2)

    def nearer(self, score, text, head, query, key):
        return 5 * torch.tanh(score / 5) - self.slopes[head] * (query - key).abs()


class Flexible(nn.Module):
    """A decoder with flex_attention, whose mask also keeps the tokens within their sentence."""

    def __init__(self, attend=flex_attention, layers=2):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Flex(attend) for _ in range(layers))
        self.out = nn.Linear(WIDTH, WORDS)

    def forward(self, ids):
        sentence = (ids == 0).cumsum(dim=1)  # (B, T): 0 ends a sentence

        def visible(text, head, query, key):
            return (query >= key) & (sentence[text, query] == sentence[text, key])

        length = ids.size(1)
        mask = create_block_mask(visible, len(ids), None, length, length, device="cpu")
        x = self.words(ids)
        for layer in self.layers:
            x = x + layer(x, mask)
        return self.out(x)


class Stacked(nn.Module):
    """Puts its heads into the axis of the texts by a cat of slices, or reads time first."""

    def __init__(self, time_first):
        super().__init__()
        self.time_first = time_first
        self.maps = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x):  # (B, T, WIDTH), or (T, B, WIDTH)
        parts = [layer(x) for layer in self.maps]
        if self.time_first:  # (T, B, WIDTH) -> (B * HEADS, T, D)
            folded = [part.reshape(len(x), -1, WIDTH // HEADS).transpose(0, 1) for part in parts]
        else:  # (HEADS * B, T, D)
            folded = [torch.cat(part.chunk(HEADS, dim=2), dim=0) for part in parts]
        q, k, v = folded
        heads = torch.bmm(torch.bmm(q, k.transpose(1, 2)).softmax(dim=-1), v)
        if self.time_first:
            return x + heads.transpose(0, 1).reshape(x.shape)
        return x + torch.cat(heads.chunk(HEADS, dim=0), dim=2)


class Folding(nn.Module):
    """An encoder of two layers `Stacked`, which gives a class."""

    def __init__(self, time_first=False):
        super().__init__()
        self.time_first = time_first
        self.words, self.out = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, 3)
        self.layers = nn.ModuleList(Stacked(time_first) for _ in range(2))

    def forward(self, ids):
        x = self.words(ids.T if self.time_first else ids)
        for layer in self.layers:
            x = layer(x)
        return self.out(x[0] if self.time_first else x[:, 0])


def build(make):
    """Return a model of other weights in each head, the same at each call."""
    torch.manual_seed(6)
    model = make().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(2 if weight.dim() > 1 else 1)
    return model
