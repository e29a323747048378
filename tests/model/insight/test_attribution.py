"""Sums over parts, against plain loops and slopes: a logit minus another, and a score."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from headlight.model.continuer import Continuer
from headlight.model.edits.attention import AttentionEdit
from headlight.model.edits.positions import PositionEdit
from headlight.model.insight.attribution import attribute, sum_score
from headlight.model.stream import BIASES, Part, ScoreAddress, attention_at
from headlight.model.tokens import START_ID
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site
from headlight.model.translator import load
from tests.matrix import first_of
from tests.model.insight.recording import (
    EDITS,
    HEADS,
    SITES,
    reader_of,
    record,
    tokens,
    weight_of,
)

ROW, TOKEN, OTHER = 2, 5, 9
QUERY, KEYS, HEAD = 3, (0, 2), 1
MODELS = [{}, {"norm": "post"}, {"positions": "learned"}, {"norm": "post", "positions": "none"}]


@pytest.fixture(scope="module")
def shipped():
    reader = load("en-fr")
    return reader, reader.trace("The black cat sleeps on the table.")


def check_sums(found, logits, token, other):
    assert_close(found.difference, (logits[token] - logits[other]).item(), atol=1e-5, rtol=0)
    assert found.total == pytest.approx(found.difference, abs=1e-4)
    for site, heads in found.heads.items():
        assert_close(found.keys[site].sum(dim=-1), heads)


def test_all_parts_of_the_shipped_model_sum_to_the_logits(shipped):
    reader, trace = shipped
    for row, logits in enumerate(trace.logits[0]):
        token, other = logits.topk(2).indices.tolist()
        found = attribute(reader, trace, row, token, other)
        check_sums(found, logits, token, other)
        assert set(found.heads) == {site for site in reader.shape.sites if site.kind != "encoder"}


def test_a_head_in_parts_is_what_the_recorded_run_says(shipped):
    reader, trace = shipped
    found = attribute(reader, trace, ROW, TOKEN, OTHER)
    site, norm = Site("cross", 1), reader.model.decoder.norm
    weight = reader.model.output.weight
    states = reader.decoder_stream(trace, {}, type(trace)()).states[ROW]
    read = (weight[TOKEN] - weight[OTHER]) * norm.weight
    added = torch.einsum("hdo,hd->ho", reader.heads_to_stream(site), head_rows(trace, site))
    scale = (states.var(correction=0) + norm.eps).rsqrt()
    expected = (added - added.mean(-1, keepdim=True)) @ read * scale
    assert_close(found.heads[site].float(), expected, atol=1e-5, rtol=1e-4)


def head_rows(trace, site):
    return trace.attention[site].heads[0, :, ROW]


def test_under_edits_it_is_of_the_changed_run(shipped):
    reader, trace = shipped
    site, gate = Site("cross", 0), torch.ones(8)
    gate[3], gate[4] = 0.0, 0.5
    edits = {site: AttentionEdit(gate=gate)}
    found = attribute(reader, trace, ROW, TOKEN, OTHER, edits)
    with torch.inference_mode():
        logits = reader.rerun(trace, Run(edits))[0, ROW]
    check_sums(found, logits, TOKEN, OTHER)
    whole = attribute(reader, trace, ROW, TOKEN, OTHER)
    assert found.heads[site][3] == 0
    assert whole.heads[site][3] != 0


class Frozen(nn.Module):
    """A norm with the scale of one run."""

    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, states):
        centered = states - states.mean(-1, keepdim=True)
        return centered * self.norm.scales[:, None] * self.norm.gain + self.norm.bias


@pytest.mark.parametrize("kind", ["decoder", "cross"])
def test_a_head_is_the_slope_of_its_scale_with_the_norm_held_fixed(kind, make_model):
    model = make_model(seed=1)
    if kind == "decoder":  # so that no other path leads on from its last layer
        nn.init.zeros_(model.decoder.layers[-1].cross_attention.output.weight)
    nn.init.zeros_(model.decoder.layers[-1].feed_forward.output.weight)
    reader, trace = reader_of(model), record(model)
    site = Site(kind, model.config.decoder_layers - 1)
    found = attribute(reader, trace, ROW, TOKEN, OTHER)
    stream = reader.decoder_stream(trace, {}, type(trace)())
    model.decoder.norm = Frozen(stream.norm)
    step = 0.25
    for head, part in enumerate(found.heads[site]):
        logits = []
        for gate in (1 - step, 1 + step):
            gates = torch.ones(model.config.heads)
            gates[head] = gate
            with torch.inference_mode():
                found_logits = reader.rerun(trace, Run({site: AttentionEdit(gate=gates)}))
            logits.append(found_logits[0, ROW, TOKEN] - found_logits[0, ROW, OTHER])
        slope = (logits[1] - logits[0]) / (2 * step)
        assert_close(slope.double(), part, atol=1e-5, rtol=1e-4)


def test_a_post_norm_model_is_refused(make_model):
    model = make_model(norm="post")
    reader, trace = reader_of(model), record(model)
    assert "post-norm" in reader.missing["add up logits"]
    with pytest.raises(ValueError, match="no plain sum"):
        attribute(reader, trace, ROW, TOKEN, OTHER)
    with pytest.raises(ValueError, match="no plain sum"):
        reader.decoder_stream(trace, {}, type(trace)())


def check_score(weight):
    result = sum_score(weight)
    score = weight.record.scores[0, weight.head, weight.query, weight.key].item()
    assert result.score == score
    assert result.total == pytest.approx(score, abs=1e-5)
    return result


@pytest.mark.parametrize("options", first_of(MODELS), ids=str)
@pytest.mark.parametrize("edits", [{}, EDITS], ids=["as trained", "with edits"])
def test_the_pairs_sum_to_the_score_at_every_site(options, edits, make_model):
    model = make_model(**options)
    trace = record(model, edits)
    for site in SITES:
        for head in range(HEADS):
            for key in KEYS:
                check_score(weight_of(model, trace, site, head, QUERY, edits, key=key))


def test_the_pairs_of_the_shipped_model_sum_to_its_scores():
    reader = load("en-fr")
    trace = reader.trace("The dog ate the meat because it was hungry.")
    for site in reader.shape.sites:
        result = check_score(weight_of(reader, trace, site, HEAD, 7, key=1))
        before = sum(part.name == "head" for part in result.query)
        each = 1 if site.kind == "encoder" else 2
        assert before == 8 * (each * site.layer + (site.kind == "cross"))


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@torch.inference_mode()
def test_every_pair_is_that_of_plain_loops(kind, make_model):
    model, site = make_model(positions="learned"), Site(kind, 1)
    trace = record(model)
    result = sum_score(weight_of(model, trace, site, HEAD, QUERY, key=2))
    module = attention_at(model, site)
    rows = slice(HEAD * 4, HEAD * 4 + 4)
    ends = {
        "query": (module.query, "decoder" if kind == "cross" else kind, QUERY, result.query),
        "key": (module.key, "encoder" if kind == "cross" else kind, 2, result.key),
    }
    vectors = {}
    for end, (projection, side, token, parts) in ends.items():
        norm, states = norm_read(model, trace, kind, end, side, token)
        scale = (states.var(correction=0) + norm.eps).rsqrt()
        for part in parts:
            if part == BIASES:
                continue
            wrote = wrote_by(model, trace, part, side, token)
            read = (wrote - wrote.mean()) * scale * norm.weight
            vectors[end, part] = projection.weight[rows] @ read
    for row, query in enumerate(result.query[:-1]):
        for column, key in enumerate(result.key[:-1]):
            expected = sum(
                a * b for a, b in zip(vectors["query", query], vectors["key", key], strict=True)
            )
            assert_close(result.pairs[row, column].float(), expected / 2, atol=1e-5, rtol=1e-4)


def norm_read(model, trace, kind, end, side, token):
    """The norm whose outputs a query or key is projected from, and the token's state before it."""
    if kind == "cross" and end == "key":
        last = [record for block, record in trace.residual.items() if block.side == "encoder"][-1]
        return model.encoder.norm, last.outputs[0, token]
    layer = getattr(model, side).layers[1]
    name = {"encoder": "attention_residual", "decoder": "self_residual", "cross": "cross_residual"}
    residual = getattr(layer, name[kind])
    return residual.norm, trace.residual[residual.block].states[0, token]


