"""What a head does by its weights only: what it attends to, what it writes, which heads it feeds.

A token's embedding passes the layer norm before the head. Of the norm that reads the head's output,
only the gain is used, because its scale depends on the text. Positions, earlier heads and
feed-forward layers are left out.

Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits".
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

import torch
from torch import Tensor, nn

from headlight.model.shape import shape_of
from headlight.model.stream import attention_at, output_maps
from headlight.model.tokens import END_ID, START_ID, pad
from headlight.model.transformer.layers import DecoderLayer, EncoderLayer
from headlight.model.transformer.trace import Side, Site
from headlight.model.transformer.transformer import Decoder, Encoder, Transformer

AT_ONCE = 512  # the rows of a circuit that are computed together
Way = Literal["query", "key", "value"]
WAYS: tuple[Way, ...] = ("query", "key", "value")
DRAWS = 8  # the number of random pairs of layers to average over


class CircuitEntry(NamedTuple):
    """A row and a column of a circuit, counted from 0, and the number at that place."""

    row: int
    column: int
    value: float


@dataclass(frozen=True)
class Circuit:
    """A matrix (N, M) with a number for each pair of tokens, as a product: rows @ columns.T.

    Only the factors, rows (N, D) and columns (M, D), are in memory.
    """

    rows: Tensor
    columns: Tensor

    def strongest(self, count: int) -> tuple[list[CircuitEntry], list[CircuitEntry]]:
        """Return the `count` rows with the largest maxima, and those with the smallest minima."""
        largest, smallest = [], []
        for part in self.rows.split(AT_ONCE):
            numbers = part @ self.columns.T  # (AT_ONCE, M)
            largest.append(with_column(numbers.max(dim=-1)))
            smallest.append(with_column(numbers.min(dim=-1)))
        return ends_of(torch.cat(largest), 1, count), ends_of(torch.cat(smallest), -1, count)

    def best(self) -> Tensor:
        """Return the column of each row's largest number: (N,)."""
        parts = self.rows.split(AT_ONCE)
        return torch.cat([(part @ self.columns.T).argmax(dim=-1) for part in parts])

    def of_row(self, row: int, count: int) -> list[CircuitEntry]:
        """Return the entries of the `count` largest numbers in a row, the largest first."""
        best = (self.columns @ self.rows[row]).topk(min(count, len(self.columns)))
        columns, values = best.indices.tolist(), best.values.tolist()
        return [
            CircuitEntry(row, column, value) for column, value in zip(columns, values, strict=True)
        ]

    @property
    def transposed(self) -> "Circuit":
        return Circuit(self.columns, self.rows)

    def positive_share(self) -> float:
        """Return the sum of the eigenvalues, divided by the sum of their absolute values: -1 to 1.

        1 means that every token raises its own number. rows @ columns.T has the same nonzero
        eigenvalues as columns.T @ rows, a matrix of only (D, D). Source: Elhage et al. 2021,
        "Copying / primitive eigenvalue analysis".
        """
        values = torch.linalg.eigvals((self.columns.T @ self.rows).double())
        return float(values.real.sum() / values.abs().sum())


def with_column(best: tuple[Tensor, Tensor]) -> Tensor:
    """Return the best value and its column of each row: (N, 2), exact below 2**53 columns."""
    return torch.stack([part.double() for part in best], dim=-1)


def ends_of(best: Tensor, sign: int, count: int) -> list[CircuitEntry]:
    """Return the entries with the `count` largest values, or the smallest if `sign` is -1.

    `best` (N, 2) has a value and its column for each row.
    """
    rows = (sign * best[:, 0]).topk(min(count, len(best))).indices.tolist()
    return [CircuitEntry(row, int(best[row, 1]), float(best[row, 0])) for row in rows]


def token_vectors(model: Transformer, side: Side, ids: Sequence[int]) -> Tensor:
    """Return the vectors of tokens before the first layer, without positions: (N, d_model)."""
    embedding = (model.encoder if side == "encoder" else model.decoder).embedding
    return embedding.tokens.weight.detach()[list(ids)] * embedding.scale


