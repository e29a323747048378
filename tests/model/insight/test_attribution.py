"""What each part adds to a logit: sums, and what a head's scale changes along the direct path."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from headlight.model.insight.attribution import attribute
from headlight.model.trace import AttentionEdit, Run, Site
from headlight.model.translator import load
from tests.model.insight.recording import reader_of, record

ROW, TOKEN, OTHER = 2, 5, 9


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


def test_a_row_that_is_not_there(shipped):
    reader, trace = shipped
    with pytest.raises(ValueError, match="and no row 400"):
        attribute(reader, trace, 400, TOKEN, OTHER)
