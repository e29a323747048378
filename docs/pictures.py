"""The pictures of README.md and docs/, drawn by the app itself: python -m docs.pictures."""

import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.fixtures import running_server
from tests.browser.install import LAUNCH, chromium_path

DOCS = Path(__file__).parent
SIZE = {"width": 1280, "height": 720}
DOG = "sentence=The+dog+ate+the+meat+because+it+was+hungry."
HEAD = f"{DOG}&kind=cross&layer=1&head=4"
# The pages of docs/pages.md, by the name of the picture.
STILLS = {
    "attention": f"/?{DOG}",
    "inside": f"/inside?{HEAD}",
    "positions": f"/positions?{DOG}",
    "atlas": "/atlas",
    "masks": "/masks?sentence=The+dog+sees+the+cat.",
    "heads": f"/heads?{HEAD}&edits=gate.cross.1.4.0",
    "cause": f"/cause?{HEAD}",
    "compare": f"/compare?{HEAD}",
    "decoding": f"/decoding?{DOG}&strategy=beam",
    "training": "/training",
    "talk": "/talk",
    "models": "/models",
    "model": "/model",
}
# A sentence, all heads of the cross-attention, and the text without one of them.
FILM = "headlight.gif"
SCENES = (
    (f"/?{DOG}", 2.5),
    (f"/?{HEAD}", 2.5),
    (f"/heads?{HEAD}&edits=gate.cross.1.4.0", 2.0),
    (f"/?{HEAD}&edits=gate.cross.1.4.0", 4.0),
)
FILM_SIZE = (960, 540)
COLORS = 96
SETTLING_MS = 4000
QUALITY = 85  # of a still, in percent


def main() -> None:
    """Draw all pictures; the film shows each of SCENES for its number of seconds."""
    path = chromium_path()
    with running_server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, **LAUNCH)
        page = browser.new_page(viewport=SIZE, reduced_motion="reduce")
        for name, address in STILLS.items():
            still = Image.open(io.BytesIO(shot(page, server + address)))
            still.save(DOCS / "pages" / f"{name}.webp", quality=QUALITY)
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
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    page.wait_for_timeout(SETTLING_MS)  # a picture for readers, not a test
    return page.screenshot()


if __name__ == "__main__":
    main()
