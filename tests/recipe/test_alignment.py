import sys

import numpy as np
import pytest

import recipe.alignment
from headlight.model.checkpoint import save_checkpoint
from recipe.alignment import (
    WordAligner,
    agreement,
    both_ways,
    same_in_both,
    token_words,
    word_spans,
    words,
)

PAIRS = [
    ("the house", "la maison"),
    ("the blue house", "la maison bleue"),
    ("the flower", "la fleur"),
    ("a flower", "une fleur"),
]
SPLIT = [(words(source), words(target)) for source, target in PAIRS]


def test_the_aligner_finds_which_word_stands_for_which():
    forward = WordAligner(SPLIT)
    backward = WordAligner((target, source) for source, target in SPLIT)
    source, target = SPLIT[1]
    assert both_ways(forward, backward, source, target) == {(0, 0), (1, 2), (2, 1)}
    givens = {given for given, _ in forward.chances}
    for given in givens:
        whole = sum(chance for pair, chance in forward.chances.items() if pair[0] == given)
        assert whole == pytest.approx(1)


def test_names_and_numbers_that_both_texts_have_once_are_linked():
    pair = "Rafe paid Eora 30 dollars on 7 May.", "Rafe a payé 30 dollars à Eora le 7 mai."
    source, target = ([text[start:end] for start, end in word_spans(text)] for text in pair)
    links = same_in_both(*pair)
    assert {target[written] for written, _ in links} == {"Rafe", "Eora", "30", "7"}
    assert all(target[written] == source[given] for written, given in links)
    assert same_in_both("Rafe met Rafe.", "Rafe a vu Rafe.") == set()


def test_tokens_belong_to_the_words_they_overlap(tokenizer):
    text = "J'aime le chat."
    tokens = tokenizer.encode(text)
    belongs = token_words(tokens, word_spans(text))
    assert belongs.shape == (4, len(tokens))
    assert belongs.sum(axis=1).min() >= 1
    assert belongs[:, -1].sum() == 0  # the full stop


def test_a_head_that_looks_at_every_linked_word_agrees_with_all(translator, pairs):
    trace = translator.trace(*pairs[0])
    weights = trace.weights("cross").numpy()
    source, target = pairs[0]
    columns = token_words(trace.source_tokens, word_spans(source))
    rows = token_words(trace.target_tokens[1:], word_spans(target))
    rows /= rows.sum(axis=1, keepdims=True)
    chosen = (rows @ weights[1, 2, :-1] @ columns.T).argmax(axis=1)
    links = {(place, int(given)) for place, given in enumerate(chosen)}
    result = agreement(translator, pairs[:1], [links])
    assert result.hits.shape == result.mass.shape == (2, 2, 4)
    assert result.hits[0, 1, 2] == 1
    assert result.links == len(links)
    assert np.all(result.mass >= 0)
    assert np.all(result.mass <= 1 + 1e-6)


@pytest.mark.parametrize("what", ["linked", "same"])
def test_the_command_names_a_head(what, translator, pairs, tmp_path, monkeypatch, capsys):
    save_checkpoint(tmp_path / "saved", translator.model, translator.tokenizer)
    pairs = [*pairs, ("Rafe sings.", "Rafe chante.")]
    lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
    (tmp_path / "pairs.tsv").write_text(lines, encoding="utf-8")
    file = str(tmp_path / "pairs.tsv")
    learn = ["--learn", file] if what == "linked" else []
    arguments = ["--pairs", file, *learn, "--model", str(tmp_path / "saved")]
    monkeypatch.setattr(sys, "argv", ["alignment", *arguments])
    recipe.alignment.main()
    printed = capsys.readouterr().out
    assert "cross-attention layer" in printed
    assert f"looks most at the {what} word" in printed
    assert "of its weight" in printed
