"""Define the slides of a talk as plain data, and write them as the text of a file."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from secrets import token_hex

from headlight.pages.shared.state.page import Page

LARGEST_FILE = 400_000  # bytes
MOST_SLIDES = 60
LONGEST_TITLE = 80  # characters of a title
LONGEST_WORDS = 400  # characters of the words on a slide
LONGEST_NOTES = 2_000  # characters of a speaker's notes
SIZES = (0.3, 1.0)  # smallest and largest size of pictures, as a share of the largest that fits
FORMAT = "headlight_talk"  # the field of a file with the version of the format
VERSION = 2


@dataclass(frozen=True)
class Slide:
    """A slide: words, and pictures of its scene. A scene is a page with certain choices.

    A slide without a page has only words, such as a title slide. `drawn` has the keys of the
    pictures that its page draws with its choices; empty if not known. `notes` are only for the
    speaker. `question` has a question in its first line, and two to four answers in the others; it
    is on the slide, and the phones of a room are asked it. `lead` is the title that the page gave
    the slide; `title` equals it until a person types another. `name` identifies the slide within a
    session, even after changes and moves; files do not have it.
    """

    page: str = ""  # the page's key
    parameters: Mapping[str, str] = field(default_factory=dict)  # the choices as text, as in links
    title: str = ""
    words: str = ""
    pictures: tuple[str, ...] = ()
    size: float = 1.0
    drawn: tuple[str, ...] = ()
    notes: str = ""
    qr_code: bool = False  # True to show a QR code that opens its page
    lead: str = ""
    question: str = ""
    name: str = field(default_factory=token_hex, compare=False, repr=False)

    @property
    def typed(self) -> bool:
        """True if a person has typed the title, False if the page gave it."""
        return self.title != self.lead


def copied(slide: Slide) -> Slide:
    return replace(slide, name=token_hex())


def recognised(slides: Sequence[Slide], known: Sequence[Slide]) -> tuple[Slide, ...]:
    """Return slides from a file; a slide that equals a known one gets the name of that one."""
    left, named = list(known), []
    for slide in slides:
        same = next((other for other in left if _scene(other) == _scene(slide)), slide)
        if same is not slide:
            left.remove(same)
        named.append(replace(slide, name=same.name))
    return tuple(named)


def _scene(slide: Slide) -> Slide:
    """Return a slide without the values that drawing it may change."""
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

    A longer text is cut at a colon, or at a comma in its second half, or between two words.
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
    """Return a title: the changes in the words of captions, followed by the page's sentence.

    Many or long changes are counted, as in "3 changes"; a single long one is left out.
    """
    named = changes.split("; ")
    more = re.match("([0-9]+) more ", named[-1])  # captions name some heads and count the others
    count = len(named) + (int(more[1]) - 1 if more else 0)
    begins = named[0][:1].upper() + ", ".join(named)[1:]
    if count > 2 or len(begins) > LONGEST_TITLE / 2:
        begins = f"{count} changes" if count > 1 else ""
    if not begins:
        return shortened(says)
    return f"{begins}: {shortened(says[:1].lower() + says[1:], LONGEST_TITLE - len(begins) - 2)}"


def is_quoting(text: str) -> bool:
    """Return whether a quotation in a text is not yet closed."""
    return text.count("“") > text.count("”")
