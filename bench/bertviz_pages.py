"""BertViz's views as pages that open without a network."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path
from typing import IO, cast
from urllib.parse import urlsplit

import bertviz
import torch
from playwright.sync_api import Page, Route

from bench.random_heads import names, random_weights

CACHE = Path.home() / ".cache" / "headlight-bench"
# The scripts that BertViz loads from the web. Here they come from npm, which lacks jQuery 2.0.0.
SCRIPTS = {
    "require.min.js": ("requirejs", "2.3.6", "require.js"),
    "d3.min.js": ("d3", "5.7.0", "dist/d3.min.js"),
    "jquery.min.js": ("jquery", "2.2.4", "dist/jquery.min.js"),
}


def build(view: str, tokens: int, file: Path) -> None:
    """Write `head_view` or `model_view` of random heads to a file that a browser can open."""
    attention = [torch.from_numpy(layer)[None] for layer in random_weights(tokens)]
    page = getattr(bertviz, view)(attention, names(tokens), html_action="return")
    file.write_text(f'<!doctype html><meta charset="utf-8"><body>{page.data}', "utf-8")


def serve_scripts(page: Page) -> None:
    """Answer a page's requests to the web with scripts on this machine."""

    def answer(route: Route) -> None:
        route.fulfill(path=script(urlsplit(route.request.url).path.rpartition("/")[2]))

    page.route("https://**/*", answer)


def script(name: str) -> Path:
    """Return the path of one of BertViz's scripts; npm downloads it the first time."""
    package, version, inside = SCRIPTS[name]
    archive = CACHE / f"{package}-{version}.tgz"
    if not archive.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["npm", "pack", "--silent", f"{package}@{version}"],
            cwd=CACHE,
            check=True,
            stdout=subprocess.DEVNULL,
        )
    file = CACHE / f"{package}-{version}-{name}"
    if not file.exists():
        with tarfile.open(archive) as packed:
            inner = cast(IO[bytes], packed.extractfile(f"package/{inside}"))
            file.write_bytes(inner.read())
    return file
