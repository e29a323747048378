"""The list of all pages and wings (optional parts) of the app; importing it registers them."""

from importlib import import_module

from headlight.pages.shared.frame import frame
from headlight.pages.shared.state.page import PAGES, list_pages
from headlight.pages.shared.state.wings import WINGS

# Modules that define a PAGE, a WING or both; the pages have this order in the sidebar. To leave a
# wing out, delete its folder and its line here.
PARTS = (
    "headlight.pages.parts.attention.page",
    "headlight.pages.parts.inside.page",
    "headlight.pages.parts.positions.page",
    "headlight.wings.atlas.wing",
    "headlight.pages.parts.masks.page",
    "headlight.pages.parts.heads.page",
    "headlight.wings.cause.wing",
    "headlight.pages.parts.compare.page",
    "headlight.pages.parts.decoding.page",
    "headlight.wings.training.wing",
    "headlight.wings.guess.wing",
    "headlight.wings.room.wing",
    "headlight.wings.talks.wing",
    "headlight.wings.classroom.wing",
    "headlight.wings.exercises.wing",
    "headlight.wings.live.wing",
    "headlight.pages.parts.models.page",
    "headlight.pages.parts.model.page",
)

LEFT_OUT = "This page is not part of this app."

for part in map(import_module, PARTS):
    if hasattr(part, "PAGE"):
        list_pages(part.PAGE)
    if hasattr(part, "WING"):
        WINGS.append(part.WING)


def open_page(key: str) -> None:
    """Open the page with this key; if its wing is left out, open the first page and say so."""
    if key in PAGES:
        frame.open_page(PAGES[key])
    else:
        frame.open_page(next(iter(PAGES.values())), LEFT_OUT)
