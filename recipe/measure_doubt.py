"""Measure the signs of doubt: python -m recipe.measure_doubt --pairs FILE.

It prints the shares of good and of bad translations with each sign, and suggests thresholds. A
translation is good from a chrF of GOOD against its references, and bad below BAD. One in between is
neither, since a right translation may not be among the references. All lines of `--nonsense FILE`
should have a sign.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import sacrebleu

from headlight.model.evaluate import decode_all
from headlight.model.insight.doubt import Sign, alignment_in, doubts, mean_of, most_pieces
from headlight.model.training.data import group_references, read_pairs
from headlight.model.translator import Translator, load_translator

GOOD, BAD = 50, 30  # the chrF from which a translation is good, and below which it is bad
WRONG = 0.02  # the share of good translations that each threshold may flag


@dataclass(frozen=True)
class Case:
    """A sentence, its translation, its signs of doubt, and the two numbers that have thresholds."""

    sentence: str
    translation: str
    signs: frozenset[Sign]
    mean: float  # the mean log-probability of the written tokens, in nats
    pieces: int  # the most tokens that any of its words has


def cases(translator: Translator, sentences: Sequence[str]) -> list[Case]:
    """Translate sentences greedily, and look for signs of doubt in each."""
    translations = decode_all(translator.model, translator.tokenizer, sentences)
    results = []
    for sentence, decoded in zip(sentences, translations, strict=True):
        tokens = translator.read(sentence)
        text = translator.tokenizer.decode(decoded.ids)
        alignment = alignment_in(translator.trace(sentence, text))
        result = doubts(sentence, tokens, text, decoded.log_probabilities, alignment)
        signs: frozenset[Sign] = frozenset(doubt.sign for doubt in result)
        _, pieces = most_pieces(sentence, tokens)
        mean = mean_of(decoded.log_probabilities)
        results.append(Case(sentence, text, signs, mean, pieces))
    return results


def warned(cases: Sequence[Case], sign: Sign | None = None) -> float:
    """Return the share of cases with this sign, or by default with any sign."""
    hits = [bool(case.signs) if sign is None else sign in case.signs for case in cases]
    return mean_of(hits) if hits else 0.0


def thresholds(good: Sequence[Case]) -> tuple[float, int]:
    """Return the values for LEAST_SURE and MOST_PIECES.

    Each of these thresholds flags at most the share WRONG of the good translations.
    """
    allowed = int(WRONG * len(good))
    means = sorted(case.mean for case in good)
    pieces = sorted((case.pieces for case in good), reverse=True)
    return means[allowed], pieces[allowed]


def report(name: str, cases: Sequence[Case]) -> None:
    """Print the share of cases that have each sign."""
    signs: set[Sign] = {sign for case in cases for sign in case.signs}
    parts = ", ".join(f"{sign} {warned(cases, sign):.1%}" for sign in sorted(signs))
    print(f"{name}: {len(cases)} sentences, warned of {warned(cases):.1%} ({parts or 'no sign'})")


def main() -> None:
    """Print which shares of good, bad and nonsense sentences have signs, and good thresholds."""
    parser = argparse.ArgumentParser(prog="python -m recipe.measure_doubt", description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True, help="a file of source<TAB>target")
    parser.add_argument("--nonsense", type=Path, help="a file with one sentence per line")
    parser.add_argument("--model", default="en-fr", help="a shipped model's name or a folder")
    arguments = parser.parse_args()
    translator = load_translator(arguments.model)
    references = group_references(read_pairs(arguments.pairs))
    chrf = sacrebleu.CHRF()
    measured = cases(translator, list(references))
    scores = [chrf.sentence_score(case.translation, references[case.sentence]) for case in measured]
    scored = [(case, each.score) for case, each in zip(measured, scores, strict=True)]
    good = [case for case, score in scored if score >= GOOD]
    report(f"good, chrF from {GOOD}", good)
    report(f"bad, chrF below {BAD}", [case for case, score in scored if score < BAD])
    if arguments.nonsense:
        lines = arguments.nonsense.read_text(encoding="utf-8").splitlines()
        nonsense = cases(translator, [line for line in lines if line.strip()])
        report("nonsense", nonsense)
        for case in nonsense:
            if not case.signs:
                print(f"  missed: {case.sentence} | {case.translation} | {case.mean:.2f}")
    if good:
        least, most = thresholds(good)
        print(f"for this model: LEAST_SURE = {least:.2f}, MOST_PIECES = {most}")


if __name__ == "__main__":
    main()
