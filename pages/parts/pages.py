"""Every page of the app, and the wings that add something to all of them."""

from importlib import import_module

from pages.shared.frame import frame
from pages.shared.state.page import PAGES, WINGS, list_pages

# Modules with a PAGE, a WING or both, in the order of the sidebar. A wing can be left out: it is
# one line here and one folder.
PARTS = (
    "pages.parts.attention.page",
    "pages.parts.inside.page",
    "pages.parts.positions.page",
    "pages.parts.atlas.page",  # a wing
    "pages.parts.masks.page",
    "pages.parts.heads.page",
    "pages.parts.cause.page",  # a wing
    "pages.parts.compare.page",
    "pages.parts.decoding.page",
    "pages.parts.training.page",  # a wing
    "pages.talks.wing",  # a wing
    "pages.classroom.wing",  # a wing
    "pages.parts.models.page",
    "pages.parts.model.page",
)

for part in map(import_module, PARTS):
    if hasattr(part, "PAGE"):
        list_pages(part.PAGE)
    if hasattr(part, "WING"):
        WINGS.append(part.WING)


def open_page(key: str) -> None:
    frame.open_page(PAGES[key])
