"""The models that come with the app, and what to call a model on screen."""

from __future__ import annotations

from dataclasses import dataclass

OWN = "own-"  # what the keys of visitors' own models begin with


@dataclass(frozen=True)
class CatalogEntry:
    """A model with the words for it on screen: its title, its two sides, and what to type."""

    key: str  # a shipped name, or one that no other model of any visitor has
    title: str
    examples: tuple[str, ...]
    source: str = "English"
    target: str = "French"

    @property
    def asks_for(self) -> str:
        """What it is given to read; "an" goes before it."""
        return "input" if self.is_own else f"{self.source} sentence"

    @property
    def is_own(self) -> bool:
        """Whether it is a visitor's own, which no other visitor has."""
        return self.key.startswith(OWN)


EXAMPLES = (
    "The animal didn't cross the street because it was too tired.",
    "I love my cat.",
    "How do you feel today?",
    "The red car is faster than the blue car.",
    "Who is that?",
)
SHIPPED = {
    entry.key: entry
    for entry in (
        CatalogEntry("en-fr", "English to French", EXAMPLES),
        CatalogEntry("en-fr-learned", "English to French, small, learned positions", EXAMPLES),
    )
}
DEFAULT = next(iter(SHIPPED))
