"""A gallery that needs no server: python -m docs.site FOLDER.

Its front page runs the translator. It has the two ready talks as the app saves them, pictures that
stay alive, each with the line of Python and the link that make it, and the documentation as pages.
"""

import argparse
import re
import shutil
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from markdown_it import MarkdownIt
from playwright.sync_api import Browser, sync_playwright

from headlight import load_model
from headlight.wings.live.page import write_live
from tests.browser.fixtures import running_server
from tests.browser.install import LAUNCH, chromium_path

ROOT = Path(__file__).parents[1]
STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
APP = "http://localhost:8501"  # where the app is when it runs on the reader's machine
TALKS = {"attention": "Attention, from tokens to beam search", "five_minutes": "Five minutes"}
SAVING_MS = 600_000  # a talk's slides are drawn one after the other
SETUP = """
from headlight import *

sentence = "The dog ate the meat because it was hungry."
translator = load_model("en-fr")
translation = translator.translate(sentence)
trace = translator.trace(sentence, translation)
site = Site("cross", 0)
queries = [token.text for token in trace.query_tokens(site)]
keys = [token.text for token in trace.key_tokens(site)]
weights = trace.attention[site].weights[0]  # (heads, queries, keys)
"""


class Exhibit(NamedTuple):
    """A picture of the gallery: its title, the Python that makes it, and its page in the app."""

    title: str
    code: str  # the last line is the picture
    page: str = ""
    choices: dict[str, str] = {}


CROSS = {"kind": "cross", "layer": "1", "head": "4"}
EXHIBITS = (
    Exhibit("All heads", 'head_grid(trace.weights("cross"), queries, keys)', "", CROSS),
    Exhibit("One head", "attention_heatmap(weights[3], queries, keys)", "", CROSS),
    Exhibit(
        "The same head as lines",
        "attention_lines(weights[3], queries, keys)",
        "",
        {**CROSS, "picture": "lines"},
    ),
    Exhibit(
        "The same head in running text",
        'attention_text(weights[3], queries, keys, lit=("query", 1))',
        "",
        {**CROSS, "picture": "text"},
    ),
    Exhibit(
        "Two heads and their difference",
        "compared_maps(weights[3], weights[7], (queries, keys), (queries, keys))",
        "compare",
    ),
    Exhibit(
        "The largest weight of every head",
        'kinds = {"encoder": "Encoder", "decoder": "Decoder", "cross": "Cross"}\n'
        "largest = {kind: trace.weights(kind).amax((-2, -1)).numpy() for kind in kinds}\n"
        'head_scores(largest, labels=kinds, name="largest weight")',
        "atlas",
    ),
    Exhibit(
        "How sure it was of each token",
        "import numpy\n"
        "written = [token.text for token in translation.target_tokens]\n"
        'probability_bars({"as trained": numpy.exp(translation.log_probabilities)}, written)',
        "decoding",
    ),
    Exhibit(
        "The look-ahead mask",
        "from headlight.viz import mask_matrix\n"
        "_, mask, _ = translator.masks(trace)\n"
        'mask_matrix(mask.numpy(), queries, queries, label="Look-ahead mask")',
        "masks",
    ),
    Exhibit(
        "One token at a time",
        "from headlight.pages.parts.decoding.player import player_of\n"
        "decoding = translator.write(sentence)\n"
        'player_of(decoding, decoding.path, layer=0, head="mean", start=0)',
        "decoding",
    ),
    Exhibit(
        "Beam search as a tree",
        "from headlight.pages.parts.decoding.player import tree_of\n"
        'tree_of(translator.write(sentence, Strategy("beam")), None)',
        "decoding",
        {"strategy": "beam"},
    ),
    Exhibit(
        "Heads that learn",
        "from headlight.model.snapshots import Snapshots\n"
        "from headlight.model.translator import PRETRAINED\n"
        'history = Snapshots.from_file(PRETRAINED / "en-fr" / "history.safetensors")\n'
        'films = history.weights[0]["cross"].numpy()\n'
        'attention_film(films, history.steps, *history.tokens(0, "cross"))',
        "model",
    ),
)


