"""Who wrote a query and a key in decoders of the transformers library."""

import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.attribution import sum_score
from headlight.model.library.decoder_hooks import capturing
from headlight.model.library.decoder_modules import decoder_states
from headlight.model.library.decoder_parts import CapturedRun
from headlight.model.stream import BIASES, MEMORY, HeadsTrace, Part, ScoreAddress
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site
from tests.matrix import first_of
from tests.model.insight.recording import weight_of
from tests.model.library.families import make_inputs

TEXT, TARGET = "I love my cat.", "J'aime mon chat."
QUERY, KEY = 4, 1
# Rotary positions with keys that heads share, norms of queries and keys, learned positions, one
# projection for all, an encoder's output under names of its own, a bias for distances.
NAMES = ["Qwen3", "Llama", "GPT-2", "OPT", "GPT-NeoX", "Phi-3", "GPT-OSS", "mBART", "T5"]


@pytest.mark.parametrize("name", first_of(NAMES))
def test_the_parts_sum_to_the_recorded_query_and_key(name, attached):
    model, attachment = attached(name)
    inputs = make_inputs(name)
    for site in attachment.decoder.attending:
        score, whole = ScoreAddress(site, 2, QUERY, KEY), Trace()
        recorded = HeadsTrace.behind(score)
        with torch.no_grad():
            with attachment.watching(Run(trace=whole)):
                model(**inputs, use_cache=False)
            with attachment.watching(Run(trace=recorded)), capturing() as captured:
                outputs = model(**inputs, use_cache=False, output_hidden_states=True)
            embedding = decoder_states(outputs)[0][0]
            run = CapturedRun(model, attachment, captured, recorded, embedding)
            query, key = run.parts(score)
        record = whole.attention[site]
        expected = record.query[0, 2, QUERY], record.key[0, 2, KEY]
        for parts, vector in zip((query, key), expected, strict=True):
            assert_close(sum(parts.values()).float(), vector, atol=1e-5, rtol=1e-5)
        assert (MEMORY in key) == (site.kind == "cross")


@pytest.mark.parametrize("name", first_of(["GPT-2", "Llama", "M2M100", "T5"]))
def test_the_pairs_sum_to_the_score(name, load):
    reader = load(name)
    trace = reader.trace(TEXT, TARGET if "cross" in reader.shape.kinds else None)
    gate = torch.ones(reader.shape.heads("decoder"))
    gate[1] = 0.5
    edits = {Site("decoder", 0): AttentionEdit(gate=gate, scale=0.4)}
    changed = reader.trace(TEXT, TARGET if "cross" in reader.shape.kinds else None, edits=edits)
    for site in [site for site in reader.shape.sites if site.kind != "encoder"]:
        for run, made in (({}, trace), (edits, changed)):
            result = sum_score(weight_of(reader, made, site, 1, 3, run, key=KEY))
            score = made.attention[site].scores[0, 1, 3, KEY].item()
            assert result.total == pytest.approx(score, abs=1e-5)


def test_every_part_is_that_of_plain_loops(load):
    reader = load("GPT-2")
    trace, block = reader.trace(TEXT), reader.model.transformer.h[1]
    site, head, width = Site("decoder", 1), 2, 4
    query, _ = reader.score_parts(trace, {}, ScoreAddress(site, head, QUERY, KEY))
    with torch.no_grad():
        ids = torch.tensor([token.id for token in trace.target_tokens])
        wrote = {
            Part("embedding"): reader.model.transformer.wte(ids[QUERY]),
            Part("position"): reader.model.transformer.wpe.weight[QUERY],
        }
        output = reader.model.transformer.h[0].attn.c_proj.weight
        for each, part in enumerate(trace.attention[Site("decoder", 0)].heads[0, :, QUERY]):
            rows = output[each * width : (each + 1) * width]
            wrote[Part("head", "decoder", 0, each)] = part @ rows
        states = reader.model(ids[None], output_hidden_states=True).hidden_states[1][0, QUERY]
        bias = reader.model.transformer.h[0].attn.c_proj.bias
        wrote[Part("feed-forward", layer=0)] = states - bias - sum(wrote.values())
        scale = (states.var(correction=0) + block.ln_1.eps).rsqrt()
        projection = block.attn.c_attn.weight[:, head * width : (head + 1) * width]
        for part, vector in wrote.items():
            read = (vector - vector.mean()) * scale * block.ln_1.weight
            assert_close(query[part].float(), read @ projection, atol=1e-5, rtol=1e-4)
    assert {*query} == {*wrote, BIASES}


@pytest.mark.parametrize("name", ["BART", "RoBERTa"])
def test_others_say_why_not(name, load):
    reader = load(name)
    trace = reader.trace(TEXT)
    with pytest.raises(ValueError, match=reader.missing["show the stream"]):
        sum_score(weight_of(reader, trace, reader.shape.sites[0], 1, 3, key=KEY))


def test_the_encoder_of_a_pair_says_why_not(load):
    reader = load("T5")
    trace = reader.trace(TEXT, TARGET)
    with pytest.raises(ValueError, match="Choose a head of the decoder"):
        sum_score(weight_of(reader, trace, Site("encoder", 0), 1, 3, key=KEY))
