"""Make training pairs with names, numbers, times and prices to copy, and a test of copying."""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import cycle

from headlight.model.training.data import Pairs
from headlight.wings.training.tasks import is_unseen

VALUE = re.compile(
    r"(?<![\w.,:$€])(?:(?P<time>\d{1,2}:\d\d)|(?P<price>[$€](?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d\d)?))"
    r"|(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)|(?P<name>[^\W\d_]{3,}))(?!\w|[.,:]\d)"
)
FRENCH_TIME = re.compile(r"\b(\d{1,2}) ?[hH:] ?(\d\d)\b")
ARTICLE = re.compile(r"(?:\b(?:la|le|les|du|des|au|aux|en) |\bl')$", re.IGNORECASE)
ELIDED = re.compile(r"\b([cdjmnst]|qu|jusqu|lorsqu|puisqu)'$", re.IGNORECASE)
NOT_ELIDED = re.compile(r"\b([dn]|qu|jusqu|lorsqu|puisqu)e (?=[AEIOUÀÂÉÈÊÎÔ])", re.IGNORECASE)
LETTERS_BEFORE = 2  # each letter of a made-up name depends on this many letters before it
LENGTHS = range(4, 11)  # how many letters a made-up name may have
TEST_PAIRS = 200
TEST_EVERY = 5  # one sentence frame in this many is only used for the test
FRAME_TIMES = 250  # a sentence frame gives this many times as many pairs as a real pair
TRIES = 1_000
STARTS = re.compile(r"(?<![\w.,:])$")  # matches where a value may begin
ENDS = re.compile(r"(?!\w|[.,:]\d)")  # matches where a value may end

# Names that made-up names imitate, in addition to the names in the pairs.
NAMES = (
    "Adele", "Barbara", "Carla", "Dorothy", "Elisabeth", "Francesca", "Gerhard", "Heather",
    "Ibrahim", "Joanna", "Katarina", "Leonardo", "Miranda", "Natalie", "Oliver", "Patricia",
    "Roland", "Samantha", "Theresa", "Ursula", "Valerie", "Walter", "Yolanda", "Zachary",
    "Amsterdam", "Bristol", "Cordoba", "Dresden", "Florida", "Helsinki", "Lisbon", "Manchester",
    "Oregon", "Salamanca", "Toronto", "Vancouver",
)  # fmt: skip

# Sentences, written for this recipe, with values to copy in braces.
FRAMES = (
    ("My name is {name}.", "Je m'appelle {name}."),
    ("The train leaves at {time}.", "Le train part à {time}."),
    ("This book costs {price}.", "Ce livre coûte {price}."),
    ("I live in {name}.", "J'habite à {name}."),
    ("We meet at {time}.", "Nous nous retrouvons à {time}."),
    ("He was born in {name} in {year}.", "Il est né à {name} en {year}."),
    ("{name} called me at {time}.", "{name} m'a appelé à {time}."),
    ("It is {time}.", "Il est {time}."),
    ("The village has {number} inhabitants.", "Le village compte {number} habitants."),
    ("I paid {price} for the ticket.", "J'ai payé le billet {price}."),
    ("The shop opens at {time}.", "Le magasin ouvre à {time}."),
    ("{name} has {number} books.", "{name} a {number} livres."),
    ("Mr. {name} owes me {price}.", "M. {name} me doit {price}."),
    ("What does {word} mean?", "Que veut dire {word} ?"),
    ("The bus arrives at {time}.", "Le bus arrive à {time}."),
    ("She earns {price} a month.", "Elle gagne {price} par mois."),
    ("The room number is {number}.", "Le numéro de la chambre est {number}."),
    ("My plane lands in {name} at {time}.", "Mon avion atterrit à {name} à {time}."),
    ("Do you know {name}?", "Connaissez-vous {name} ?"),
    ("{name}", "{name}"),
    ("We sold {number} tickets.", "Nous avons vendu {number} billets."),
    ("{time}", "{time}"),
    ("{name} and {other} are friends.", "{name} et {other} sont amis."),
    ("The house costs {price}.", "La maison coûte {price}."),
    ("Mrs. {name} lives in {other}.", "Mme {name} habite à {other}."),
    ("Call {number}.", "Appelez le {number}."),
    ("I woke up at {time} this morning.", "Je me suis réveillé à {time} ce matin."),
    ("{number}", "{number}"),
    ("Good morning, {name}!", "Bonjour, {name} !"),
    ("The war began in {year}.", "La guerre a commencé en {year}."),
    ("From {time} to {later}.", "De {time} à {later}."),
    ("Hello, {name}!", "Bonjour, {name} !"),
    ("{price}", "{price}"),
    ("They wrote {word} on the wall.", "Ils ont écrit {word} sur le mur."),
    ("{name} is from {other}.", "{name} vient de {other}."),
)


