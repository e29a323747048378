"""Find the heads that align words: python -m recipe.alignment --pairs VALID --learn TRAIN.

Without `--learn`, find the heads that look at words which are the same in both languages.
"""

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headlight.model.tokens import Token
from headlight.model.training.data import read_pairs
from headlight.model.translator import Translator, load_translator

WORD = re.compile(r"[^\W_]+")
ROUNDS = 5  # passes over the pairs in which the aligner learns
LEARN = 40_000  # the most pairs that the aligner learns from, enough for common words
MEASURED = 400  # the most pairs that heads are compared on

Span = tuple[int, int]  # the start and the end of a word, in characters
Links = set[tuple[int, int]]  # (target word, source word)


def word_spans(text: str) -> list[Span]:
    """Return the (start, end) of each word in a text."""
    return [match.span() for match in WORD.finditer(text)]


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return [text[start:end].lower() for start, end in word_spans(text)]


class WordAligner:
    """IBM model 1: the probability that a word of one language translates a word of the other.

    Source: Brown et al., "The Mathematics of Statistical Machine Translation" (1993), section 4.
    """

    def __init__(self, pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> None:
        """Learn which word of a pair's first text each word of its second text translates.

        Both texts of a pair are lists of words.
        """
        pairs = list(pairs)
        self.chances: dict[tuple[str, str], float] = {}
        for _ in range(ROUNDS):
            counts: dict[tuple[str, str], float] = defaultdict(float)
            totals: dict[str, float] = defaultdict(float)
            for givens, written in pairs:
                for word in written:
                    shares = [self.chances.get((given, word), 1e-9) for given in givens]
                    if not self.chances:
                        shares = [1.0] * len(givens)
                    whole = sum(shares)
                    for given, share in zip(givens, shares, strict=True):
                        counts[given, word] += share / whole
                        totals[given] += share / whole
            self.chances = {pair: count / totals[pair[0]] for pair, count in counts.items()}

    def links(self, givens: Sequence[str], written: Sequence[str]) -> Links:
        """Return the positions of each word of `written` and of its likeliest word in `givens`."""
        links = set()
        for position, word in enumerate(written):
            chances = [self.chances.get((given, word), 0.0) for given in givens]
            if chances and max(chances) > 0:
                links.add((position, int(np.argmax(chances))))
        return links


def both_ways(
    forward: WordAligner, backward: WordAligner, source: Sequence[str], target: Sequence[str]
) -> Links:
    """Return the links (target word, source word) that both directions agree on."""
    reverse = {(written, given) for given, written in backward.links(target, source)}
    return forward.links(source, target) & reverse


def same_in_both(source: str, target: str) -> Links:
    """Return the links (target word, source word) of names and numbers that occur once in both."""
    texts = [[text[start:end] for start, end in word_spans(text)] for text in (source, target)]
    once = [{word for word in side if side.count(word) == 1} for side in texts]
    copied = (word for word in set.intersection(*once) if word[0].isdigit() or word[0].isupper())
    given, written = texts
    return {(written.index(word), given.index(word)) for word in copied}


def token_words(tokens: Sequence[Token], spans: Sequence[Span]) -> np.ndarray:
    """Return a matrix (words, tokens) with 1 where a token belongs to a word, else 0."""
    belongs = np.zeros((len(spans), len(tokens)))
    for row, (start, end) in enumerate(spans):
        for column, token in enumerate(tokens):
            if not token.is_special and token.start < end and token.end > start:
                belongs[row, column] = 1
    return belongs


@dataclass(frozen=True)
class Agreement:
    """How well each head agrees with links between words.

    Arrays are (2, layers, heads): index 0 is measured where the decoder predicts a word, index 1
    where it reads the word.
    """

    hits: np.ndarray  # the share of links whose source word has the head's largest weight
    mass: np.ndarray  # the mean weight on the linked source word
    links: int  # the number of links

    def best(self) -> tuple[int, ...]:
        """Return the index in `hits` with the most hits: 0 or 1, layer and head."""
        return tuple(map(int, np.unravel_index(int(self.hits.argmax()), self.hits.shape)))


def agreement(
    translator: Translator, pairs: Sequence[tuple[str, str]], links: Sequence[Links]
) -> Agreement:
    """Compare every cross-attention head with the links of words in reference translations.

    The weight of a target word on a source word is summed over the source word's tokens and
    averaged over the target word's. The end token and punctuation do not count as words.
    """
    hits, mass, count = 0.0, 0.0, 0
    for (source, target), linked in zip(pairs, links, strict=True):
        trace = translator.trace(source, target)
        weights = trace.weights("cross").cpu().numpy()  # (L, H, T, S)
        columns = token_words(trace.source_tokens, word_spans(source))
        rows = token_words(trace.target_tokens[1:], word_spans(target))
        rows /= np.maximum(rows.sum(axis=1, keepdims=True), 1)
        by_word = np.stack([rows @ weights[..., :-1, :], rows @ weights[..., 1:, :]]) @ columns.T
        for position, given in linked:
            chosen = by_word[..., position, :]  # (2, L, H, words)
            hits = hits + (chosen.argmax(axis=-1) == given)
            mass = mass + chosen[..., given]
            count += 1
    return Agreement(np.asarray(hits) / count, np.asarray(mass) / count, count)


def sample(pairs: list[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    """Return at most `most` of the pairs, always the same ones."""
    return random.Random(0).sample(pairs, min(most, len(pairs)))


def aligned(pairs: Sequence[tuple[str, str]], learn: Sequence[tuple[str, str]]) -> list[Links]:
    """Return the links of each pair, by an aligner that learns from `pairs` and `learn`."""
    by_words = [(words(source), words(target)) for source, target in [*learn, *pairs]]
    by_words = [pair for pair in by_words if all(pair)]
    forward = WordAligner(by_words)
    backward = WordAligner((target, source) for source, target in by_words)
    return [both_ways(forward, backward, words(source), words(target)) for source, target in pairs]


def main() -> None:
    """Print the cross-attention head that agrees best with the links between words."""
    parser = argparse.ArgumentParser(prog="python -m recipe.alignment", description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True, help="pairs to compare on")
    parser.add_argument("--learn", type=Path, help="pairs to learn the aligner from")
    parser.add_argument("--model", nargs="+", default=["en-fr"], help="names or checkpoint folders")
    arguments = parser.parse_args()
    pairs = sample(read_pairs(arguments.pairs), MEASURED)
    if arguments.learn:
        links = aligned(pairs, sample(read_pairs(arguments.learn), LEARN))
    else:
        links = [same_in_both(*pair) for pair in pairs]
    what = "linked" if arguments.learn else "same"
    for name in arguments.model:
        result = agreement(load_translator(name), pairs, links)
        best = result.best()
        when, layer, head = best
        print(
            f"{name}: cross-attention layer {layer + 1}, head {head + 1}, where a word is "
            f"{('predicted', 'read')[when]}, looks most at the {what} word in "
            f"{100 * result.hits[best]:.1f} % of {result.links} links, and gives it "
            f"{100 * result.mass[best]:.1f} % of its weight"
        )


if __name__ == "__main__":
    main()