def main() -> None:
    """Write the gallery into a folder of its own."""
    parser = argparse.ArgumentParser(prog="python -m docs.site", description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    path = chromium_path()
    with running_server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, **LAUNCH)
        write_site(folder, lambda name: saved_talk(browser, server, name))
        browser.close()


def write_site(folder: Path, talk: Callable[[str], bytes]) -> None:
    """Write the gallery; `talk` returns the file of a ready talk by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in TALKS:
        (folder / f"{name}.html").write_bytes(talk(name))
    write_live(folder, load_model("en-fr"), links())
    (folder / "gallery.html").write_text(page("Headlight", gallery()), encoding="utf-8")
    write_document(folder, "README.md", set())


def saved_talk(browser: Browser, server: str, name: str) -> bytes:
    """Let the app save a ready talk as one HTML file, as a visitor would."""
    visitor = browser.new_page()
    visitor.goto(f"{server}/talk?ready_talk={name}")
    with visitor.expect_download(timeout=SAVING_MS) as download:
        visitor.get_by_role("button", name="Save as one HTML file").click()
    saved = Path(download.value.path()).read_bytes()
    visitor.close()
    return saved


def links() -> str:
    """Return what the front page leads to."""
    talks = "".join(f'<li><a href="{name}.html">{words}</a></li>' for name, words in TALKS.items())
    return (
        f'<h2>More</h2><ul>{talks}<li><a href="gallery.html">Pictures from a notebook</a></li>'
        '<li><a href="README.html">The app, which shows much more</a></li></ul>'
    )


def gallery() -> str:
    """Return the page with the pictures in the order of EXHIBITS."""
    names: dict[str, object] = {}
    exec(SETUP, names)
    sections = [exhibit_html(exhibit, names) for exhibit in EXHIBITS]
    return (
        "<h1>Headlight</h1><p>See what every attention head of a Transformer looks at. "
        "This page needs no server and no network. Every picture is alive: point at it and click. "
        'The app shows all this <a href="README.html">on the sentence you type</a>.</p>'
        '<p><a href="index.html">The translator</a></p>'
        f"<h2>Pictures</h2><p>Each comes from this Python and the lines under it.</p>{code(SETUP)}"
        f"{''.join(sections)}"
    )


def exhibit_html(exhibit: Exhibit, names: dict[str, object]) -> str:
    *lines, last = exhibit.code.splitlines()
    exec("\n".join(lines), names)
    picture = eval(last, names)
    choices = urlencode({"sentence": names["sentence"], **exhibit.choices})
    link = f"{APP}/{exhibit.page}?{choices}"
    return (
        f"<section><h3>{exhibit.title}</h3>{picture.to_component()}{code(exhibit.code)}"
        f'<p>In the app: <a href="{escape(link)}">{escape(link)}</a></p></section>'
    )


def code(text: str) -> str:
    return f"<pre><code>{escape(text.strip())}</code></pre>"


def write_document(folder: Path, name: str, written: set[str]) -> None:
    """Write a text of the project as a page, and all that it links to, next to each other."""
    written.add(name)
    body = MarkdownIt("commonmark").enable("table").render((ROOT / name).read_text("utf-8"))

    def link(match: re.Match[str]) -> str:
        address, mark, anchor = match[2].partition("#")
        if "://" in address or not address:
            return match[0]
        path = ((ROOT / name).parent / address).resolve().relative_to(ROOT)
        if path.suffix == ".md":
            if str(path) not in written:
                write_document(folder, str(path), written)
            address = address.removesuffix(".md") + ".html"
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
        return f'{match[1]}="{address}{mark}{anchor}"'

    body = re.sub(r'\b(href|src)="([^"]*)"', link, body)
    body = re.sub(r"<(h[1-6])>(.*?)</h", heading, body)
    up = "../" * name.count("/")
    target = (folder / name).with_suffix(".html")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page(name, f'<p><a href="{up}index.html">Gallery</a></p>{body}'), "utf-8")


def heading(match: re.Match[str]) -> str:
    """Return a heading with the anchor that links to it use."""
    words = re.sub("<[^>]*>", "", match[2]).lower()
    anchor = re.sub(r"[^\w -]", "", words).replace(" ", "-")
    return f'<{match[1]} id="{anchor}">{match[2]}</h'


def page(title: str, body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


if __name__ == "__main__":
    main()