def french(value: str) -> str:
    """Return a value in French notation: 7:45 becomes 7 h 45, and $30 becomes 30 $."""
    if ":" in value:
        return value.replace(":", " h ")
    if value[0] in "$€":
        return f"{french(value[1:])} {value[0]}"
    return value.replace(",", " ").replace(".", ",")


def with_one_time(pair: tuple[str, str]) -> tuple[str, str] | None:
    """Return a pair with French times written as 7 h 45; None if its two sides' times differ."""
    source, target = pair
    if ":" not in source:
        return pair
    times = sorted(french(match["time"]) for match in VALUE.finditer(source) if match["time"])
    if not times:
        return pair
    target = FRENCH_TIME.sub(r"\1 h \2", target)
    same = times == sorted(f"{hour} h {minute}" for hour, minute in FRENCH_TIME.findall(target))
    return (source, target) if same else None


def find_names(pairs: Pairs) -> list[str]:
    """Return the words that are capitalized on both sides of a pair, and never in lower case."""
    names, small = set(), set()
    for pair in pairs:
        sides = [set(re.findall(r"[^\W\d_]{3,}", side)) for side in pair]
        small.update(word for side in sides for word in side if word.islower())
        names.update(word for word in sides[0] & sides[1] if word.istitle())
    return sorted(name for name in names if name.lower() not in small)


class Values:
    """Draws random values to copy, for training or, if `tested`, for a test.

    Values for a test fulfil `is_unseen`, and are in no pair of `trained`. Names are made up letter
    by letter: each letter is one that follows the letters before it in a real name.
    """

    def __init__(
        self, names: Sequence[str], trained: Iterable[tuple[str, str]] = (), tested: bool = False
    ) -> None:
        self.real, self.names, self.tested = (*NAMES, *names), {*NAMES, *names}, tested
        self.trained = {match[0] for source, _ in trained for match in VALUE.finditer(source)}
        self.followers: dict[str, list[str]] = defaultdict(list)
        for name in self.real:
            text = "^" * LETTERS_BEFORE + name + "$"
            for end in range(LETTERS_BEFORE, len(text)):
                self.followers[text[end - LETTERS_BEFORE : end]].append(text[end])

    def draw(self, kind: str, source: random.Random) -> str:
        """Return a random value of this kind ("name", "price", ...) in English notation."""
        for _ in range(TRIES):
            value = self.KINDS[kind](self, source)
            if is_unseen(value) == self.tested and not (self.tested and value in self.trained):
                return value
        raise ValueError(f"No {kind} was found that is not in a training pair.")

    def name(self, source: random.Random) -> str:
        """Return a made-up name; for training, a third of the names are real ones."""
        if not self.tested and not source.randrange(3):
            return source.choice(self.real)
        while True:
            text = "^" * LETTERS_BEFORE
            while not text.endswith("$"):
                text += source.choice(self.followers[text[-LETTERS_BEFORE:]])
            name = text.strip("^$")
            if len(name) in LENGTHS and name not in self.names:
                return name

    def number(self, source: random.Random) -> str:
        """Return a number from 2 to 999,999, in half of the cases with commas."""
        value = max(2, source.randrange(10 ** source.randint(1, 6)))
        return f"{value:,}" if source.randrange(2) else str(value)

    def time(self, source: random.Random) -> str:
        """Return a time of day, in three of four cases before 13:00."""
        hour = source.randint(1, 12) if source.randrange(4) else source.randint(13, 23)
        return f"{hour}:{source.randrange(60):02}"

    def price(self, source: random.Random) -> str:
        """Return a price in dollars or euros; below 1,000, one in three has cents."""
        amount = max(2, source.randrange(10 ** source.randint(1, 5)))
        cents = f".{source.randrange(100):02}" if amount < 1000 and not source.randrange(3) else ""
        return f"{source.choice('$$€')}{amount:,}{cents}"

    KINDS = {
        "name": name,
        "other": name,
        "word": lambda self, source: self.name(source).lower(),
        "number": number,
        "year": lambda self, source: str(source.randint(1000, 2099)),
        "time": time,
        "later": time,
        "price": price,
    }


