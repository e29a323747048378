"""The figures of an atlas once more, in plain loops over traces of one sentence each."""

import math

import numpy as np

from headlight.model.transformer.trace import Site


def plain_figures(traces, kind, layers, heads):
    """The mean over rows of each statistic (L, H), by loops over every sentence, head and row."""
    results = {}
    for layer in range(layers):
        for trace in traces:
            site = Site(kind, layer)
            weights = trace.attention[site].weights[0].double().numpy()
            closed = trace.attention[site].masked_scores[0].isneginf().numpy()
            tokens = [*trace.key_tokens(site)]
            for head in range(heads):
                for name, values in rows_of(weights[head], ~closed[head], tokens, kind).items():
                    results.setdefault(name, {}).setdefault((layer, head), []).extend(values)
    return {
        name: np.array(
            [[np.mean(places[layer, head]) for head in range(heads)] for layer in range(layers)]
        )
        for name, places in results.items()
    }


def rows_of(weights, visible, tokens, kind):
    """The values of each statistic, one a row that it is defined for."""
    match, (queries, keys) = {}, weights.shape
    last = keys - 1 if tokens[-1].is_special and keys > 1 else None
    for query in range(queries):
        row, seen = weights[query], visible[query]
        if seen.sum() < 2:
            continue

        def add(name, value):
            match.setdefault(name, []).append(value)

        entropy = -sum(weight * math.log(weight) for weight in row if weight > 0)
        add("entropy", entropy)
        add("broad", entropy / math.log(seen.sum()))
        same_side = kind != "cross"
        if not (same_side and query == last):
            add("confidence", max(weight for key, weight in enumerate(row) if key != last))
        if not (same_side and query == 0):
            add("first token", row[0])
        if last is not None and kind != "decoder" and not (same_side and query == last):
            add("end token", row[last])
        for name, flags in (
            ("special tokens", [token.is_special for token in tokens]),
            ("punctuation", [is_sign(token) for token in tokens]),
        ):
            if any(flags):
                add(name, sum(weight for weight, flag in zip(row, flags, strict=True) if flag))
        if same_side:
            for name, offset in (("previous token", -1), ("same token", 0), ("next token", 1)):
                if 0 <= query + offset < keys and not (kind == "decoder" and offset == 1):
                    add(name, row[query + offset])
            add("distance", sum(w * abs(query - key) for key, w in enumerate(row)))
            add("squared distance", sum(w * (query - key) ** 2 for key, w in enumerate(row)))
    return match


def is_sign(token):
    """Whether a token is only punctuation, among the signs in the texts of these tests."""
    return not token.is_special and token.text in set(".,?!;:'-“”«»…")
