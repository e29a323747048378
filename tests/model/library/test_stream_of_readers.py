"""The stream of decoders of the transformers library: its sums, and what is read from it."""

import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.lens import lens, stream_norms
from headlight.model.library.decoder_modules import decoder_states
from headlight.model.transformer.trace import Block, Run, Site

TEXT, TARGET = "I love my cat.", "J'aime mon chat."
PRE_NORM = ["GPT-2", "Llama", "M2M100", "T5"]


@pytest.fixture
def streamed(load):
    """A function from the name of a model to its reader and a trace with the stream."""

    def get(name, edits=None):
        reader = load(name)
        pair = "cross" in reader.shape.kinds
        trace = reader.trace(TEXT, TARGET if pair else None, edits=edits)
        return reader, reader.streamed(trace, edits or {})

    return get


@pytest.mark.parametrize("name", PRE_NORM)
def test_the_stream_grows_by_what_every_block_adds(name, streamed):
    reader, trace = streamed(name)
    outputs = reader.calls(trace, Run(), output_hidden_states=True)
    before = decoder_states(outputs)
    states = trace.embedding["decoder"].states
    for block, record in trace.residual.items():
        if block.part == "self":
            assert_close(record.states, before[block.layer])
        assert_close(record.states, states)
        assert_close(record.outputs, record.states + record.change)
        states = record.outputs
    parts = 3 if "cross" in reader.shape.kinds else 2
    assert len(trace.residual) == parts * reader.shape.layers("decoder")
    assert len(stream_norms(trace, "decoder")) == 1 + len(trace.residual)


@pytest.mark.parametrize("name", PRE_NORM)
def test_what_a_block_reads_is_what_its_module_was_called_with(name, streamed):
    reader, trace = streamed(name)
    called = {}

    def note(module, arguments, options, _):
        called[module] = arguments[0] if arguments else options["hidden_states"]

    modules = {site: part for part, (site,) in reader.attached.sites.modules.items()}
    hooks = [part.register_forward_hook(note, with_kwargs=True) for part in modules.values()]
    reader.calls(trace, Run())
    for hook in hooks:
        hook.remove()
    for block, record in trace.residual.items():
        if block.part != "feed_forward":
            site = Site("decoder" if block.part == "self" else "cross", block.layer)
            assert_close(record.inputs, called[modules[site]])


@pytest.mark.parametrize("name", PRE_NORM)
def test_the_last_row_of_the_lens_equals_the_logits(name, streamed):
    reader, trace = streamed(name)
    layer = reader.shape.layers("decoder") - 1
    last = trace.residual[Block("decoder", layer, "feed_forward")].outputs
    with torch.inference_mode():
        assert_close(reader.read_out(last), trace.logits, atol=1e-5, rtol=1e-5)
    table = lens(reader, trace)
    assert len(table.labels) == layer + 2
    assert torch.equal(table.ids[-1, :, 0], trace.logits[0].argmax(dim=-1))
    assert_close(table.probabilities[-1, :, 0], trace.logits[0].softmax(dim=-1).amax(dim=-1))


def test_a_head_that_is_off_adds_nothing_to_the_stream(streamed):
    gate = torch.zeros(4)
    _, trace = streamed("GPT-2", {Site("decoder", 1): AttentionEdit(gate=gate)})
    change = trace.residual[Block("decoder", 1, "self")].change
    assert_close(change, change[:, :1].expand_as(change))  # only the bias, for every token


@pytest.mark.parametrize("name", ["BART", "Marian", "RoBERTa"])
def test_others_say_why_not(name, load):
    reader = load(name)
    assert reader.missing["show the stream"].endswith(".")
    with pytest.raises(ValueError, match=reader.missing["show the stream"]):
        reader.streamed(reader.trace(TEXT), {})
