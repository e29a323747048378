import math

import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.roles import (
    copied,
    duplicate_token,
    induction,
    previous_token,
    role_scores,
)
from headlight.model.tokenizer import Tokenizer
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.trace import Site
from headlight.model.transformer.transformer import Transformer
from headlight.model.translator import Translator, load

LETTERS = "abcdefghijklmnopqrst"
PLACES = 64
SHARP = 500.0  # of scores: far enough apart that a softmax leaves 1 to the largest


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train_characters([LETTERS])


def empty(tokenizer, **options):
    """A Transformer all of whose weights are 0, its norms apart."""
    shape = {
        "source_vocab_size": tokenizer.vocab_size,
        "target_vocab_size": tokenizer.vocab_size,
        "heads": 1,
        "encoder_layers": 1,
        "decoder_layers": 2,
        "d_ff": 8,
        "positions": "learned",
        "max_positions": PLACES,
        "tie_embeddings": False,
    }
    model = Transformer(TransformerConfig(**shape | options))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name:
                parameter.zero_()
    return model


@pytest.fixture(scope="module")
def constructed(tokenizer):
    """Two layers that foretell by hand-built weights what comes next in what repeats itself.

    The stream has a number for each token, for each position, and for each earlier token.
    The head of layer 0 looks one place back and notes which token it finds; the head of layer 1
    looks for its own token in those notes, and hands on the token that is there.
    """
    size = tokenizer.vocab_size
    model = empty(tokenizer, d_model=2 * size + PLACES)
    width, token = model.config.d_model, torch.arange(size)
    place, noted = torch.arange(size, size + PLACES), token + size + PLACES
    with torch.no_grad():
        embedding = model.decoder.embedding
        embedding.tokens.weight[token, token] = 1 / math.sqrt(width)  # which reading multiplies
        embedding.positions.table[torch.arange(PLACES), place] = 1
        before, after = (layer.self_attention for layer in model.decoder.layers)
        before.query.weight[place[:-1], place[1:]] = SHARP
        before.key.weight[place, place] = 1
        before.value.weight[token, token] = 1
        before.output.weight[noted, token] = 1
        after.query.weight[token, token] = SHARP
        after.key.weight[token, noted] = 1
        after.value.weight[token, token] = 1
        after.output.weight[token, token] = 1
        model.output.weight[token, token] = 1
    return Translator(model, tokenizer)


def test_a_constructed_induction_model_has_the_heads_it_was_built_of(constructed):
    result = role_scores(constructed).scores
    before, after = result["previous"]["decoder"][:, 0]
    assert before > 0.999
    assert after < 0.2
    before, after = result["induction"]["decoder"][:, 0]
    assert before < 0.1
    assert after > 0.999
    before, after = result["copying"]["decoder"][:, 0]
    assert before == 0  # its notes are no logits
    assert after == 1


def test_without_its_previous_token_head_there_is_no_induction(constructed):
    off = {Site("decoder", 0): AttentionEdit(gate=torch.zeros(1))}
    result = role_scores(constructed, edits=off).scores["induction"]["decoder"]
    assert result[1, 0] < 0.1


def test_a_head_that_looks_at_the_same_token_has_that_role(tokenizer):
    size = tokenizer.vocab_size
    model = empty(tokenizer, d_model=size, positions="none")
    every = torch.arange(size)
    with torch.no_grad():
        for side in (model.encoder, model.decoder):
            side.embedding.tokens.weight[every, every] = 1
        for block in (
            model.encoder.layers[0].attention,
            model.decoder.layers[0].self_attention,
        ):
            block.query.weight[every, every] = SHARP
            block.key.weight[every, every] = 1
    result = role_scores(Translator(model, tokenizer)).scores["duplicate"]
    # The query itself is one of the two that are the same.
    assert_close(result["encoder"][0, 0].item(), 0.5, atol=1e-3, rtol=0)
    assert_close(result["decoder"][0, 0].item(), 0.5, atol=1e-3, rtol=0)


def test_random_heads_are_near_chance(make_model, tokenizer):
    sizes = {"source_vocab_size": tokenizer.vocab_size, "target_vocab_size": tokenizer.vocab_size}
    options = {"d_model": 64, "max_positions": PLACES, "heads": 8, "decoder_layers": 4}
    result = role_scores(Translator(make_model(seed=3, **sizes | options), tokenizer)).scores
    for role in ("duplicate", "induction"):
        assert result[role]["decoder"].max() < 0.15
    assert result["previous"]["decoder"].mean() < 0.25
    assert 0.3 < result["copying"]["cross"].mean() < 0.7


def test_scores_of_even_and_perfect_weights():
    count = 5
    even = torch.full((2 * count, 2 * count), 1 / (2 * count))
    for of in (previous_token, duplicate_token, induction):
        assert_close(of(even), torch.tensor(1 / (2 * count)))
    eye = torch.eye(2 * count)
    assert previous_token(eye.roll(-1, dims=1)) == 1
    assert duplicate_token(eye.roll(-count, dims=1), both=True) == 1
    assert induction(eye.roll(1 - count, dims=1)) == 1


def test_what_copies_and_what_does_the_opposite():
    unembedding = torch.eye(4)
    values, ids = torch.eye(4)[None], [0, 1, 2, 3]  # (H, N, D)
    assert copied(values, torch.eye(4)[None], unembedding, ids) == 1
    assert copied(values, -torch.eye(4)[None], unembedding, ids) == 0
    # A logit that rises no more than all others do makes nothing likelier.
    assert copied(values, torch.ones(1, 4, 4), unembedding, ids) == 0


def test_the_same_seed_gives_the_same_and_another_does_not():
    reader = load("en-fr-learned")
    first, again, other = (role_scores(reader, seed) for seed in (0, 0, 1))
    assert first.read == again.read != other.read
    count = len(first.read) // 2
    assert len(set(first.read[:count])) > 20
    for role, kinds in first.scores.items():
        for kind, scores in kinds.items():
            assert torch.equal(scores, again.scores[role][kind])
            assert scores.shape == reader.shape.kinds[kind]
            assert ((scores >= 0) & (scores <= 1)).all()


def test_heads_of_our_model_that_write_what_they_look_at():
    copying = role_scores(load("en-fr")).scores["copying"]["cross"]
    assert copying[-1].mean() > 0.9
