"""The pictures of README.md and docs/, drawn by the app itself: python -m docs.pictures."""

import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import running_server
from tests.browser.install import LAUNCH_ARGS, chromium_path
from tests.browser.rest import box_at_rest

DOCS = Path(__file__).parent
SIZE = {"width": 1280, "height": 720}
STILLS = {
    "attention.png": "/?sentence=The+dog+ate+the+meat+because+it+was+hungry.",
    "masks.png": "/masks?sentence=The+dog+sees+the+cat.",
    "atlas.png": "/atlas",
}
# A sentence, all heads of the cross-attention, and the text without one of them.
DOG = "sentence=The+dog+ate+the+meat+because+it+was+hungry.&kind=cross&layer=1&head=4"
FILM = "headlight.gif"
SCENES = (
    ("/?sentence=The+dog+ate+the+meat+because+it+was+hungry.", 2.5),
    (f"/?{DOG}", 2.5),
    (f"/heads?{DOG}&edits=gate.cross.1.4.0", 2.0),
    (f"/?{DOG}&edits=gate.cross.1.4.0", 4.0),
)
FILM_SIZE = (960, 540)
COLORS = 96


def main() -> None:
    """Draw all pictures; the film shows each of SCENES for so many seconds."""
    path = chromium_path()
    with running_server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=LAUNCH_ARGS)
        page = browser.new_page(viewport=SIZE, reduced_motion="reduce")
        for name, address in STILLS.items():
            (DOCS / name).write_bytes(shot(page, server + address))
        frames = [Image.open(io.BytesIO(shot(page, server + scene))) for scene, _ in SCENES]
        browser.close()
    first, *others = (
        frame.convert("RGB").resize(FILM_SIZE, Image.Resampling.LANCZOS).quantize(COLORS)
        for frame in frames
    )
    durations = [int(1000 * seconds) for _, seconds in SCENES]
    first.save(
        DOCS / FILM, save_all=True, append_images=others, duration=durations, loop=0, optimize=True
    )


def shot(page: Page, address: str) -> bytes:
    """Return a page as PNG once it has come to rest."""
    page.goto(address)
    page.locator("canvas").first.wait_for()
    box_at_rest(page.locator("canvas").last, scroll=False)
    return page.screenshot()


if __name__ == "__main__":
    main()
