"""A talk as one file: what it holds, and that nothing in it is anything but data."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

import headlight.pages.parts.pages  # noqa: F401, what slides are of
from headlight.pages.shared.state.wings import TalkModel
from headlight.viz import Chip, attention_lines, head_grid, token_strip
from headlight.wings.live import page as live
from headlight.wings.talks.deck.file import (
    DECK,
    PIECE,
    Drawn,
    DrawnSlide,
    file_of,
    script_of,
    talk_in,
)
from headlight.wings.talks.slides import Slide, write_talk
from headlight.wings.talks.talk_file import read_talk
from tests.viz.unpacking import documented, split

HOSTILE = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> \u2028 “é”"
TOKENS = list("abc")
WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(3), (2, 4, 3))  # (layers, heads, Q, K)
GRID = head_grid(WEIGHTS, TOKENS)
LINES = attention_lines(WEIGHTS[0, 0], TOKENS)
STRIP = token_strip("a", [Chip("a")], label="A")
TALK = write_talk([Slide(title="A talk")])


class Document(HTMLParser):
    """The elements of a document with their attributes, and the texts of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.texts.append("")
        self.is_open = True

    def handle_endtag(self, tag):
        self.is_open = False

    def handle_data(self, data):
        if self.elements and self.is_open:
            self.texts[-1] += data

    def all(self, tag):
        """The attributes and the text of every element of a kind."""
        pairs = zip(self.elements, self.texts, strict=True)
        return [(attributes, text) for (name, attributes), text in pairs if name == tag]


def document(*slides, **options):
    return Document(file_of(slides, TALK, **options)[0].decode())


def header_of(page):
    (text,) = (text for attributes, text in page.all("script") if attributes.get("id") == "deck")
    return json.loads(text)


def test_the_header_is_what_the_script_documents():
    header = header_of(document(DrawnSlide("T", pictures=[Drawn("g", GRID)])))
    assert documented(DECK)[0] == set(header)
    source = (DECK.parent / "deck_slide.js").read_text(encoding="utf-8")
    for name, found in (
        ("SlideOfFile", header["slides"][0]),
        ("PictureOfFile", header["slides"][0]["pictures"][0]),
    ):
        block = re.search(rf"@typedef \{{object\}} {name}\n(.*?)\*/", source, re.DOTALL)[1]
        assert set(re.findall(r"\* @property \{.*\} (\w+)", block)) == set(found)


def test_hostile_words_are_data():
    more = {"footer": HOSTILE, "missing": HOSTILE, "question": [HOSTILE, HOSTILE]}
    slide = DrawnSlide(HOSTILE, HOSTILE, HOSTILE, pictures=[Drawn(HOSTILE, STRIP)], **more)
    talk = write_talk([Slide(title=HOSTILE[:80], words=HOSTILE)])
    page = Document(file_of([slide], talk)[0].decode())
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 3
    assert not {"img", "iframe", "object"} & {*tags}
    links = [dict(attributes) for tag, attributes in page.elements if tag == "link"]
    assert links == [{"rel": "icon", "href": "data:,"}]  # no other is asked for
    (match,) = header_of(page)["slides"]
    assert {match[name] for name in ("title", "words", "notes", "footer", "missing")} == {HOSTILE}
    assert match["question"] == [HOSTILE, HOSTILE]


