import sys

import pytest
import sacrebleu

from headlight.model import evaluate
from headlight.model.checkpoint import save_checkpoint
from headlight.model.evaluate import compare, score, translate_all, translate_by_beam

MANY = [
    ("a", "the cat sat on the mat today"),
    ("b", "we leave the old house tomorrow morning"),
    ("a", "a cat was sitting on that mat"),
    ("a", "the cat is sitting there"),
]


def answering(answers):
    def translate(ours, tokenizer, sentences, **options):
        return [answers[sentence] for sentence in sentences]

    return translate


@pytest.mark.parametrize("answer", [target for source, target in MANY if source == "a"])
def test_any_reference_is_a_perfect_translation(answer, monkeypatch, make_model):
    answers = {"a": answer, "b": MANY[1][1]}
    monkeypatch.setattr("headlight.model.evaluate.translate_all", answering(answers))
    scores = score(make_model(), None, MANY)
    assert scores.bleu == pytest.approx(100)
    assert scores.chrf == pytest.approx(100)
    assert scores.translations == [answer, MANY[1][1]]


def test_scores_are_sacrebleus_over_the_whole_corpus(monkeypatch, make_model):
    answers = {"a": "the cat sat on that mat", "b": "we leave the house tomorrow"}
    monkeypatch.setattr("headlight.model.evaluate.translate_all", answering(answers))
    scores = score(make_model(), None, MANY)
    references = [[MANY[0][1], MANY[1][1]], [MANY[2][1], None], [MANY[3][1], None]]
    hypotheses = list(answers.values())
    assert 10 < scores.bleu < 90
    assert scores.bleu == pytest.approx(sacrebleu.corpus_bleu(hypotheses, references).score)
    assert scores.chrf == pytest.approx(sacrebleu.corpus_chrf(hypotheses, references).score)


def test_a_model_that_knows_the_sentences_by_heart_scores_100(translator, pairs):
    scores = score(translator.model, translator.tokenizer, pairs)
    assert scores.translations == [target for _, target in pairs]
    assert scores.bleu == pytest.approx(100)


@pytest.mark.parametrize("batch_size", [1, 3, 128])
def test_translations_keep_the_order_of_the_sentences(batch_size, translator, pairs):
    sentences = [source for source, _ in pairs]
    translations = translate_all(
        translator.model, translator.tokenizer, sentences, batch_size=batch_size
    )
    assert translations == [target for _, target in pairs]


def test_a_sentence_longer_than_the_model_is_cut(translator):
    long = "I love my cat. " * 20
    assert len(translate_all(translator.model, translator.tokenizer, [long])) == 1


def test_scoring_leaves_dropout_off(translator, pairs):
    translator.model.train()
    score(translator.model, translator.tokenizer, pairs[:1])
    assert not translator.model.training


def test_the_command_prints_both_scores_and_writes_the_translations(
    translator, pairs, tmp_path, monkeypatch, capsys
):
    save_checkpoint(tmp_path / "saved", translator.model, translator.tokenizer)
    lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
    (tmp_path / "pairs.tsv").write_text(lines, encoding="utf-8")
    arguments = ["evaluate", "--pairs", str(tmp_path / "pairs.tsv")]
    arguments += ["--model", str(tmp_path / "saved"), "--output", str(tmp_path / "out.txt")]
    monkeypatch.setattr(sys, "argv", arguments)
    evaluate.main()
    assert "8 sentences, beam 1\nall references: BLEU 100.0  chrF 100.0" in capsys.readouterr().out
    written = (tmp_path / "out.txt").read_text(encoding="utf-8").splitlines()
    assert written == [target for _, target in pairs]


def test_the_command_counts_what_is_copied_right(translator, pairs, tmp_path, monkeypatch, capsys):
    save_checkpoint(tmp_path / "saved", translator.model, translator.tokenizer)
    (right, translation), (wrong, target) = pairs[:2]
    last = translation.rstrip(" .!?").split()[-1]
    lines = f"{right}\t{translation}\t{last}\n{wrong}\t{target}\t{last}\tZork\n"
    (tmp_path / "copied.tsv").write_text(lines, encoding="utf-8")
    arguments = ["--pairs", str(tmp_path / "copied.tsv"), "--model", str(tmp_path / "saved")]
    monkeypatch.setattr(sys, "argv", ["evaluate", *arguments])
    evaluate.main()
    assert "1 of 2 with all names, numbers and times copied right" in capsys.readouterr().out


def test_the_command_scores_the_first_reference_alone_too(
    translator, pairs, tmp_path, monkeypatch, capsys
):
    save_checkpoint(tmp_path / "saved", translator.model, translator.tokenizer)
    # The other reference comes first, so that the model's own is the second.
    source, target = pairs[0]
    lines = f"{source}\tRien de tout cela.\n{source}\t{target}\n"
    (tmp_path / "pairs.tsv").write_text(lines, encoding="utf-8")
    arguments = ["evaluate", "--pairs", str(tmp_path / "pairs.tsv"), "--beam", "2"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--model", str(tmp_path / "saved")])
    evaluate.main()
    printed = capsys.readouterr().out
    assert "1 sentences, beam 2" in printed
    every, first = printed.split("first reference: ")
    assert "all references: " in every
    assert "chrF 100.0" in every
    assert "chrF 100.0" not in first
    assert f"version:{sacrebleu.__version__}" in first


def test_a_beam_reads_every_sentence_and_keeps_their_order(translator, pairs):
    sentences = [source for source, _ in pairs[:3]]
    written = translate_by_beam(translator, sentences, 3)
    assert written == [target for _, target in pairs[:3]]


def test_signatures_say_how_many_references_there_were():
    bleu, chrf = compare(["a cat"], [["a cat", "the cat"]]).signatures
    assert "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp" in bleu
    assert "nc:6|nw:0" in chrf
