"""A model with only a decoder as a reader: what it reads, writes, records and refuses."""

from string import ascii_lowercase
from types import SimpleNamespace

import pytest
import torch
from torch.testing import assert_close

from headlight.model.checkpoint import save_checkpoint
from headlight.model.continuer import Continuer
from headlight.model.decoding.prefixes import NEVER_WRITTEN
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import CellEdit, Edits
from headlight.model.edits.positions import PositionEdit
from headlight.model.insight.attribution import attribute
from headlight.model.library.loading import load_model
from headlight.model.tokenizer import Tokenizer
from headlight.model.tokens import START_ID
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.trace import Site
from headlight.model.transformer.transformer import Transformer
from headlight.model.translator import Translator, reader_of

PROMPT = "kxqmwbkxq"
SITES = [Site("decoder", 0), Site("decoder", 1)]


@pytest.fixture(scope="module")
def small():
    """A decoder-only model with random weights, which reads at most 29 tokens."""
    tokenizer = Tokenizer.train_characters([ascii_lowercase])
    size = tokenizer.vocab_size
    shape = {"d_model": 16, "heads": 2, "encoder_layers": 0, "decoder_layers": 2, "d_ff": 16}
    config = TransformerConfig(size, size, **shape, positions="learned", max_positions=29)
    model = Transformer(config).eval()
    model.draw_weights(torch.Generator().manual_seed(0))
    return SimpleNamespace(model=model, tokenizer=tokenizer)


@pytest.fixture(scope="module")
def continuer(small):
    return reader_of(small.model, small.tokenizer)


def ids(tokens):
    return [token.id for token in tokens]


def test_what_reads_depends_on_whether_there_is_an_encoder(small, continuer, translator):
    assert type(continuer) is Continuer
    assert type(reader_of(translator.model, translator.tokenizer)) is Translator


def test_it_reads_a_start_token_and_the_prompt_cut_to_what_fits(continuer):
    start, *letters = continuer.read(PROMPT)
    assert start.id == START_ID
    assert "".join(token.text for token in letters) == PROMPT
    assert len(continuer.read("a" * 100)) == continuer.shape.max_positions == 29
    assert continuer.is_cut("a" * 29)
    assert not continuer.is_cut("a" * 28)


def test_a_trace_has_the_logits_of_a_plain_call_and_nothing_of_a_source(continuer):
    trace = continuer.trace(PROMPT)
    assert not trace.source_tokens
    assert set(trace.attention) == set(SITES)
    assert set(trace.embedding) == set(trace.outputs) == {"decoder"}
    with torch.inference_mode():
        plain = continuer.model(torch.tensor([[3]]), torch.tensor([ids(trace.target_tokens)]))
    assert_close(trace.logits, plain)


def test_it_writes_what_is_likeliest_after_all_that_stands_there(continuer):
    decoding = continuer.write(PROMPT, longest=8)
    writing = decoding.writing
    assert len(writing.target_tokens) == len(decoding.steps) <= 8
    trace = continuer.trace(PROMPT, writing)
    likely = trace.logits[0].log_softmax(dim=-1)
    likely[:, list(NEVER_WRITTEN)] = -torch.inf
    first = len(PROMPT)
    rows = range(first, first + len(writing.target_tokens))
    assert likely.argmax(dim=-1)[rows.start : rows.stop].tolist() == ids(writing.target_tokens)
    wanted = likely[list(rows), ids(writing.target_tokens)]
    assert_close(torch.tensor(writing.log_probabilities), wanted, atol=1e-4, rtol=0)
    assert [token.id for token in decoding[0].read] == ids(continuer.read(PROMPT))


@pytest.mark.parametrize("strategy", [Strategy("beam", beam_size=3), Strategy("sample", seed=1)])
def test_every_strategy_goes_on_from_the_prompt(continuer, strategy):
    forced = ids(continuer.begin("ab"))
    writing = continuer.write(PROMPT, strategy, longest=6, forced=forced).writing
    assert writing.text.startswith("ab")


