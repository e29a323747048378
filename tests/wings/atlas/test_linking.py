"""The token that leads, on a hundred sentences with pronouns."""

from pathlib import Path

from headlight.model.insight.linking import leading_query, words_of
from headlight.model.library.pieces import as_pieces
from headlight.wings.atlas.pronouns import read_references

FILE = Path(__file__).with_name("pronouns.tsv")
FEWEST = 80  # of the hundred


def test_most_sentences_with_a_pronoun_lead_with_it(shipped):
    count = 0
    for sentence, pronoun, _ in read_references(FILE.read_text(encoding="utf-8").splitlines()):
        trace = shipped.trace(sentence)
        line = as_pieces(trace.source_tokens)
        query = leading_query(trace.weights("encoder").numpy()[1, 1], line)
        written = [word for word in words_of(line) if word.is_written]
        count += query in written[pronoun].pieces
    assert count >= FEWEST
