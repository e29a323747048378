"""Five readings of where a decoder attended, to compare with what it loses without each word."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from headlight.model.edits.attention import AS_TRAINED
from headlight.model.insight.estimate import asked, differentiating, gradients
from headlight.model.insight.explain import mixed_half, rolled_out
from headlight.model.insight.scoring import log_probabilities
from headlight.model.reader import Reader
from headlight.model.trace import Trace
from headlight.model.transformer.trace import AttentionRecord, Run, RunEdits, Site
from headlight.wings.cause.knockout import Edges

READINGS = ("weight", "length", "gradient", "rollout", "relevance")


@torch.inference_mode(False)  # tensors made here must be able to take part in gradients
@torch.no_grad()
def readings(
    reader: Reader, trace: Trace, edges: Edges, edits: RunEdits | None = None
) -> dict[str, Tensor]:
    """Return how much each written token took from each word, by every reading: (N, W) each.

    The first three cover the edges that `knock_out` closes: `weight` is the mean weight, `length`
    the mean of `value_lengths` over the layers, `gradient` the sum of `gradient_times_weights`, in
    nats. `rollout` and `relevance` follow all layers from the output to the words. The pieces of a
    word are summed. `length` is missing if the output projection is not known. Raises ValueError
    for a text or a model without gradients.
    """
    asked(reader, trace, edges.written)
    record = Trace()
    with differentiating():
        gates, changed = {}, dict(edits or {})
        for site in reader.shape.sites:
            edit = changed.get(site, AS_TRAINED)
            gate = torch.ones(reader.shape.heads(site.kind)) if edit.gate is None else edit.gate
            # A gate that requires a gradient gives the heads one, even if no parameter requires it.
            gates[site] = gate.detach().float().clone().requires_grad_()
            changed[site] = replace(edit, gate=gates[site])
        scores = log_probabilities(reader.rerun(trace, Run(changed, record)), edges.written)[0]
        by_gradient, relevances = [], []
        for row, score in zip(edges.written.rows, scores, strict=True):
            products = gradient_times_weights(record, score, gates)
            by_gradient.append(sum(products[site][:, row].sum(dim=0) for site in edges.sites))
            relevances.append(relevance(products, edges, row))
    rows, words = list(edges.written.rows), membership(edges, record)
    weights = [record.site_weights(site).detach()[:, rows].mean(dim=0) for site in edges.sites]
    by_reading = {
        "weight": torch.stack(weights).mean(dim=0) @ words,
        "gradient": torch.stack(by_gradient) @ words,
        "rollout": decoder_rollout(record)[rows] @ words,
        "relevance": torch.stack(relevances) @ words,
    }
    lengths = [
        value_lengths(reader, record.attention[site], site, edges, gates[site])
        for site in edges.sites
    ]
    known = [length for length in lengths if length is not None]
    if len(known) == len(lengths):
        by_reading["length"] = torch.stack(known).mean(dim=0)
    return {name: by_reading[name].detach() for name in READINGS if name in by_reading}


def membership(edges: Edges, record: Trace) -> Tensor:
    """Return which keys belong to which word: (K, W), 0 or 1."""
    weights = record.site_weights(edges.sites[0])
    members = weights.new_zeros(weights.size(-1), len(edges.words))
    for index, word in enumerate(edges.words):
        members[list(word.keys), index] = 1
    return members


def gradient_times_weights(
    record: Trace, score: Tensor, gates: Mapping[Site, Tensor]
) -> dict[Site, Tensor]:
    """Return each weight times the gradient of `score` for it: (H, Q, K) for each layer.

    A head's output is gate x weights @ value. So the gradient of a weight is the gate times the
    product of the output's gradient and the key's value.
    """
    sites = list(gates)
    slopes = gradients(score, [record.attention[site].heads for site in sites], again=True)
    products = {}
    for site, slope in zip(sites, slopes, strict=True):
        value = record.attention[site].value[0].detach()  # (H, K, D)
        toward = gates[site].detach().to(slope)[:, None, None] * (slope[0] @ value.mT)
        products[site] = toward * record.attention[site].weights[0].detach()  # (H, Q, K)
    return products


@torch.no_grad()
def value_lengths(
    reader: Reader, record: AttentionRecord, site: Site, edges: Edges, gate: Tensor
) -> Tensor | None:
    """Return the length of the vector that a site's heads add together from each word: (N, W).

    It is the norm of the sum of gate x weight x value, after the output projection, over heads and
    a word's pieces; None if the projection is not known. Source: Kobayashi et al. 2020, "Attention
    is Not Only a Weight", sections 3 and 5.
    """
    parts = reader.heads_to_stream(site)  # (H, D, d_model)
    if parts is None or record.value is None:
        return None
    vectors = gate.to(parts)[..., None, None] * (record.value[0] @ parts)  # (H, K, d_model)
    weights = record.weights[0][:, list(edges.written.rows)]  # (H, N, K)
    lengths = []
    for word in edges.words:
        keys = list(word.keys)
        added = torch.einsum("hnk,hkm->nm", weights[..., keys], vectors[:, keys])
        lengths.append(added.norm(dim=-1))
    return torch.stack(lengths, dim=-1)


@torch.no_grad()
def decoder_rollout(trace: Trace) -> Tensor:
    """Return the share of each token of the input in each row of a decoder: (T, S), or (T, T).

    Every block mixes half the mean of its heads with half the residual stream. With an encoder, the
    decoder gets shares of the source from the encoder's mixture, by cross-attention, and from the
    tokens written before. Sources: Abnar and Zuidema 2020, "Quantifying Attention Flow in
    Transformers", section 3; over both inputs as in Ferrando et al. 2022, "Towards Opening the
    Black Box of Neural Machine Translation", section 3.
    """
    crosses = sorted(site for site in trace.attention if site.kind == "cross")
    if not crosses:
        return rolled_out(trace, "decoder")
    memory, shares = rolled_out(trace, "encoder"), torch.zeros(())  # (S, S), (T, S)
    for site in crosses:
        own = mixed_half(trace.site_weights(Site("decoder", site.layer)).mean(dim=0))
        looks = trace.site_weights(site).mean(dim=0)
        total = 1 + looks.sum(dim=-1, keepdim=True)
        shares = (own @ shares + looks @ memory) / total if site.layer else looks @ memory / total
    return shares


def relevance(products: Mapping[Site, Tensor], edges: Edges, row: int) -> Tensor:
    """Return the relevance of each token of the input to what a decoder wrote in a row: (K,).

    `products` are gradients times weights (H, Q, K), of all sites. The positive ones, averaged over
    heads, are added up layer by layer. Source: Chefer et al. 2021, "Generic Attention-model
    Explainability for Interpreting Bi-Modal and Encoder-Decoder Transformers", equations 5 to 10.
    """
    positive = {site: part.clamp(min=0).mean(dim=0) for site, part in products.items()}
    first = {kind: positive.get(Site(kind, 0)) for kind in ("encoder", "decoder")}
    own = {kind: identity_like(part) for kind, part in first.items() if part is not None}
    source = torch.zeros(())  # (T, S), in a model with an encoder
    for site in sorted(site for site in positive if site.kind == "encoder"):
        own["encoder"] = own["encoder"] + positive[site] @ own["encoder"]
    for site in sorted(site for site in positive if site.kind == "decoder"):
        seen = positive[site]
        own["decoder"] = own["decoder"] + seen @ own["decoder"]
        if (cross := Site("cross", site.layer)) in positive:
            if site.layer:
                source = source + seen @ source
            ends = spread_evenly(own["decoder"]), spread_evenly(own["encoder"])
            source = source + ends[0].T @ positive[cross] @ ends[1]
    if edges.kind == "cross":
        return source[row]
    return (own["decoder"] - identity_like(own["decoder"]))[row]


def spread_evenly(relevances: Tensor) -> Tensor:
    """Return relevances (T, T) whose rows, without the identity, sum to 1 (equations 8 and 9)."""
    identity = identity_like(relevances)
    others = relevances - identity
    return others / others.sum(dim=-1, keepdim=True).clamp(min=1e-12) + identity


def identity_like(square: Tensor) -> Tensor:
    return torch.eye(len(square), dtype=square.dtype, device=square.device)
