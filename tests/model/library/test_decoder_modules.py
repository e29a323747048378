"""Parts of decoders of the transformers library: they sum to the logits, or are not offered."""

import threading

import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.attribution import attribute
from headlight.model.library.decoder_hooks import capturing
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site
from tests.model.library.families import DECODERS, PAIRS

POST_NORM = {"Gemma 2", "Gemma 3", "Marian", "BART"}  # Gemma has norms after its blocks too
TEXT, TARGET = "I love my cat.", "J'aime mon chat."


@pytest.mark.parametrize("name", {**DECODERS, **PAIRS})
def test_the_modules_of_pre_norm_decoders_are_found(name, attached):
    _, attachment = attached(name)
    assert (attachment.decoder is None) == (name in POST_NORM)
    if name not in POST_NORM:
        assert len(attachment.decoder.feed_forwards) == attachment.kinds["decoder"][0]


@pytest.mark.parametrize("name", ["GPT-2", "Llama", "M2M100", "T5"])
def test_all_parts_sum_to_the_logits(name, load):
    reader = load(name)
    trace = reader.trace(TEXT, TARGET if "cross" in reader.shape.kinds else None)
    site = Site("decoder", 0)
    gate = torch.ones(reader.shape.heads("decoder"))
    gate[1] = 0.5
    for edits in ({}, {site: AttentionEdit(gate=gate)}):
        with torch.inference_mode():
            rows = reader.rerun(trace, Run(edits, Trace()))[0]
        for row, logits in enumerate(rows):
            token, other = logits.topk(2).indices.tolist()
            result = attribute(reader, trace, row, token, other, edits)
            assert_close(result.difference, (logits[token] - logits[other]).item())
            assert result.total == pytest.approx(result.difference, abs=1e-4)
            assert len(result.heads) == len(reader.shape.sites) - reader.shape.layers("encoder")
            for of_site, heads in result.heads.items():
                assert_close(result.keys[of_site].sum(dim=-1), heads)


@pytest.mark.parametrize("name", ["BART", "Marian", "RoBERTa"])
def test_others_say_why_not(name, load):
    reader = load(name)
    assert reader.missing["add up logits"].endswith(".")
    with pytest.raises(ValueError, match=reader.missing["add up logits"]):
        reader.decoder_stream(reader.trace(TEXT), {}, Trace())


def test_one_thread_does_not_hear_another(load):
    reader = load("GPT-2")
    with capturing() as captured:
        thread = threading.Thread(target=reader.trace, args=[TEXT])
        thread.start()
        thread.join()
    assert not captured.outputs