def wrote_by(model, trace, part, side, token):
    """The vector that a part added to a token's stream, from the records of the run."""
    embedding = trace.embedding[side]
    if part.name == "embedding":
        return embedding.scaled[0, token]
    if part.name == "position":
        return embedding.positions[token]
    if part.name == "feed-forward":
        return trace.residual[side, part.layer, "feed_forward"].change[0, token]
    site = Site(part.kind, part.layer)
    output = attention_at(model, site).output.weight[:, part.head * 4 : part.head * 4 + 4]
    return output @ trace.attention[site].heads[0, part.head, token]


def test_a_margin_is_a_part_of_the_query_with_the_whole_key(make_model):
    model, site = make_model(), Site("cross", 1)
    trace = record(model)
    weight = weight_of(model, trace, site, HEAD, QUERY, key=2)
    result, whole = sum_score(weight), trace.attention[site]
    query, key = weight.run.reader.score_parts(trace, {}, ScoreAddress(site, HEAD, QUERY, 2))
    for part, margin in zip(result.query, result.pairs.sum(dim=1), strict=True):
        assert_close((query[part] @ whole.key[0, HEAD, 2].double()) / 2, margin)
    for part, margin in zip(result.key, result.pairs.sum(dim=0), strict=True):
        assert_close((key[part] @ whole.query[0, HEAD, QUERY].double()) / 2, margin)


