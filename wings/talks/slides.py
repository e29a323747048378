"""Slides of a talk as plain data, and the text of the file that keeps them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from secrets import token_hex

from headlight.pages.shared.state.page import Page

LARGEST_FILE = 400_000  # bytes
MOST_SLIDES = 60
LONGEST_TITLE = 80  # characters
LONGEST_WORDS = 400
LONGEST_NOTES = 2_000
SIZES = (0.3, 1.0)  # of pictures: the share of the largest size at which they fit
FORMAT = "headlight_talk"  # the field that names the version of a file's slides
VERSION = 2


@dataclass(frozen=True)
class Slide:
    """A scene of a page, the pictures to show and their size, and the words above them.

    A slide without a page has only words, such as a title. `drawn` are the pictures that the scene
    draws, as far as that is known; empty if it is not. `notes` are only for the speaker. The `lead`
    is the title that its page gave it, which follows the scene until somebody gives it another. Its
    `name` identifies it in a session while it is changed and moved; files have none.
    """

    page: str = ""  # the page's key
    parameters: Mapping[str, str] = field(default_factory=dict)  # in the form that links hold
    title: str = ""
    words: str = ""
    pictures: tuple[str, ...] = ()
    size: float = 1.0
    drawn: tuple[str, ...] = ()
    notes: str = ""
    qr_code: bool = False  # of the scene in the running app, next to the pictures
    lead: str = ""
    name: str = field(default_factory=token_hex, compare=False, repr=False)

    @property
    def typed(self) -> bool:
        """Whether a person, and not its page, gave it its title."""
        return self.title != self.lead


def copied(slide: Slide) -> Slide:
    return replace(slide, name=token_hex())


def recognised(slides: Sequence[Slide], known: Sequence[Slide]) -> tuple[Slide, ...]:
    """Return slides that were read again, with the names of the known slides that they equal."""
    left, named = list(known), []
    for slide in slides:
        same = next((other for other in left if _scene(other) == _scene(slide)), slide)
        if same is not slide:
            left.remove(same)
        named.append(replace(slide, name=same.name))
    return tuple(named)


def _scene(slide: Slide) -> Slide:
    """Return a slide without the values that are completed when it is drawn."""
    return replace(slide, pictures=(), drawn=(), lead="")


def first_pictures(page: Page) -> tuple[str, ...]:
    return page.first() if callable(page.first) else page.first


def write_talk(slides: Sequence[Slide]) -> str:
    """Return the text of a talk's file."""
    entries = [asdict(slide) for slide in slides]
    for entry in entries:
        del entry["name"]
    content = {FORMAT: VERSION, "slides": entries}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def shortened(text: str, longest: int = LONGEST_TITLE) -> str:
    """Return a text of at most `longest` characters.

    It is cut before what follows a colon, otherwise at a comma or between words in its second half,
    if it can be.
    """
    if len(text) <= longest:
        return text
    claim, part = (text[: longest - 2].rpartition(mark)[0] for mark in (": ", ", "))
    if len(claim) > longest / 3 and not is_quoting(claim):
        return claim
    if len(part) > longest / 2 and not is_quoting(part):
        return f"{part} …"
    begun = text[: longest - 2]
    words = begun.rpartition(" ")[0]
    cut = f"{words} …" if len(words) > longest / 2 else f"{begun.rstrip()}…"
    return f"{cut}”" if is_quoting(cut) else cut


def with_changes(says: str, changes: str) -> str:
    """Return a title: the changes, in the words of captions, and the page's sentence about them.

    Many or long changes are counted; a single long one is left out.
    """
    named = changes.split("; ")
    more = re.match("([0-9]+) more ", named[-1])  # heads that captions only count
    count = len(named) + (int(more[1]) - 1 if more else 0)
    begins = named[0][:1].upper() + ", ".join(named)[1:]
    if count > 2 or len(begins) > LONGEST_TITLE / 2:
        begins = f"{count} changes" if count > 1 else ""
    if not begins:
        return shortened(says)
    return f"{begins}: {shortened(says[:1].lower() + says[1:], LONGEST_TITLE - len(begins) - 2)}"


def is_quoting(text: str) -> bool:
    """Return whether a text ends within a quotation."""
    return text.count("“") > text.count("”")
