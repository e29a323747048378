"""The pronouns of the shipped atlas, recounted from the sentences in plain loops."""

import re
from pathlib import Path

import numpy as np
import pytest

from headlight.model.insight.linking import PRONOUNS
from headlight.model.translator import PRETRAINED
from headlight.wings.atlas.files import open_atlas
from headlight.wings.atlas.pronouns import PRONOUN, Reference, linked, read_references

FILE = Path(__file__).parent / "pronouns.tsv"
WORD = re.compile(r"\w+")


@pytest.fixture(scope="module")
def references():
    return read_references(FILE.read_text(encoding="utf-8").splitlines())


@pytest.fixture(scope="module")
def figures():
    atlas = open_atlas(PRETRAINED / "en-fr" / "atlas")
    return atlas.kinds["encoder"].figures[PRONOUN.name].mean, atlas


def test_the_sentences_are_a_hundred_and_varied(references):
    assert len({reference.sentence for reference in references}) == 100
    pronouns = [WORD.findall(one.sentence)[one.pronoun].lower() for one in references]
    assert set(pronouns) <= PRONOUNS
    assert {"it", "he", "she", "they", "him", "her", "them"} <= {*pronouns}
    assert any(one.noun > one.pronoun for one in references)


def test_the_figures_are_those_of_plain_loops(shipped, references, figures):
    hits, chance = np.zeros((5, 8)), 0.0
    for sentence, pronoun, noun in references:
        trace = shipped.trace(sentence)
        spans = [match.span() for match in WORD.finditer(sentence)]
        pieces = [
            [at for at, token in enumerate(trace.source_tokens)
             if not token.is_special and first <= token.start < end]
            for first, end in spans
        ]  # fmt: skip
        (query,) = pieces[pronoun]
        chance += 1 / (len(spans) - 1)
        for layer, heads in enumerate(trace.weights("encoder").tolist()):
            for head, rows in enumerate(heads):
                shares = [sum(rows[query][at] for at in places) for places in pieces]
                others = [number for number in range(len(spans)) if number != pronoun]
                hits[layer, head] += max(others, key=shares.__getitem__) == noun
    shares, atlas = figures
    np.testing.assert_allclose(shares, hits / 100, atol=1e-7)
    assert atlas.about["pronouns"] == {"sentences": 100, "chance": pytest.approx(chance, abs=1e-4)}
    result = linked(shipped, references)
    np.testing.assert_array_equal(result.hits, hits)
    assert result.chance == pytest.approx(chance)


def test_its_definition_says_over_what_it_was_counted_and_what_chance_gives(figures):
    _, atlas = figures
    (defined,) = (each for each in atlas.statistics if each["name"] == PRONOUN.name)
    share = atlas.about["pronouns"]["chance"] / 100
    assert "in 100 sentences written by hand, not in the corpus" in defined["words"]
    assert defined["words"].endswith(f"by chance it would be {share:.2f}")
    assert defined["kinds"] == ["encoder"]


def test_the_app_opens_on_the_head_that_links_pronouns_best(shipped, figures):
    shares, _ = figures
    assert np.unravel_index(shares.argmax(), shares.shape) == (1, 1)


def test_what_is_written_of_the_head_is_what_was_counted(figures):
    shares, atlas = figures
    best, chance = f"{100 * shares.max():.0f}", f"{atlas.about['pronouns']['chance']:.0f}"
    card = (PRETRAINED / "en-fr" / "README.md").read_text(encoding="utf-8")
    talk = (PRETRAINED.parents[1] / "wings/talks/ready/attention.json").read_text(encoding="utf-8")
    for text in (card, talk):
        words = " ".join(text.replace("*", "").split())
        assert f"links a pronoun to its noun in {best} of 100 sentences (chance: {chance})" in words


def test_a_word_of_several_pieces_is_one_word(shipped):
    reference = Reference("The boy saw the rabbit because it was big.", 6, 4)
    result = linked(shipped, [reference])
    assert result.hits[1, 1] == 1
    assert result.chance == pytest.approx(1 / 8)