def elided(target: str) -> str:
    """Return a French text with `de`, `ne`, `que` and others elided before a capital vowel."""
    return NOT_ELIDED.sub(r"\1'", target)


def around(value: str, text: str) -> list[str] | None:
    """Return the text before and after a value; None unless it is there once, as a whole word."""
    sides = text.split(value)
    is_word = len(sides) == 2 and STARTS.search(sides[0]) and ENDS.match(sides[1])
    return sides if is_word else None


def replaced(
    pair: tuple[str, str], values: Values, source: random.Random
) -> tuple[str, ...] | None:
    """Replace the values (names, times, ...) that both sides of a pair share by new ones.

    Returns source, target, and the new values in French notation; None if the sides share no
    values except names after an article.
    """
    written, target = pair
    new_values = []
    for match in VALUE.finditer(pair[0]):
        old, kind = match[0], match.lastgroup or ""
        if (kind == "name" and old not in values.names) or old in ("0", "1"):
            continue
        source_sides, target_sides = around(old, written), around(french(old), target)
        if not (source_sides and target_sides):
            continue
        before, after = target_sides
        if kind == "name" and ARTICLE.search(before):
            continue
        new = values.draw("year" if re.fullmatch(r"[12]\d{3}", old) else kind, source)
        written = new.join(source_sides)
        target = elided(ELIDED.sub(r"\1e ", before) + french(new) + after)
        new_values.append(french(new))
    return (written, target, *new_values) if new_values else None


def filled(frame: tuple[str, str], values: Values, source: random.Random) -> tuple[str, ...]:
    """Fill a frame with random values; return source, target, and the values in French notation."""
    drawn = {kind: values.draw(kind, source) for kind in re.findall(r"{(\w+)}", frame[0])}
    in_french = {kind: french(value) for kind, value in drawn.items()}
    target = elided(frame[1].format(**in_french))
    return (frame[0].format(**drawn), target, *in_french.values())


def make_copies(pairs: Pairs, times: int, seed: int = 0) -> Pairs:
    """Return pairs with values to copy: `times` from each suitable pair, more from FRAMES."""
    source, values = random.Random(seed), Values(find_names(pairs))
    sharing = [pair for pair in pairs if replaced(pair, values, source)]
    copies = [
        copy for pair in sharing for _ in range(times) if (copy := replaced(pair, values, source))
    ]
    frames = [frame for number, frame in enumerate(FRAMES) if number % TEST_EVERY]
    copies += [
        filled(frame, values, source) for frame in frames for _ in range(times * FRAME_TIMES)
    ]
    return [(row[0], row[1]) for row in copies]


def make_test(pairs: Pairs, trained: Pairs, seed: int = 0) -> list[tuple[str, ...]]:
    """Return TEST_PAIRS rows: a source, its target and the values to copy.

    Half of them are made from held-out `pairs`, and half from the sentences in FRAMES. The values
    are in no pair of `trained`.
    """
    source, values = random.Random(seed), Values(find_names(trained), trained, tested=True)
    rows: dict[str, tuple[str, ...]] = {}
    for pair in source.sample(pairs, len(pairs)):
        row = replaced(pair, values, source) if len(rows) < TEST_PAIRS // 2 else None
        if row:
            rows.setdefault(row[0], row)
    frames = cycle(FRAMES[::TEST_EVERY])
    while len(rows) < TEST_PAIRS:
        row = filled(next(frames), values, source)
        rows.setdefault(row[0], row)
    return list(rows.values())
