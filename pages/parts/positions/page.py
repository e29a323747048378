"""The page Positions: sinusoids, learned tables, rotary positions, and reading without any."""

from collections.abc import Mapping
from typing import Any

from headlight.model.shape import Ability
from headlight.pages.parts.positions import learned, rotary, sentence, sinusoids
from headlight.pages.parts.positions.edits import lengths, moved, position_edits
from headlight.pages.shared.controls.sentence import ask, can
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.comparison import KEYS
from headlight.pages.shared.state.choice import one_of
from headlight.pages.shared.state.choices import KEY, QUERY
from headlight.pages.shared.state.page import Page
from headlight.pages.shared.widgets.choose import choose

TABS = {
    "sentence": "Your sentence",
    "words": "Shuffled words",
    "sinusoids": "Sinusoids",
    "learned": "Learned",
    "token": "One token",
    "beyond": "Beyond training",
    "rotary": "Rotary",
}
TAB = one_of("positions_tab", TABS, label="What is shown")
ALONE = {"sinusoids": sinusoids.sinusoid_section, "learned": learned.learned_section}
OF_SENTENCE = {
    "sentence": sentence.sentence_section,
    "words": sentence.words_section,
    "token": sentence.token_section,
    "beyond": learned.beyond_section,
    "rotary": rotary.rotary_section,
}
NEEDS: dict[str, tuple[Ability, ...]] = {
    "sentence": ("move positions",),
    "words": ("move positions",),
    "token": (),
    "beyond": ("move positions",),
    "rotary": (),
}
PARTS = (sinusoids, learned, sentence)


def positions() -> None:
    """Draw the page; if no text can be read, the tabs about the text are empty."""
    run = ask()
    tab = choose(TAB, label_visibility="collapsed")
    if tab in ALONE:
        ALONE[tab]()
    elif run and all(can(run, need) for need in NEEDS[tab]):
        OF_SENTENCE[tab](run)


def with_moves(run: ModelRun, values: Mapping[str, Any]) -> ModelRun:
    """Return the run with the chosen positions, if the page shows it."""
    if values[TAB.key] != "sentence" or "move positions" in run.reader.missing:
        return run
    return moved(run, position_edits(lengths(run), values))


PAGE = Page(
    key="positions",
    title="Positions",
    group="Look",
    purpose="How a token knows its place, and what happens without positions",
    body=positions,
    choices=(TAB, QUERY, KEY, *(choice for part in PARTS for choice in part.CHOICES)),
    pictures={
        "trained": "the translation as trained",
        "changed": "the translation with other positions",
        "weights-trained": "the weights as trained",
        "weights-changed": "the weights with other positions",
        "shuffled": "the words shuffled",
        "curves": "the curves of the sinusoids",
        "table": "every position and dimension",
        "dot products": "the dot products of positions",
        "by offset": "the dot products by distance",
        "clocks": "positions as clocks",
        "rotary-wavelengths": "how fast queries and keys turn",
        "rotary-rows": "a query and a key, turned",
        "rotary-clocks": "a query and a key as clocks",
        "rotary-distances": "the score by distance",
    },
    first=KEYS,
    own=with_moves,
)
