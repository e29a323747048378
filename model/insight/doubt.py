"""Signs that the shipped model cannot translate a sentence well, found by simple rules.

recipe/measure_doubt.py measures how well the signs tell good translations from bad ones, and finds
the thresholds for another model.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from headlight.model.decoding.steps import Writing
from headlight.model.edits import HeadAddress
from headlight.model.tokens import Token
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Site

Sign = Literal[
    "no words", "script", "capitals", "language", "repeated", "missing", "lost", "pieces", "unsure"
]

# Each of these two thresholds flags at most 2 in 100 good translations of held-out sentences;
# `python -m recipe.measure_doubt` finds them for the shipped model. LEAST_SURE is a little lower
# than found, so that all signs together flag at most 3 in 100.
LEAST_SURE = -0.55  # a lower mean log-probability of the written tokens, in nats, is a sign
MOST_PIECES = 4  # a word that is split into more tokens is a sign

# A source word is lost if attention never covers it: Tu et al., "Modeling Coverage for Neural
# Machine Translation" (2016). One lost word is no sign: French may say it with other words.
ALIGNS: HeadAddress = ("cross", 0, 3)  # the head that aligns words best, by recipe.alignment
UNREAD = 0.2  # a word is lost if every written token gives it less weight than this
FEWEST_LOST = 2  # this many lost words are a sign
SHORTEST_LOST = 3  # the letters of the shortest word that can count as lost

# The text found by beam search is offered if its log-probability exceeds that of the greedy text by
# more than LIKELIER. After a smaller gain, either text may be the better one.
LIKELIER = 3.0  # the smallest gain that counts, in nats

# Some capitals are no sign, since names and acronyms have them.
MOST_CAPITALS = 0.6  # a larger share of capitals among the letters of a text is a sign
FEWEST_LETTERS = 4  # a text with fewer letters is not judged by its capitals


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that are frequent in texts on any subject. The lists of other languages leave out words that
# are also English, and single letters. An elided French word ends in an apostrophe.
LANGUAGES: Mapping[str, frozenset[str]] = {
    "French": words(
        """
        le la les l' un une des du de d' et est sont c' ce cette ces je j' tu il elle nous vous
        ils elles m' t' s' n' ne pas que qu' qui où mon ma mes ton ta tes sa ses notre votre leur
        dans avec sur sous pour par sans chez mais donc très bien bonjour merci oui non suis es
        êtes avons avez ont ai été être avoir fait faire veux veut aime quoi quand comment
        pourquoi combien aujourd'hui demain moi toi lui eux aussi toujours jamais rien
        """
    ),
    "German": words(
        """
        der das den dem ein eine einen einem einer und ist sind ich du er sie es wir ihr mich
        dich sich mir dir ihm uns euch mein meine meinen dein deine sein seine nicht kein keine
        mit von zu zum zur auf für bei nach aus über unter wenn weil dass wie wo wer warum wann
        haben habe hast wird werden kann können muss möchte bitte danke ja nein gut sehr auch
        heute morgen immer noch schon hier wurde
        """
    ),
    "Spanish": words(
        """
        el la los las un una unos unas es son está están yo tú él ella nosotros usted ustedes
        ellos que qué quién cómo cuándo dónde por para con sin sobre pero mi mis su sus mucho muy
        no sí gracias hola hoy mañana del al lo le se te nos tengo tiene quiero puede hay este
        esta ese esa como más también nunca siempre
        """
    ),
}
ENGLISH = words(
    """
    the a an and or but if of to in on at by for from with without about into over under up down
    out off is are was were be been being am do does did done have has had will would can could
    shall should may might must not no yes i you he she it we they me him her us them my your his
    its our their mine this that these those who what when where why how which there here some
    any all every many much more most very too so than then as just only also never always now
    today please let go get got like know want think see say said tell make take come good
    i'm you're he's she's it's we're they're don't doesn't didn't isn't aren't wasn't can't
    couldn't won't wouldn't i've i'll i'd that's what's there's let's
    """
)
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
NUMBER_OR_WORD = re.compile(rf"{WORD.pattern}|\d+")
NAME = re.compile(r"(?<=[^\s.!?:\"] )(?![AP]M\b)[A-Z][^\W\d_]+")
ALIKE = 3  # how many first letters of a name stay the same in another language
OTHER_END = 2  # how many last letters of a long name may differ, as in California and Californie
ELISION = re.compile(r"(?:[cdjlmnst]|qu)'")
PM = re.compile(r"\b(\d\d?)(?::\d\d)? ?(pm\b|p\.m\.)", re.IGNORECASE)
AFTERNOON = r"soir|midi|nuit|\bp\. ?m|treize|quatorze|quinze|seize|dix-|vingt|\b{later}(?!\d)"


@dataclass(frozen=True)
class Doubt:
    """A sign that the model cannot translate a sentence well, with its evidence."""

    sign: Sign
    # The language of the sentence, the names and numbers missing in the translation, the lost
    # words, or the word with the most pieces.
    what: str = ""
    number: float = 0.0  # the number of the word's pieces, or the mean log-probability in nats


def doubts(
    text: str,
    tokens: Sequence[Token],
    written: str,
    log_probabilities: Sequence[float],
    alignment: Tensor,
) -> Iterator[Doubt]:
    """Yield the signs that the model cannot translate a text well, the clearest first.

    `tokens` are those of `text`; `log_probabilities`, in nats, are those of the tokens of
    `written`, the translation. `alignment_in` returns `alignment` (T, S) of the run that wrote it.
    """
    text = text.replace("’", "'")
    yield from doubts_of_text(text)
    lost = lost_words(text, tokens, alignment)
    if text.casefold() == written.casefold():
        yield Doubt("repeated")
    elif missing := dict.fromkeys(missing_in(written, text, tokens, lost)):
        yield Doubt("missing", "”, “".join(missing))
    if len(lost) >= FEWEST_LOST:
        yield Doubt("lost", " … ".join(lost))
    word, pieces = most_pieces(text, tokens)
    is_copied = word[:1].isupper() and word[:-OTHER_END] in written
    if pieces > MOST_PIECES and not is_copied:
        yield Doubt("pieces", word, pieces)
    if log_probabilities and (mean := mean_of(log_probabilities)) < LEAST_SURE:
        yield Doubt("unsure", number=mean)


def doubts_of_text(text: str) -> Iterator[Doubt]:
    """Yield the signs that a text is not ordinary English."""
    letters = [character for character in text if character.isalpha()]
    if not letters:
        yield Doubt("no words")
        return
    # Latin letters come before ɐ: less than half of the letters are Latin.
    if sum(character < "ɐ" for character in letters) < len(letters) / 2:
        yield Doubt("script")
        return
    capitals = sum(character.isupper() for character in letters)
    if len(letters) >= FEWEST_LETTERS and capitals > MOST_CAPITALS * len(letters):
        yield Doubt("capitals")
    if language := foreign_language(text):
        yield Doubt("language", language)


def foreign_language(text: str) -> str:
    """Return the language that has more frequent words in a text than English has, or ""."""
    parts = [part for word in WORD.findall(text.lower()) for part in parts_of(word)]
    english = sum(word in ENGLISH for word in parts)
    counts = {name: sum(word in common for word in parts) for name, common in LANGUAGES.items()}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] > english else ""


def parts_of(word: str) -> list[str]:
    """Split an elided French word from the next one: l'ami -> l', ami."""
    if elided := ELISION.match(word):
        return [elided[0], word[elided.end() :]]
    return [word]


def missing_in(
    written: str, text: str, tokens: Sequence[Token], lost: Sequence[str]
) -> Iterator[str]:
    """Yield the names and numbers of a text that the translation should have copied but did not.

    A name is a capitalized word inside a sentence that has several tokens, or is among the `lost`
    words. Its ending may differ in the translation, and weekdays are no names. Digits may be
    grouped differently, and a single digit may become a word. Also yields 'pm' if the translation
    does not say that an hour is in the afternoon or evening.
    """
    beginnings = {word[0][:ALIKE].casefold() for word in WORD.finditer(written)}
    for name in NAME.finditer(text):
        pieces = sum(name.start() <= token.start < name.end() for token in tokens)
        is_day = name[0].removesuffix("s").endswith("day")
        is_name = pieces > 1 or name[0] in lost
        if is_name and not is_day and name[0][:ALIKE].casefold() not in beginnings:
            yield name[0]
    for number in re.findall(r"\d+(?:[.,]\d+)*", text):
        parts = re.findall(r"\d*[1-9]\d+|\d+[1-9]", number)
        if not all(re.search(rf"(?<!\d)(?<![^\W\d_]{{2}}){each}(?!\d)", written) for each in parts):
            yield number
    for hour, pm in PM.findall(text):
        if not re.search(AFTERNOON.format(later=int(hour) + 12), written, re.IGNORECASE):
            yield pm


def alignment_in(trace: Trace) -> Tensor:
    """Return the weights (T, S) of the head that aligns words best, in a run of the model."""
    kind, layer, head = ALIGNS
    return trace.site_weights(Site(kind, layer))[head]


def lost_words(text: str, tokens: Sequence[Token], alignment: Tensor) -> list[str]:
    """Return the words of a text, except frequent ones, that the aligning head hardly looks at.

    `alignment` (T, S) has a column for each of the text's `tokens`.
    """
    starts = [-1 if token.is_special else token.start for token in tokens]
    lost = []
    for word in WORD.finditer(text):
        columns = [at for at, start in enumerate(starts) if word.start() <= start < word.end()]
        is_frequent = len(word[0]) < SHORTEST_LOST or word[0].lower() in ENGLISH
        if columns and not is_frequent and alignment[:, columns].sum(dim=1).max() < UNREAD:
            lost.append(word[0])
    return lost


def most_pieces(text: str, tokens: Sequence[Token]) -> tuple[str, int]:
    """Return the word or number of a text that has the most tokens, and how many it has."""
    starts = [token.start for token in tokens if not token.is_special]
    counts = [
        (word[0], sum(word.start() <= start < word.end() for start in starts))
        for word in NUMBER_OR_WORD.finditer(text)
    ]
    return max(counts, key=lambda each: each[1], default=("", 0))


def is_clearly_likelier(text: Writing, usual: Writing) -> bool:
    """Return whether a text is much likelier than the `usual` text, and both texts have ended."""
    return text.finished and usual.finished and text.score - usual.score > LIKELIER


def mean_of(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)
