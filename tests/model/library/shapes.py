"""Small models in the five ways in which people write a Transformer by hand."""

import math

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, LONGEST, WIDTH, HEADS = 40, 32, 16, 4


class Attention(nn.Module):
    """As in annotated papers: matrices in a list, a mask of zeros, and -1e9 where it is zero."""

    def __init__(self):
        super().__init__()
        self.linears = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.dropout = nn.Dropout(0.1)

    def forward(self, query, key, value, mask):
        split = [
            linear(part).view(len(part), -1, HEADS, WIDTH // HEADS).transpose(1, 2)
            for linear, part in zip(self.linears, (query, key, value), strict=False)
        ]
        query, key, value = split
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = self.dropout(scores.softmax(dim=-1))
        heads = torch.matmul(weights, value)
        return self.linears[-1](heads.transpose(1, 2).contiguous().view(len(heads), -1, WIDTH))


class Layer(nn.Module):
    def __init__(self, crossed):
        super().__init__()
        self.self_attn = Attention()
        self.src_attn = Attention() if crossed else None
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, 32), nn.ReLU(), nn.Linear(32, WIDTH))

    def forward(self, states, mask, memory=None):
        normed = self.norms[0](states)
        states = states + self.self_attn(normed, normed, normed, mask)
        if self.src_attn is not None:
            states = states + self.src_attn(self.norms[1](states), memory, memory, None)
        return states + self.feed_forward(self.norms[2](states))


class Annotated(nn.Module):
    """An encoder-decoder that takes both texts with their masks, and returns log-probabilities."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Parameter(torch.randn(LONGEST, WIDTH))
        self.encoder = nn.ModuleList(Layer(crossed=False) for _ in range(2))
        self.decoder = nn.ModuleList(Layer(crossed=True) for _ in range(3))
        self.generator = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, src, tgt, src_mask, tgt_mask):
        memory = self.embed(src) * math.sqrt(WIDTH) + self.positions[: src.size(1)]
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        states = self.embed(tgt) * math.sqrt(WIDTH) + self.positions[: tgt.size(1)]
        for layer in self.decoder:
            states = layer(states, tgt_mask, memory)
        return F.log_softmax(self.generator(states), dim=-1)


def call_annotated(model, source, target):
    later = torch.ones(target.size(1), target.size(1)).tril()[None, None]
    return model(source, target, torch.ones(len(source), 1, 1, source.size(1)), later)


class CausalSelfAttention(nn.Module):
    """One matrix for queries, keys and values; a buffer with the mask, or fused attention."""

    def __init__(self, fused):
        super().__init__()
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH)
        self.c_proj = nn.Linear(WIDTH, WIDTH)
        self.attn_dropout = nn.Dropout(0.1)
        self.register_buffer("bias", torch.ones(LONGEST, LONGEST).tril()[None, None])
        self.fused = fused

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (
            part.view(batch, length, HEADS, -1).transpose(1, 2)
            for part in self.c_attn(x).split(WIDTH, dim=2)
        )
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            att = att.masked_fill(self.bias[:, :, :length, :length] == 0, float("-inf"))
            y = self.attn_dropout(F.softmax(att, dim=-1)) @ v
        return self.c_proj(y.transpose(1, 2).contiguous().view(batch, length, WIDTH))


class SmallGPT(nn.Module):
    """A decoder that returns its logits and a loss, if it has targets."""

    def __init__(self, fused):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, WIDTH)
        self.wpe = nn.Embedding(LONGEST, WIDTH)
        self.h = nn.ModuleList(
            nn.ModuleDict({"ln": nn.LayerNorm(WIDTH), "attn": CausalSelfAttention(fused)})
            for _ in range(3)
        )
        self.lm_head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        for block in self.h:
            x = x + block["attn"](block["ln"](x))
        return self.lm_head(x), None


class Attend(nn.Module):
    """Einsum over heads, with one bias by distance for all layers, and one key for all heads."""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
        self.to_kv = nn.Linear(WIDTH, 2 * WIDTH // HEADS, bias=False)

    def forward(self, x, bias):
        q = self.to_q(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        k, v = self.to_kv(x).chunk(2, dim=-1)
        dots = torch.einsum("b h i d, b j d -> b h i j", q, k) * (WIDTH // HEADS) ** -0.5
        dots = dots + bias
        later = torch.ones(dots.shape[-2:], dtype=torch.bool).triu(1)
        dots.masked_fill_(later, -torch.finfo(dots.dtype).max)
        attn = F.softmax(dots, dim=-1, dtype=torch.float32)
        out = torch.einsum("b h i j, b j d -> b h i d", attn, v)
        return self.to_out(out.transpose(1, 2).flatten(2))


class WithBias(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_emb = nn.Embedding(VOCABULARY, WIDTH)
        self.slopes = nn.Parameter(torch.rand(HEADS, 1, 1))
        self.layers = nn.ModuleList(Attend() for _ in range(2))
        self.to_logits = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, x):
        positions = torch.arange(x.size(1))
        bias = -self.slopes * (positions[:, None] - positions).abs()
        x = self.token_emb(x)
        for layer in self.layers:
            x = x + layer(x, bias)
        return self.to_logits(x)


class Homework(nn.Module):
    """nn.Transformer with its own masks, over texts that it reads with the batch second."""

    def __init__(self):
        super().__init__()
        self.source, self.target = (nn.Embedding(VOCABULARY, WIDTH) for _ in range(2))
        self.transformer = nn.Transformer(WIDTH, HEADS, 2, 2, 32)
        self.out = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        states = self.transformer(
            self.source(src).transpose(0, 1), self.target(tgt).transpose(0, 1), tgt_mask=mask
        )
        return self.out(states.transpose(0, 1))


class Classifier(nn.Module):
    """nn.MultiheadAttention over a text, and a class from its mean."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.out = nn.Linear(WIDTH, 3)

    def forward(self, ids):
        states = self.embedding(ids)
        states = states + self.attention(states, states, states, need_weights=False)[0]
        return self.out(states.mean(dim=1))


# Each model, what calls it if it is not called with its texts alone, and how many texts it reads.
SHAPES = {
    "annotated": (Annotated, call_annotated, 2),
    "one matrix": (lambda: SmallGPT(fused=False), None, 1),
    "fused": (lambda: SmallGPT(fused=True), None, 1),
    "einsum": (WithBias, None, 1),
    "nn.Transformer": (Homework, None, 2),
    "nn.MultiheadAttention": (Classifier, None, 1),
}


def build(shape):
    """The model of a shape, the same at each call, whose heads differ."""
    torch.manual_seed(4)
    model = SHAPES[shape][0]().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(2 if weight.dim() > 1 else 1)
    return model


def call(model, shape, *texts):
    """The first output of a model for ids (B, T) of one text or of both."""
    by = SHAPES[shape][1]
    output = model(*texts) if by is None else by(model, *texts)
    return output[0] if isinstance(output, tuple) else output


def texts(shape, rows=1):
    """Ids of as many texts as a model reads, of different lengths."""
    generator = torch.Generator().manual_seed(5)
    return [
        torch.randint(VOCABULARY, (rows, length), generator=generator)
        for length in (9, 6)[: SHAPES[shape][2]]
    ]
