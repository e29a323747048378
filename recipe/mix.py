"""Mix sentence pairs of several sources into files for training, validation and tests.

python -m recipe.mix --everyday DIR --more DIR --output DIR
"""

import argparse
import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from headlight.model.training.data import Pairs, read_pairs
from recipe.copying import make_copies, make_test, with_one_time

# Sentences that papers and lectures use as examples. A model that will translate them in front of
# an audience must not be trained on them, or on sentences that differ from them by one word.
FIELD_SENTENCES = (
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "The agreement on the European Economic Area was signed in August 1992.",
    "I arrived at the bank after crossing the river.",
    "Seven boats are in the harbor.",
    "The king and the queen live in a castle.",
    "Attention is all you need.",
    "Paris is the capital of France.",
    "The trophy doesn't fit in the suitcase because it is too big.",
    "The trophy doesn't fit in the suitcase because it is too small.",
)

HELD_OUT = ("europarl_general", "gutenberg_books", "storybooks", "tico19")
TEST_PAIRS = 300  # test pairs from each file in HELD_OUT
VALID_PAIRS = 100  # validation pairs from each file in HELD_OUT


@dataclass(frozen=True)
class Share:
    """How many of a file's pairs are in the mix, and how often."""

    name: str
    times: int = 1  # how often each pair is in the mix
    most_words: int = 40  # pairs with more words on either side are left out
    most_pairs: int | None = None  # the most pairs, before they are repeated; None for all


SHARES = (
    Share("europarl_general", most_words=24, most_pairs=120_000),
    Share("gutenberg_books", most_words=36),
    Share("laws_sentences", most_words=36, most_pairs=6_000),
    Share("laws_headings", most_pairs=3_000),
    Share("storybooks", times=4),
    Share("tico19", most_words=60),
    Share("python_docs", most_pairs=3_000),
    Share("react_docs", most_pairs=2_500),
    Share("rust_book"),
    Share("opensource_guide"),
    Share("cds_notify"),
    Share("cds_website"),
    Share("cldr_lexicon", times=4),
    Share("osm_tags_lexicon", times=4),
)
EVERYDAY_TIMES = 5
SHORT_WORDS = 3  # sentences with up to this many words are repeated; shorter ones more often
COPIES = 4  # how many pairs with other values are made from each pair that has values to copy

GREETINGS = (
    ("Hello.", "Bonjour."), ("Hello!", "Bonjour !"), ("Hi.", "Salut."), ("Hi!", "Salut !"),
    ("Good morning.", "Bonjour."), ("Good afternoon.", "Bonjour."), ("Good evening.", "Bonsoir."),
    ("Good night.", "Bonne nuit."), ("Goodbye.", "Au revoir."), ("Bye.", "Au revoir."),
    ("See you soon.", "À bientôt."), ("See you later.", "À plus tard."), ("Thanks.", "Merci."),
    ("Thank you.", "Merci."), ("Thank you very much.", "Merci beaucoup."), ("Yes.", "Oui."),
    ("No.", "Non."), ("Please.", "S'il vous plaît."), ("Sorry.", "Pardon."),
    ("Excuse me.", "Excusez-moi."), ("Welcome!", "Bienvenue !"), ("Cheers!", "Santé !"),
    ("Happy birthday!", "Bon anniversaire !"), ("Congratulations!", "Félicitations !"),
)  # fmt: skip


def words(sentence: str) -> list[str]:
    """Return the words of a sentence in lower case, without punctuation."""
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", sentence.lower().replace("’", "'"))


