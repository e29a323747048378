import gzip
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recipe.mix
from headlight.model.training.data import read_pairs
from recipe.mix import (
    FIELD_SENTENCES,
    HELD_OUT,
    SHARES,
    Share,
    field_sentence_filter,
    hold_out,
    number_of,
    take,
    within_one_word,
    words,
)

IS_NEAR = field_sentence_filter()
WORDS = st.lists(st.sampled_from("abc"), max_size=5)


def by_the_book(one, other):
    """The least changes of a word, by the usual table."""
    row = list(range(len(other) + 1))
    for place, word in enumerate(one, start=1):
        row, above = [place], row
        for column, wanted in enumerate(other, start=1):
            change = above[column - 1] + (word != wanted)
            row.append(min(change, above[column] + 1, row[-1] + 1))
    return row[-1]


@given(one=WORDS, other=WORDS)
def test_within_one_word_is_an_edit_distance_of_at_most_one(one, other):
    assert within_one_word(one, other) == (by_the_book(one, other) <= 1)


@pytest.mark.parametrize("sentence", FIELD_SENTENCES)
def test_sentences_of_the_field_are_found_however_they_are_written(sentence):
    assert IS_NEAR(sentence)
    assert IS_NEAR(sentence.upper().replace("'", "’").rstrip(".") + " !")
    for position in range(len(words(sentence))):
        changed = words(sentence)
        changed[position] = "penguin"
        assert IS_NEAR(" ".join(changed))
        del changed[position]
        assert IS_NEAR(" ".join(changed))


@pytest.mark.parametrize(
    "sentence",
    ["The capital of France is Paris.", "The king lives in a castle.", "Tom is tired.", "", "You."],
)
def test_other_sentences_are_left_alone(sentence):
    assert not IS_NEAR(sentence)


def test_what_is_held_out_depends_on_the_words_of_the_source_alone():
    pairs = [(f"Sentence number {number}.", f"Phrase {number}.") for number in range(40)]
    twins = [(source.lower(), "autre") for source, _ in pairs]
    test, valid, rest = hold_out(pairs + twins, 10, 5)
    assert (len(test), len(valid), len(rest)) == (10, 5, 50)
    held = {number_of(source) for source, _ in test + valid}
    assert len(held) == 15
    assert not held & {number_of(source) for source, _ in rest}
    again, _, _ = hold_out((pairs + twins)[::-1], 10, 5)
    assert {number_of(source) for source, _ in again} == {number_of(source) for source, _ in test}


def test_a_share_keeps_short_pairs_and_repeats_them():
    pairs = [("a b c", "x"), ("a", "x y z"), ("a b", "x y"), ("c", "z"), ("d", "z")]
    assert take(pairs, Share("any", times=2, most_words=2)) == 2 * pairs[2:]
    assert len(take(pairs, Share("any", most_words=2, most_pairs=2))) == 2


def test_the_command_keeps_what_is_tested_out_of_what_is_trained_on(tmp_path, monkeypatch):
    everyday, more = tmp_path / "everyday", tmp_path / "more"
    everyday.mkdir()
    more.mkdir()
    tested, chosen = "We test this one.\tNous le testons.\n", "We choose by it.\tOn choisit.\n"
    (everyday / "test.tsv").write_text(tested, encoding="utf-8")
    (everyday / "valid.tsv").write_text(chosen + f"{FIELD_SENTENCES[0]}\tX.\n", encoding="utf-8")
    with gzip.open(everyday / "train.tsv.gz", "wt", encoding="utf-8") as file:
        file.write(tested + f"{FIELD_SENTENCES[5]}\tNon.\n" + "I see.\tJe vois.\n")
    for share in SHARES:
        with gzip.open(more / f"{share.name}.tsv.gz", "wt", encoding="utf-8") as file:
            file.writelines(f"{share.name} {number}\tfr {number}\n" for number in range(420))
            file.write("We choose by it!\tAutrement.\n")
    folders = ["--everyday", str(everyday), "--more", str(more), "--output", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", ["mix", *folders, "--everyday-times", "3"])
    recipe.mix.main()
    files = {
        name: read_pairs(tmp_path / "out" / f"{name}.tsv")
        for name in ("train", "valid", "valid-second", "test-second")
    }
    assert files["valid"] == [("We choose by it.", "On choisit.")]
    assert len(files["test-second"]) == 300 * len(HELD_OUT)
    assert len(files["valid-second"]) == 100 * len(HELD_OUT)
    assert files["train"].count(("I see.", "Je vois.")) == 3 * 4  # weighted up, as it is short
    assert ("I see", "Je vois") in files["train"]
    trained = {number_of(source) for source, _ in files["train"]}
    for name in ("valid", "valid-second", "test-second"):
        assert not trained & {number_of(source) for source, _ in files[name]}
    assert number_of("We test this one.") not in trained
    assert not [source for source, _ in files["train"] if IS_NEAR(source)]