def test_the_difference_of_two_keys_is_that_of_their_maps(make_model):
    model, site = make_model(), Site("encoder", 1)
    trace = record(model)
    one, other = (sum_score(weight_of(model, trace, site, HEAD, QUERY, key=key)) for key in KEYS)
    difference = one.minus(other)
    scores = trace.attention[site].scores[0, HEAD, QUERY]
    assert difference.total == pytest.approx((scores[0] - scores[2]).item(), abs=1e-5)
    assert_close(difference.pairs, one.pairs - other.pairs)
    places = difference.largest(3)
    sizes = [difference.pairs[place].abs().item() for place in places]
    assert sizes == sorted(difference.pairs.abs().flatten().tolist(), reverse=True)[:3]


def test_a_head_that_is_off_wrote_nothing(make_model):
    model, site = make_model(), Site("encoder", 1)
    trace = record(model, EDITS)  # head 3 of the first layer is off
    result = check_score(weight_of(model, trace, site, HEAD, QUERY, EDITS, key=2))
    off = result.query.index(Part("head", "encoder", 0, 2))
    assert not result.pairs[off].any()
    assert not result.pairs[:, off].any()
    assert result.pairs[off - 1].any()


def test_positions_that_are_off_are_no_part(make_model):
    model, edits = make_model(), {"encoder": PositionEdit(off=True)}
    trace = record(model, edits)
    result = check_score(weight_of(model, trace, Site("encoder", 0), HEAD, QUERY, edits, key=2))
    assert result.query == (Part("embedding"), BIASES)


def test_a_decoder_by_itself(make_model):
    model = make_model(encoder_layers=0)
    reader, trace = Continuer(model, tokenizer=None), Trace((), tokens(START_ID, 4, 5, 6))
    with torch.inference_mode():
        reader.rerun(trace, Run(trace=trace))
    for layer in (0, 1):
        check_score(weight_of(reader, trace, Site("decoder", layer), HEAD, QUERY, key=2))


def test_a_bert_holds_the_norms_between_its_blocks(bert):
    trace = bert.trace("the cat sat on the mat.", second="it was a dog.")
    for site in bert.shape.sites:
        result = check_score(weight_of(bert, trace, site, HEAD, QUERY, key=2))
    assert {part.name for part in result.key} == {
        "embedding", "segment", "position", "head", "feed-forward", "biases"
    }  # fmt: skip


def test_parts_that_do_not_add_up_are_refused(make_model, monkeypatch):
    model = make_model()
    weight = weight_of(model, record(model), Site("encoder", 1), HEAD, QUERY, key=2)
    score = ScoreAddress(weight.site, HEAD, QUERY, 2)
    known = weight.run.reader.score_parts(weight.run.trace(), {}, score)
    less = {part: vector for part, vector in known[0].items() if part != BIASES}
    monkeypatch.setattr(weight.run.reader, "score_parts", lambda *asked: (less, known[1]))
    with pytest.raises(ValueError, match="do not add up"):
        sum_score(weight)