def within_one_word(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return whether changing, adding or removing one word turns one list into the other."""
    if abs(len(first) - len(second)) > 1:
        return False
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    rest, other_rest = first[same:], second[same:]
    return other_rest[1:] in (rest[1:], rest) or rest[1:] == other_rest


def field_sentence_filter() -> Callable[[str], bool]:
    """Return a function that tells whether a sentence is one of FIELD_SENTENCES, or nearly.

    Nearly means that one word is changed, added or left out.
    """
    field = [words(sentence) for sentence in FIELD_SENTENCES]
    known = {word for sentence in field for word in sentence}

    def is_near(sentence: str) -> bool:
        words_of_sentence = words(sentence)
        if sum(word in known for word in words_of_sentence) < len(words_of_sentence) - 1:
            return False
        return any(within_one_word(words_of_sentence, example) for example in field)

    return is_near


def number_of(sentence: str) -> int:
    """Return a hash of the words of a sentence, without case and punctuation, as a number."""
    return int.from_bytes(hashlib.sha256(" ".join(words(sentence)).encode()).digest()[:8], "big")


def in_order_of_hash(pairs: Iterable[tuple[str, str]]) -> Pairs:
    """Return the pairs in the order of a hash of the source side."""
    return sorted(pairs, key=lambda pair: number_of(pair[0]))


def hold_out(pairs: Pairs, test: int, valid: int) -> tuple[Pairs, Pairs, Pairs]:
    """Split pairs, by a hash of their source, into test, validation and training pairs.

    Test and validation have each source once; training has none of their sources.
    """
    chosen: dict[int, tuple[str, str]] = {}
    for pair in in_order_of_hash(pairs):
        if len(chosen) < test + valid:
            chosen.setdefault(number_of(pair[0]), pair)
    held = list(chosen.values())
    rest = [pair for pair in pairs if number_of(pair[0]) not in chosen]
    return held[:test], held[test:], rest


def take(pairs: Pairs, share: Share) -> Pairs:
    """Return the pairs of a file that go into the mix; if they are too many, a hash selects."""
    short = [pair for pair in pairs if max(map(len, map(str.split, pair))) <= share.most_words]
    if share.most_pairs is not None:
        short = in_order_of_hash(short)[: share.most_pairs]
    return short * share.times


def short_ones(pairs: Pairs) -> Pairs:
    """Return short pairs, with and without final punctuation; the shortest ones three times."""
    short = [pair for pair in pairs if len(words(pair[0])) <= SHORT_WORDS]
    bare = [(source.rstrip(" .!"), target.rstrip(" .!")) for source, target in short]
    more = [pair for pair in (*short, *bare) if len(words(pair[0])) < SHORT_WORDS]
    return [pair for pair in (*short, *bare, *more * 2) if all(pair)]


def write_pairs(path: Path, pairs: Sequence[tuple[str, ...]]) -> None:
    """Write a line `source<TAB>target` for each pair, with its further columns if it has any."""
    lines = ("\t".join(pair) + "\n" for pair in pairs)
    path.write_text("".join(lines), encoding="utf-8")


def mix(
    everyday: Path, more: Path, everyday_times: int = EVERYDAY_TIMES, copies: int = COPIES
) -> dict[str, list[tuple[str, ...]]]:
    """Return the pairs of each file of a mix, by the file's name.

    The folder `everyday` has train.tsv.gz, valid.tsv and test.tsv; the folder `more` has a file for
    each of SHARES. `copies` is passed to `make_copies` as `times`.
    """
    is_near = field_sentence_filter()
    files = {"test-second": [], "valid-second": []}
    daily = read_pairs(everyday / "train.tsv.gz")
    sources = {
        "everyday": daily * everyday_times,
        "short": short_ones(daily + [*GREETINGS] * 5) * everyday_times,
    }
    for share in SHARES:
        rest = read_pairs(more / f"{share.name}.tsv.gz")
        if share.name in HELD_OUT:
            test, valid, rest = hold_out(rest, TEST_PAIRS, VALID_PAIRS)
            files["test-second"] += test
            files["valid-second"] += valid
        sources[share.name] = take(rest, share)
    files["valid"] = read_pairs(everyday / "valid.tsv")
    everyday_test = read_pairs(everyday / "test.tsv")
    kept_apart = {
        number_of(source) for pairs in (*files.values(), everyday_test) for source, _ in pairs
    }

    @cache  # because most sources occur many times
    def is_trained_on(source: str) -> bool:
        return not is_near(source) and number_of(source) not in kept_apart

    for name in ("valid", "valid-second"):
        files[name] = [pair for pair in files[name] if not is_near(pair[0])]
    files["train"] = []
    for name, pairs in sources.items():
        kept = [with_one_time(pair) for pair in pairs if is_trained_on(pair[0])]
        files["train"] += report(name, [pair for pair in kept if pair])
    if copies:
        distinct = sorted(set(files["train"]))
        copied = [pair for pair in make_copies(distinct, copies) if is_trained_on(pair[0])]
        files["train"] += report("copies", copied)
        files["copy-test"] = make_test(everyday_test, distinct + copied)
    return files


def report(name: str, pairs: Pairs) -> Pairs:
    """Print how many pairs and words a part of the mix has; return that part."""
    count = sum(len(target.split()) for _, target in pairs)
    print(f"{name:18} {len(pairs):8} pairs, {count:9} French words")
    return pairs


def main() -> None:
    """Write train.tsv, valid.tsv, valid-second.tsv, test-second.tsv and copy-test.tsv."""
    parser = argparse.ArgumentParser(prog="python -m recipe.mix", description=__doc__)
    parser.add_argument("--everyday", type=Path, required=True, help="the folder of Tatoeba pairs")
    parser.add_argument("--more", type=Path, required=True, help="the folder of the other files")
    parser.add_argument("--output", type=Path, required=True, help="the folder to write to")
    parser.add_argument(
        "--everyday-times",
        type=int,
        default=EVERYDAY_TIMES,
        help=f"how often the Tatoeba pairs are repeated ({EVERYDAY_TIMES})",
    )
    parser.add_argument(
        "--copies", type=int, default=COPIES, help=f"copies of pairs with new values ({COPIES})"
    )
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    files = mix(arguments.everyday, arguments.more, arguments.everyday_times, arguments.copies)
    for name, pairs in files.items():
        write_pairs(arguments.output / f"{name}.tsv", pairs)


if __name__ == "__main__":
    main()
