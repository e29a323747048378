"""The models that come with the app, and the names of models on screen."""

import re
from dataclasses import dataclass

OWN = "own-"  # prefix of the keys of visitors' own models
LIBRARY = "transformers:"  # prefix of the keys of models of the transformers library
ONE_SIDE = "text"  # the name of both sides of a model that has only one
LONGEST_NAME = 300  # characters of a name on the hub, or of a folder


@dataclass(frozen=True)
class CatalogEntry:
    """A model with its words on screen: its title, its two sides, and what to type."""

    key: str  # a shipped name, or one that is unique among all visitors' models
    title: str
    examples: tuple[str, ...] = ()
    source: str = "English"
    target: str = "French"

    @property
    def asks_for(self) -> str:
        """What it reads, with an article."""
        if self.is_own:
            return "an input"
        return "a text" if self.is_library else f"an {self.source} sentence"

    @property
    def is_own(self) -> bool:
        """Whether it is a visitor's own, which no other visitor has."""
        return self.key.startswith(OWN)

    @property
    def is_library(self) -> bool:
        """Whether it is one of the transformers library, named as on the hub or by its folder."""
        return self.key.startswith(LIBRARY)

    @property
    def name(self) -> str:
        return self.key.removeprefix(LIBRARY)


EXAMPLES = (
    "The dog ate the meat because it was hungry.",
    "The animal didn't cross the street because it was too tired.",
    "I love my cat.",
    "How do you feel today?",
    "The red car is faster than the blue car.",
    "Barack Obama met Angela Merkel at 7:45.",
    "Seven dwarfs live in the forest.",  # beyond it
)
# Tokens of the examples: a query and the key it should look at.
TELLING = (("it", "dog"), ("it", "animal"))
SHIPPED = {
    entry.key: entry
    for entry in (
        CatalogEntry("en-fr", "English to French", EXAMPLES),
        CatalogEntry("en-fr-learned", "English to French, small, learned positions", EXAMPLES),
    )
}
DEFAULT = next(iter(SHIPPED))


def library_entry(name: str, writes: bool = False) -> CatalogEntry:
    """Return a model of the transformers library; `writes` if it reads a text to write another."""
    sides = ("source", "target") if writes else (ONE_SIDE, ONE_SIDE)
    return CatalogEntry(LIBRARY + name, short(name), EXAMPLES, *sides)


def short(name: str) -> str:
    """Shorten a name to fit on screen: only the end of a folder's path stays."""
    parts = [part for part in re.split(r"[/\\]", name) if part]
    return name if len(parts) <= 2 else f"…/{'/'.join(parts[-2:])}"