def norms_before(model: Transformer, site: Site) -> tuple[nn.LayerNorm, nn.LayerNorm]:
    """Return the layer norms before a layer's queries, and before its keys and values."""
    if site.kind == "encoder":
        norm = cast(EncoderLayer, model.encoder.layers[site.layer]).attention_residual.norm
        return norm, norm
    layer = cast(DecoderLayer, model.decoder.layers[site.layer])
    if site.kind == "decoder":
        return layer.self_residual.norm, layer.self_residual.norm
    return layer.cross_residual.norm, last_norm(model.encoder)


def last_norm(stack: Encoder | Decoder) -> nn.LayerNorm:
    """Return the norm at the end of a pre-norm stack."""
    return cast(nn.LayerNorm, stack.norm)


@torch.no_grad()
def query_keys(model: Transformer, site: Site, ids: Sequence[int]) -> list[Circuit]:
    """Return the scores (N, N) of each head, with the same N tokens as queries and as keys.

    The mean over keys is subtracted from each row; this does not change the softmax.
    """
    attention, sides = attention_at(model, site), sides_of(site)
    looking, looked_at = (
        norm(token_vectors(model, side, ids))
        for norm, side in zip(norms_before(model, site), sides, strict=True)
    )
    queries, keys = (
        layer(vectors).unflatten(-1, (attention.heads, -1))  # (N, H, D)
        for layer, vectors in ((attention.query, looking), (attention.key, looked_at))
    )
    queries, keys = queries / math.sqrt(queries.size(-1)), keys - keys.mean(dim=0)
    return [Circuit(queries[:, head], keys[:, head]) for head in range(attention.heads)]


def sides_of(site: Site) -> tuple[Side, Side]:
    """Return the sides (encoder or decoder) of a layer's queries, and of its keys and values."""
    queries = "encoder" if site.kind == "encoder" else "decoder"
    return queries, "decoder" if site.kind == "decoder" else "encoder"


@torch.no_grad()
def value_outputs(
    model: Transformer, site: Site, ids: Sequence[int], inputs: Tensor | None = None
) -> list[Circuit]:
    """Return how much each head writes each of M tokens when it attends to each of N: (N, M).

    `inputs` (N, d_model) replace the vectors that the heads read. The mean over all tokens is
    subtracted. What a decoder's head writes is measured by the output layer, through the gain of
    the last norm; what an encoder's head writes, by the embeddings of the tokens.
    """
    attention = attention_at(model, site)
    if inputs is None:
        inputs = norms_before(model, site)[1](token_vectors(model, sides_of(site)[1], ids))
    values = attention.value(inputs).unflatten(-1, (attention.heads, -1))  # (N, H, D)
    values = values - values.mean(dim=0)
    if site.kind == "encoder":
        readers = token_vectors(model, "encoder", ids)
    else:
        readers = model.output.weight[list(ids)] * last_norm(model.decoder).weight
    writes = centered(readers) @ attention.output.weight  # (M, d_model)
    writes = writes.unflatten(-1, (attention.heads, -1))  # (M, H, D)
    return [Circuit(values[:, head], writes[:, head]) for head in range(attention.heads)]


@dataclass(frozen=True)
class Dictionary:
    """The ids of the first tokens that are written for N words; each word is read alone.

    `written` are written by the whole model, `direct` by each cross-attention head that reads the
    word's embedding, `encoded` by each that reads the encoder's vector of the word.
    """

    written: Tensor  # (N,)
    direct: Tensor  # (layers, H, N)
    encoded: Tensor  # (layers, H, N)


@torch.no_grad()
def dictionary(model: Transformer, words: Sequence[int], ids: Sequence[int]) -> Dictionary:
    """Return the first token, among `ids`, that each head and the whole model write for a word."""
    source = pad([[word, END_ID] for word in words]).to(model.device)
    memory = model.encode(source)  # (N, 2, d_model)
    start = source.new_full((len(words), 1), START_ID)
    logits = model.decode(start, memory, model.source_mask(source))[:, 0]
    known = torch.tensor(list(ids))
    sites = [site for site in shape_of(model.config).sites if site.kind == "cross"]
    firsts = []
    for inputs in (model.encoder.norm(token_vectors(model, "encoder", words)), memory[:, 0]):
        circuits = [value_outputs(model, site, ids, inputs) for site in sites]
        best = [[known[circuit.best().cpu()] for circuit in heads] for heads in circuits]
        firsts.append(torch.stack([torch.stack(heads) for heads in best]))
    return Dictionary(known[logits[:, known.to(model.device)].argmax(dim=-1).cpu()], *firsts)


