"""The attention interface while a model writes with a cache, against one pass over the whole."""

import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site
from tests.model.library.families import DECODERS, PAIRS, make_inputs, make_model, traced

pytestmark = pytest.mark.usefixtures("one_thread")


def edits_of_decoding(name, attached):
    kind = "cross" if name in PAIRS else "decoder"
    heads = attached(name)[1].kinds[kind][1]
    decoder = Site("decoder", 1)
    size = 24
    block = torch.zeros(size, size, dtype=torch.bool)
    block[6:, 3] = block[9, 8] = True
    return {
        Site(kind, 0): AttentionEdit(gate=torch.linspace(0, 1, heads)),
        decoder: AttentionEdit(block=block, scale=0.2),
    }


@pytest.mark.parametrize("edited", [False, True])
@pytest.mark.parametrize("name", [*DECODERS, *PAIRS])
def test_steps_with_a_cache_equal_one_pass(name, edited, attached):
    """Each step records what the row of the newest query is in one pass, with absolute columns."""
    model, attachment = attached(name)
    edits = edits_of_decoding(name, attached) if edited else {}
    whole, trace = traced(name, attached, edits)
    inputs = make_inputs(name)
    read = inputs["decoder_input_ids" if name in PAIRS else "input_ids"]
    cache, memory = None, None
    for position in range(read.size(1)):
        step = Trace()
        options = {"past_key_values": cache, "use_cache": True}
        token = read[:, position : position + 1]
        with torch.inference_mode(), attachment.watching(Run(edits, step), first_query=position):
            if name in PAIRS:
                source = {"input_ids": inputs["input_ids"]} if memory is None else {}
                outputs = model(
                    **source, encoder_outputs=memory, decoder_input_ids=token, **options
                )
                memory = (outputs.encoder_last_hidden_state,)
            else:
                outputs = model(input_ids=token, **options)
        cache = outputs.past_key_values
        assert_close(outputs.logits[0, 0], whole[0, position], atol=2e-4, rtol=1e-4)
        for site, record in step.attention.items():
            if site.kind == "encoder":
                continue
            keys = record.weights.size(-1)
            assert keys == (11 if site.kind == "cross" else position + 1)
            expected = trace.attention[site]
            row = (slice(None), slice(None), slice(position, position + 1), slice(keys))
            assert_close(record.weights, expected.weights[row], atol=1e-5, rtol=1e-4)
            assert torch.equal(record.masked_scores.isinf(), expected.masked_scores[row].isinf())


@pytest.mark.parametrize("name", ["GPT-2", "Mistral", "T5"])
def test_a_generation_in_one_context_counts_its_positions(name, attached):
    model, attachment = attached(name)
    edits = edits_of_decoding(name, attached)
    options = {"max_new_tokens": 8, "do_sample": False, "eos_token_id": None}
    inputs = make_inputs(name)
    inputs.pop("decoder_input_ids", None)
    options |= {"return_dict_in_generate": True, "output_logits": True}
    with torch.inference_mode(), attachment.watching(Run(edits)):
        written = model.generate(**inputs, **options)
    inputs["decoder_input_ids" if name in PAIRS else "input_ids"] = written.sequences
    steps = torch.stack(written.logits, dim=1)
    assert_close(traced(name, attached, edits, **inputs)[0][:, -9:-1], steps, atol=2e-4, rtol=1e-4)
    assert (traced(name, attached, **inputs)[0][:, -9:-1] - steps).abs().max() > 0.01


@pytest.mark.parametrize("name", ["GPT-2", "Gemma 2", "BART"])
def test_plain_generation_writes_what_eager_attention_does(name, attached):
    model, attachment = attached(name)
    inputs = make_inputs(name)
    inputs.pop("decoder_input_ids", None)
    options = {"max_new_tokens": 10, "do_sample": False, "eos_token_id": None}
    with torch.inference_mode():
        expected = make_model(name).generate(**inputs, **options)
        with attachment.watching(Run()):
            assert torch.equal(model.generate(**inputs, **options), expected)