def test_the_policy_lets_the_one_script_and_the_one_style_run_and_nothing_load():
    page = document(DrawnSlide("T", pictures=[Drawn("grid", GRID)]))
    (policy,) = (
        attributes["content"]
        for attributes, _ in page.all("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data: blob:"
    assert not re.search(r"https?:|\*|unsafe", policy)
    (script,) = (text for attributes, text in page.all("script") if attributes["type"] == "module")
    (style,) = (text for _, text in page.all("style"))
    for text, rule in ((script, "script-src"), (style, "style-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert not re.search(r"\b(src|href)=|@import|url\(http", style)


def test_each_picture_and_each_kind_of_picture_is_there_once():
    pictures = [Drawn("grid", GRID), Drawn("lines", LINES)]
    one = file_of([DrawnSlide("T", pictures=pictures)], TALK)[0]
    many = file_of([DrawnSlide("T", pictures=pictures)] * 20, TALK)[0]
    assert len(many) - len(one) < 20 * 500
    text = many.decode()
    for name in ("canvas", "head_grid", "attention_lines", "heatmap"):
        assert text.count(f"\nconst ${name} = (() => {{") == 1
    assert "const $beam_tree" not in text
    header = header_of(Document(text))
    assert len(header["data"]) == 3  # a map for the grid's heads, too
    first = header["slides"][0]["pictures"][0]
    assert base64.b64decode(header["data"][first["data"]]) == GRID.data


def test_a_map_for_one_head_has_the_tokens_of_its_grid():
    header = header_of(document(DrawnSlide("T", pictures=[Drawn("grid", GRID)])))
    read, weights = split(base64.b64decode(header["data"][header["slides"][0]["map"]]))
    assert (read["rows"], read["columns"]) == (TOKENS, TOKENS)
    assert weights == b""


def test_what_has_no_room_is_left_out_and_said():
    still = "data:image/webp;base64," + "A" * 3_000_000
    slides = [
        DrawnSlide("One", pictures=[Drawn("the chart", still)]),
        DrawnSlide("Two", pictures=[Drawn("the chart", still), Drawn("all heads", GRID)]),
        DrawnSlide("Three", pictures=[Drawn("another chart", still + "A")]),
    ]
    file, left_out = file_of(slides, TALK, most=5_000_000)
    result = header_of(Document(file.decode()))["slides"]
    assert left_out == [3]
    assert [len(slide["pictures"]) for slide in result] == [1, 2, 0]
    assert result[2]["missing"] == (
        "Left out, because the file would be larger than 5 MB: another chart."
    )


def test_the_file_can_be_read_as_the_talk_that_it_is():
    slides = [Slide(title="</script><b>", notes="“é”"), Slide("masks", pictures=("matrix",))]
    file, _ = file_of([DrawnSlide("T")], write_talk(slides))
    assert read_talk(talk_in(file))[0] == tuple(slides)
    own = write_talk(slides).encode()
    assert talk_in(own) == own
    with pytest.raises(ValueError, match="not a talk"):
        read_talk(talk_in(b"<!doctype html><p>Another page"))


@pytest.mark.skipif(not shutil.which("node"), reason="node reads the script")
def test_the_script_can_be_read(tmp_path):
    text = script_of({GRID.part, LINES.part})
    assert "</script" not in text
    assert "<!--" not in text
    (tmp_path / "script.mjs").write_text(text)
    subprocess.run(["node", "--check", tmp_path / "script.mjs"], check=True, timeout=60)


def test_a_model_inside_comes_with_the_code_that_runs_it():
    slides = [DrawnSlide("T", pictures=[Drawn("g", GRID)], scene={"sentence": "We left."})]
    model = bytes(range(256)) * 2**10  # of several pieces
    talk_model = TalkModel(model, live.IN_DECK, live.PANEL, live.header(), live.pictures())
    file, _ = file_of(slides, TALK, model=talk_model)
    page = Document(file.decode())
    texts = {attributes.get("id"): text for attributes, text in page.all("script")}
    pieces = [text for attributes, text in page.all("script") if attributes.get("class")]
    assert base64.b64decode("".join(pieces)) == model
    assert len(pieces) == 3
    assert max(map(len, pieces)) == PIECE
    assert set(json.loads(texts["live"])) == documented(live.HERE / "page.js")[0]
    assert header_of(page)["slides"][0]["scene"] == {"sentence": "We left."}
    (code,) = (text for attributes, text in page.all("script") if attributes["type"] == "module")
    assert "const $page = (() => {" in code
    plain = Document(file_of(slides, TALK)[0].decode())
    assert not any(attributes.get("class") for attributes, _ in plain.all("script"))
    assert "live" not in {attributes.get("id") for attributes, _ in plain.all("script")}
