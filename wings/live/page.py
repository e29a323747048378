"""Write the page that runs the translator without a server: an HTML document and its weights."""

import base64
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
from safetensors.torch import save
from tokenizers import models

from headlight.model.own_reader import OwnReader
from headlight.model.tokenizer import PIECES, Tokenizer
from headlight.model.transformer.transformer import Transformer
from headlight.model.translator import Translator
from headlight.pages.browser import library
from headlight.pages.browser.library import as_json, digest_of
from headlight.pages.shared.state.wings import TalkModel
from headlight.viz import attention_heatmap, decoding_player, head_grid, token_strip
from headlight.viz.canvas import CanvasPicture, unpacked
from headlight.viz.modules import in_order, script

HERE = Path(__file__).parent
IN_DECK, PANEL = HERE / "in_deck.js", HERE / "panel.css"
FILE, SCRIPT = "weights.safetensors", "weights.js"  # the weights, in two files next to the page
EXAMPLES = (
    "The dog ate the meat because it was hungry.",
    "The animal didn't cross the street because it was too tired.",
    "Why did the cat not come home last night?",
    "I have never seen such a beautiful house.",
)
# The page's security policy: it loads only the weights next to it, and nothing from another host.
POLICY = (
    "default-src 'none'; script-src '{script}' file: blob:; worker-src blob:; connect-src 'self'; "
    "style-src '{style}'; img-src data: blob:; base-uri 'none'; form-action 'none'"
)


def write_live(folder: Path, translator: Translator, more: str = "") -> None:
    """Write the live page as index.html, with the weights as a file and as a script.

    The script is needed because a page that is opened from the disk may run scripts, but not read
    files. `more` is HTML at the end of the page.
    """
    weights = weights_file(translator.model, translator.tokenizer)
    (folder / "index.html").write_text(document(more, file=FILE, script=SCRIPT), encoding="utf-8")
    (folder / FILE).write_bytes(weights)
    (folder / SCRIPT).write_text(f'headlightWeights("{base64.b64encode(weights).decode()}");\n')


def document(more: str = "", *, file: str, script: str) -> str:
    """Return the page's HTML; `file` and `script` are the addresses of its weights."""
    code, style = page_code(), stylesheet()
    policy = POLICY.format(script=digest_of(code), style=digest_of(style))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>Headlight</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        "<h1>Headlight</h1>\n<p>What every attention head of a Transformer looks at while it "
        "translates your sentence. The model runs in this page: nothing you type leaves it.</p>\n"
        f'<div id="app" class="live"></div>\n{more}\n</main>\n'
        f'<script type="application/json" id="live">{as_json(header(file, script))}</script>\n'
        f'<script type="module">{code}</script>\n</body>\n</html>\n'
    )


def header(file: str = "", script: str = "") -> dict[str, object]:
    """Return the data that the page reads as JSON.

    `file` and `script` are the addresses of the weights; if empty, the document holds the weights.
    """
    return {
        "sentence": EXAMPLES[0],
        "examples": EXAMPLES,
        "templates": {picture.name: unpacked(picture.data)[0] for picture in pictures()},
        "labels": {picture.name: picture.part.label for picture in pictures()},
        "worker": worker(),
        "weights": {"file": file, "script": script},
    }


def pictures() -> list[CanvasPicture]:
    """Return the page's pictures with empty data, which the browser replaces."""
    weight, token = np.zeros((1, 1)), ["a"]
    heatmap = attention_heatmap(weight, token, clickable=True)
    player = decoding_player(weight, weight, weight > 0, token, token, texts=["", ""], bars=[[]])
    return [
        head_grid(weight[None, None], token),
        heatmap.having(opens="close or open it for all heads"),
        player.having(tells=False),
        token_strip("", [], label=""),
    ]


@cache
def page_code() -> str:
    """Return the script of the page."""
    drawing = sorted((picture.part.script for picture in pictures()), key=lambda path: path.stem)
    code = library.code_of(HERE / "page.js", drawing, ("canvas", "theme"))
    return f"{code}\n$page.show(parts, styles);\n"


@cache
def worker() -> str:
    """Return the script of the web worker that runs the model."""
    return f"{script(in_order([HERE / 'worker.js']))}\n$worker.listen(self);\n"


@cache
def stylesheet() -> str:
    """Return the style sheet of the page; the pictures have style sheets of their own."""
    theme = library.THEME.read_text(encoding="utf-8").replace(":host", ":root")
    own = [library.HERE / "deck" / "colors.css", HERE / "page.css", PANEL]
    base = (library.VIZ / "canvas.css").read_text(encoding="utf-8")
    return "\n".join([base, theme, *(path.read_text(encoding="utf-8") for path in own)])


def for_talks(translator: OwnReader) -> TalkModel:
    """Return a translator's weights, and the scripts that run and show it in the file of a talk."""
    weights = weights_file(translator.model, translator.tokenizer)
    return TalkModel(weights, IN_DECK, PANEL, header(), pictures())


def weights_file(model: Transformer, tokenizer: Tokenizer) -> bytes:
    """Return a safetensors file with all weights as float16, the config and the tokenizer.

    Raises ValueError for a tokenizer whose rules the browser does not know.
    """
    tensors = {
        name: parameter.detach().half().cpu().contiguous()
        for name, parameter in model.named_parameters()
    }
    about = {"config": asdict(model.config), "tokenizer": rules_of(tokenizer)}
    # One entry of metadata, because the library writes several in random order.
    return save(tensors, {"headlight": json.dumps(about)})


def rules_of(tokenizer: Tokenizer) -> dict[str, object]:
    """Return the vocabulary and the merges with which the browser splits a text.

    Raises ValueError if the tokenizer finds words by another pattern than the browser.
    """
    rules = json.loads(tokenizer.backend.to_str())
    pieces = sorted(rules["model"]["vocab"].items(), key=lambda item: item[1])
    vocabulary = [piece for piece, _ in pieces]
    if isinstance(tokenizer.backend.model, models.WordLevel):
        return {"vocabulary": vocabulary, "merges": None, "bytes": False, "whole": False}
    if PIECES not in json.dumps(rules["pre_tokenizer"], ensure_ascii=False).replace("\\\\", "\\"):
        raise ValueError("The browser does not know how this tokenizer splits a text into words.")
    return {
        "vocabulary": vocabulary,
        "merges": [
            list(map(rules["model"]["vocab"].get, pair)) for pair in rules["model"]["merges"]
        ],
        "bytes": bool(rules["model"]["byte_fallback"]),
        "whole": bool(rules["model"]["ignore_merges"]),
    }