def test_edits_are_in_force_in_writing_and_in_reading(continuer):
    closed = Edits(cells=(CellEdit("decoder", 9, 4, opened=False),))
    edits = closed.at_sites(continuer.shape, 29)
    trace = continuer.trace(PROMPT, edits=edits)
    assert all(trace.attention[site].weights[0, :, 9, 4].max() == 0 for site in SITES)
    step = continuer.write(PROMPT, longest=1, edits=edits)[0]
    best = trace.logits[0, 9].log_softmax(dim=-1)
    assert_close(step.log_probability, best[step.token.id].item(), atol=1e-5, rtol=0)
    assert all(step.weights[site][:, 4].max() == 0 for site in SITES)


def test_a_continuation_that_is_cut_is_warned_of(continuer):
    with pytest.warns(UserWarning, match="at most 29 tokens"):
        assert len(continuer.trace("a" * 20, "b" * 20).target_tokens) == 29


def test_padding_changes_nothing_that_was_read(continuer):
    plain, padded = continuer.trace(PROMPT), continuer.trace(PROMPT, pad_to=20)
    assert len(padded.target_tokens) == 20
    assert_close(padded.logits[:, : len(PROMPT) + 1], plain.logits)
    assert continuer.questions(padded) == continuer.questions(plain)
    assert continuer.objective(padded) == continuer.objective(plain)


def test_effects_are_measured_on_the_text_or_on_what_follows_a_query(continuer):
    trace = continuer.trace(PROMPT)
    (question,) = continuer.questions(trace)
    assert question.row == len(PROMPT)
    whole = continuer.objective(trace)
    assert "".join(whole.texts) == PROMPT
    assert whole.rows == tuple(range(len(PROMPT)))
    assert continuer.objective(trace, SITES[0], 2).texts == (PROMPT[2],)
    assert continuer.objective(trace, SITES[0], len(PROMPT)) == whole


def test_the_parts_of_the_stream_sum_to_the_logits(continuer):
    result = attribute(continuer, continuer.trace(PROMPT), 5, 8, 9)
    assert_close(result.total, result.difference, atol=1e-4, rtol=0)
    assert set(result.heads) == set(SITES)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"text": ""}, "nothing to read"),
        ({"text": "ab", "second": "c"}, "cannot read a second one"),
        ({"text": "ab", "masked": (1,)}, "no token that hides"),
        ({"text": "ab", "pad_to": 30}, "Cannot pad to 30 tokens: the model takes 29"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(continuer, options, why):
    with pytest.raises(ValueError, match=why):
        continuer.trace(**options)


def test_a_prompt_that_leaves_no_room_is_refused(continuer):
    with pytest.raises(ValueError, match="29 tokens, which leaves no room to write"):
        continuer.write("a" * 28)
    assert len(continuer.write("a" * 27).writing.target_tokens) == 1


def test_ids_are_read_as_a_text_is(continuer):
    trace = continuer.trace_ids([8, 9, 10])
    assert ids(trace.target_tokens) == [START_ID, 8, 9, 10]


def test_it_is_saved_and_loaded_again(small, continuer, tmp_path):
    save_checkpoint(tmp_path, small.model, small.tokenizer, torch.float32)
    again = load_model(tmp_path)
    assert type(again) is Continuer
    assert_close(again.trace(PROMPT).logits, continuer.trace(PROMPT).logits)


def test_positions_are_left_out_in_reading_and_in_writing(continuer):
    edits = {"decoder": PositionEdit(off=True)}
    trace = continuer.trace(PROMPT, edits=edits)
    assert not trace.embedding["decoder"].positions.any()
    written = continuer.write(PROMPT, edits=edits, longest=3).writing
    logits = continuer.trace(PROMPT, written, edits=edits).logits[0]
    ids = [token.id for token in written.target_tokens]
    assert logits[-len(ids) - 1 : -1].argmax(dim=-1).tolist() == ids
