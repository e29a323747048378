import pytest
import torch
from torch.testing import assert_close

from headlight.model.insight.lens import lens, stream_norms
from headlight.model.memory_layout import lay_out
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Block, Run
from tests.model.insight.recording import reader_of

SOURCE = torch.tensor([[4, 5, 6, 7, 8, 3]])
TARGET = torch.tensor([[2, 14, 15, 16]])


def record(model):
    trace = Trace()
    with torch.inference_mode():
        model(SOURCE, TARGET, Run(trace=trace))
    return trace


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_last_row_is_what_the_model_predicts(make_model, norm):
    model = make_model(seed=2, norm=norm)
    trace = record(model)
    table = lens(reader_of(model), trace, top=20)
    probabilities = trace.logits[0].softmax(dim=-1)
    assert_close(table.probabilities[-1], probabilities.gather(-1, table.ids[-1]))
    assert table.ranks[-1].tolist() == [1] * 4
    assert_close(table.probabilities[-1, :, 0], probabilities.max(dim=-1).values)
    # The last layer's stream under the lens is that row too, so all rows are read alike.
    last = trace.residual[Block("decoder", 1, "feed_forward")].outputs
    with torch.inference_mode():
        again = model.output(model.decoder.norm(last))
    assert_close(again, trace.logits, atol=1e-5, rtol=0)


def test_a_model_cut_after_a_layer_predicts_what_the_lens_shows_there(make_model):
    model, cut = make_model(seed=2), make_model(seed=2, decoder_layers=1)
    cut.load_state_dict(model.state_dict(), strict=False)
    table, shorter = (lens(reader_of(each), record(each)) for each in (model, cut))
    assert shorter.labels == ("embedding", "layer 1")
    assert torch.equal(table.ids[:2], shorter.ids)
    assert_close(table.probabilities[:2], shorter.probabilities)


def test_ranks_are_those_of_the_likeliest_token_in_the_end(make_model):
    model = make_model(seed=2)
    table = lens(reader_of(model), record(model), top=20)
    assert table.labels == ("embedding", "layer 1", "layer 2")
    assert table.ids.shape == table.probabilities.shape == (3, 4, 20)
    assert table.ranks.max() > 1
    assert_close(table.probabilities.sum(dim=-1), torch.ones(3, 4))
    for layer in range(3):
        for position in range(4):
            place = table.ranks[layer, position] - 1
            assert table.ids[layer, position, place] == table.ids[-1, position, 0]


def test_no_more_tokens_are_listed_than_there_are(make_model):
    model = make_model()
    reader, trace = reader_of(model), record(model)
    assert lens(reader, trace, top=3).ids.shape == (3, 4, 3)
    assert lens(reader, trace, top=99).ids.shape == (3, 4, 20)


def test_a_trace_without_a_decoders_stream_is_refused(make_model, bert):
    with pytest.raises(ValueError, match="Choose a model with a decoder"):
        lens(bert, bert.trace("the cat sat."))
    with pytest.raises(ValueError, match=r"pass reader\.streamed\(trace, {}\) to lens"):
        lens(reader_of(make_model()), Trace())


def test_a_model_laid_out_for_decoding_is_read_alike(make_model):
    plain, laid_out = make_model(seed=2), lay_out(make_model(seed=2))
    expected, found = (lens(reader_of(each), record(each)) for each in (plain, laid_out))
    assert torch.equal(found.ids, expected.ids)
    assert_close(found.probabilities, expected.probabilities, atol=1e-5, rtol=0)


def test_the_norms_follow_the_stream_from_the_embedding_to_the_last_layer(make_model):
    trace = record(make_model(seed=2))
    encoder, decoder = stream_norms(trace, "encoder"), stream_norms(trace, "decoder")
    assert [label for label, _ in encoder] == [
        "embedding",
        "layer 1 self-attention",
        "layer 1 feed-forward",
        "layer 2 self-attention",
        "layer 2 feed-forward",
    ]
    assert [label for label, _ in decoder][:4] == [
        "embedding",
        "layer 1 self-attention",
        "layer 1 cross-attention",
        "layer 1 feed-forward",
    ]
    assert len(decoder) == 7
    for norms, length in ((encoder, 6), (decoder, 4)):
        assert {tuple(norm.shape) for _, norm in norms} == {(length,)}
    first = trace.residual[Block("decoder", 0, "self")]
    assert_close(decoder[0][1], first.states[0].square().sum(dim=-1).sqrt())
    assert_close(decoder[1][1], (first.states + first.change)[0].square().sum(dim=-1).sqrt())


def test_a_word_has_settled_from_the_layer_on_that_no_other_follows(make_model):
    model = make_model(seed=2, decoder_layers=4)
    table = lens(reader_of(model), record(model))
    first = table.ids[..., 0].T.tolist()  # the words of each position, layer by layer
    for words, settled in zip(first, table.settled.tolist(), strict=True):
        assert set(words[settled:]) == {words[-1]}
        assert settled == 0 or words[settled - 1] != words[-1]