class Maps(NamedTuple):
    """The matrices (H, D, d_model) of a layer's heads; all but `output` include a norm's gain."""

    query: Tensor
    key: Tensor
    value: Tensor
    output: Tensor


@torch.no_grad()
def maps_of(model: Transformer, site: Site) -> Maps:
    """Return the matrices of a layer's heads, including the gains of the norms before them."""
    attention, norms = attention_at(model, site), norms_before(model, site)
    through = (norms[0], norms[1], norms[1])
    layers = (attention.query, attention.key, attention.value)
    read = [
        centered(layer.weight * norm.weight).unflatten(0, (attention.heads, -1))
        for layer, norm in zip(layers, through, strict=True)
    ]
    return Maps(*(part.double() for part in (*read, output_maps(attention))))


def centered(weight: Tensor) -> Tensor:
    """Return a matrix that first subtracts the mean of its input, as a layer norm does."""
    return weight - weight.mean(dim=-1, keepdim=True)


def feeds(earlier: Site, later: Site) -> tuple[Way, ...]:
    """Return the ways ("query", "key", "value") in which a later site can read an earlier one."""
    if earlier.kind == "encoder":
        if later.kind == "encoder":
            return WAYS if earlier.layer < later.layer else ()
        return ("key", "value") if later.kind == "cross" else ()
    if later.kind == "encoder":
        return ()
    order = {"decoder": 0, "cross": 1}
    if (earlier.layer, order[earlier.kind]) >= (later.layer, order[later.kind]):
        return ()
    return WAYS if later.kind == "decoder" else ("query",)


def composition(earlier: Maps, later: Maps, way: Way) -> Tensor:
    """Return how much each later head reads of what each earlier head writes: (H, H).

    It is the Frobenius norm of the product of both heads' matrices, divided by the product of their
    norms: 0 to 1. The earlier matrix is the value-output one. It is multiplied with the later
    value-output matrix for "value", else with the later query-key matrix, from its query or its key
    side. Source: Elhage et al. 2021.
    """
    read, other = {
        "query": (later.query, later.key),
        "key": (later.key, later.query),
        "value": (later.value, later.output),
    }[way]
    between = torch.einsum("ham,jbm->hjab", earlier.output, read)  # (H, J, D, D)
    products = squares(between, earlier.value, other)
    ends = squares_of(earlier.value, earlier.output)[:, None] * squares_of(read, other)
    return (products / ends).clamp(min=0).sqrt()


def squares(between: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """Return the squared Frobenius norms of first.T @ between @ last for all head pairs: (H, J)."""
    grams = first @ first.mT, last @ last.mT  # (H, D, D), (J, D, D)
    return torch.einsum("hjab,hac,hjcd,jbd->hj", between, grams[0], between, grams[1])


def squares_of(first: Tensor, last: Tensor) -> Tensor:
    """Return the squared Frobenius norm of first.T @ last of each head: (H,)."""
    return torch.einsum("hab,hab->h", first @ first.mT, last @ last.mT)


class Random(NamedTuple):
    """The mean and standard deviation of the composition of two heads with random weights."""

    mean: float
    deviation: float


def compositions(model: Transformer) -> Mapping[tuple[Site, Site, Way], Tensor]:
    """Return the composition (H, H) of an earlier and a later layer, for all pairs and ways."""
    maps = {site: maps_of(model, site) for site in shape_of(model.config).sites}
    return {
        (earlier, later, way): composition(maps[earlier], maps[later], way)
        for earlier in maps
        for later in maps
        for way in feeds(earlier, later)
    }


def random_composition(d_model: int, heads: int) -> Random:
    """Return the composition of heads of a model's size with normally distributed weights."""
    generator = torch.Generator().manual_seed(0)
    draws = []
    for _ in range(DRAWS):
        shape = (heads, d_model // heads, d_model)
        parts = (torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(8))
        earlier, later = Maps(*(next(parts) for _ in range(4))), Maps(*parts)
        draws.append(composition(earlier, later, "key"))
    numbers = torch.stack(draws)
    return Random(float(numbers.mean()), float(numbers.std()))
