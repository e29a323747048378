import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from headlight.model.insight.lens import in_sentence, word_similarity
from headlight.model.memory_layout import lay_out
from headlight.model.tokenizer import Tokenizer
from headlight.model.translator import Translator

WORDS = ["house", "school", "maison", "house", "House"]


@pytest.fixture(scope="module")
def table(translator):
    return word_similarity(translator, WORDS)


@pytest.mark.parametrize("stage", ["embeddings", "outputs"])
def test_similarities_are_symmetric_with_ones_on_the_diagonal(translator, table, stage):
    for matrix in (getattr(table, stage), getattr(in_sentence(translator, "I love it."), stage)):
        assert_close(matrix, matrix.T)
        assert_close(matrix.diagonal(), torch.ones(len(matrix)))
        assert matrix.abs().max() <= 1


def test_they_are_cosines_of_the_means_over_a_words_tokens(translator, table):
    model = translator.model
    rows = model.encoder.embedding.tokens.weight.detach()
    for position in range(len(WORDS)):
        for other in range(len(WORDS)):
            first, second = ([token.id for token in table.tokens[at]] for at in (position, other))
            cosine = F.cosine_similarity(rows[first].mean(0), rows[second].mean(0), dim=0)
            assert_close(table.embeddings[position, other], cosine)
    assert max(len(tokens) for tokens in table.tokens) > 1
    alone = [
        model.encode(translator.ids(translator.read(word)))[0, :-1].mean(0).detach()
        for word in WORDS
    ]
    cosine = F.cosine_similarity(alone[0], alone[2], dim=0)
    assert_close(table.outputs[0, 2], cosine)


def test_a_word_given_twice_is_kept_twice_and_case_counts(table):
    assert table.words == tuple(WORDS)
    assert table.tokens[0] == table.tokens[3] != table.tokens[4]
    for matrix in (table.embeddings, table.outputs):
        assert_close(matrix[0, 3], torch.tensor(1.0))
        assert torch.equal(matrix[0], matrix[3])
        assert matrix[0, 4] < 0.999


def test_spaces_around_a_word_do_not_count(translator, table):
    spaced = word_similarity(translator, [f"  {word} " for word in WORDS])
    assert spaced.words == table.words
    assert torch.equal(spaced.outputs, table.outputs)


def test_a_sentence_changes_the_outputs_but_not_the_embeddings(translator):
    sentence = "The old house is on the hill."
    together = in_sentence(translator, sentence)
    assert together.words == ("The", "old", "house", "is", "on", "the", "hill", ".")
    alone = word_similarity(translator, together.words)
    assert [[token.id for token in word] for word in together.tokens] == [
        [token.id for token in word] for word in alone.tokens[:-1]
    ] + [[token.id for token in together.tokens[-1]]]
    assert_close(together.embeddings[:-1, :-1], alone.embeddings[:-1, :-1])
    assert (together.outputs - alone.outputs).abs().max() > 0.05


def test_a_word_that_comes_twice_in_a_sentence_differs_only_after_context(translator):
    table = in_sentence(translator, "I love what I love")
    first, second = (at for at, word in enumerate(table.words) if word == "love")
    assert_close(table.embeddings[first, second], torch.tensor(1.0))
    assert table.outputs[first, second] < 0.999


def test_words_keep_the_characters_that_were_typed(translator):
    table = in_sentence(translator, "They’re  eating\tbread, 42!")
    assert table.words == ("They’re", "eating", "bread", ",", "4", "2", "!")


def test_what_cannot_be_compared_says_why(translator):
    with pytest.raises(ValueError, match="nothing to compare"):
        word_similarity(translator, [])
    with pytest.raises(ValueError, match="One of the words is empty"):
        word_similarity(translator, ["house", " "])
    with pytest.raises(ValueError, match="no token for all of “猫cat”"):
        word_similarity(translator, ["house", "猫cat"])
    with pytest.raises(ValueError, match="no token for all of “猫”"):
        in_sentence(translator, "I love my 猫.")
    with pytest.raises(ValueError, match="nothing to translate"):
        in_sentence(translator, "  ")


def test_words_longer_than_the_model_reads_are_cut(translator):
    table = word_similarity(translator, ["house" * 40, "school"])
    assert len(table.tokens[0]) == translator.max_tokens
    assert len(in_sentence(translator, "house " * 40).words) <= translator.max_tokens


def test_a_model_of_characters_and_one_laid_out_work_too(make_model):
    tokenizer = Tokenizer.train_characters(["a cab cede"])
    size = tokenizer.vocab_size
    tables = []
    for change in (lambda model: model, lay_out):
        model = change(make_model(source_vocab_size=size, target_vocab_size=size))
        tables.append(in_sentence(Translator(model, tokenizer), "bed"))
    assert tables[0].words == ("b", "e", "d")
    assert_close(tables[0].outputs, tables[1].outputs, atol=1e-5, rtol=0)
