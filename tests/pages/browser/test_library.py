import re
import shutil
import struct
import subprocess

import pytest

from headlight.pages.browser import library
from headlight.pages.browser.parts import save_menu
from headlight.viz import Chip, selected_map, token_strip
from tests.viz.unpacking import split, unpack

PARTS = [path.stem for path in library.parts()]


def test_the_library_has_every_file_once_and_every_part():
    text = library.library()
    assert {"heatmap", "keyboard", "save_menu"} < set(PARTS)
    for name in (*PARTS, "canvas", "map", "transport", "to_svg"):
        assert text.count(f"\nconst ${name} = (() => {{") == 1
    for part in PARTS:
        assert f"{part}: {{ draw: ${part}.draw, " in text
    assert "export default" not in text  # it is no module


def test_the_styles_of_all_parts_are_there_once():
    text = library.library()
    assert text.count(".transport .play") == 1  # of the film, of the player, and of the clocks
    assert (
        '"sheets": ["canvas", "theme", "save_menu", "transport", "map", "attention_film"]' in text
    )
    assert text.count("--accent: var(--st-primary-color)") == 1


def test_no_part_loads_anything_or_reads_text_as_markup():
    text = library.code().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//cdn|innerHTML|insertAdjacentHTML|document\.write|eval\(", text)


@pytest.mark.skipif(not shutil.which("node"), reason="node reads the script")
@pytest.mark.parametrize("text", [library.library(), library.loader(), library.bringer("/a.js")])
def test_the_scripts_can_be_read(text, tmp_path):
    (tmp_path / "script.mjs").write_text(text)
    subprocess.run(["node", "--check", tmp_path / "script.mjs"], check=True, timeout=60)


def test_a_page_fetches_the_library_of_this_code_from_where_it_is():
    text = library.bringer("/base/_stcore/it.js")
    assert 'script.src = "/base/_stcore/it.js"' in text
    assert f"if (window.{library.global_name()} ||" in text
    assert "__" not in text


@pytest.mark.skipif(not shutil.which("node"), reason="node runs the script")
def test_the_loader_asks_this_library_for_the_part_that_is_mounted():
    text = library.loader()
    assert "__" not in text
    asking = f"""
    globalThis.window = {{ {library.global_name()}: (name, part) => `${{name}} ${{part.data}}` }};
    process.stdout.write(load({{ name: "{library.component_name("heatmap")}", data: 7 }}));
    """
    run = ["node", "--input-type=module", "--eval", text + asking]
    assert subprocess.run(run, capture_output=True, timeout=60, check=True).stdout == b"heatmap 7"


def test_other_code_has_another_name(monkeypatch):
    before = library.global_name()
    monkeypatch.setattr(library, "code", lambda: "const parts = {};")
    assert library.global_name.__wrapped__() != before


def test_a_picture_travels_with_the_menu_that_saves_it():
    picture = token_strip("a b", [Chip("a")], label="Tokens")
    menu = save_menu("name", "caption", "what", ["csv"], file=("csv", b"a,b", 1))
    data = library.mounted(picture, menu)
    (length,) = struct.unpack("<I", data[-4:])
    assert data[: -4 - length] == picture.data
    header, file = split(data[-4 - length : -4])
    assert (header["what"], file) == ("what", b"a,b")


def test_a_picture_without_a_menu_travels_alone():
    picture = selected_map((1, 2))
    assert unpack(picture)[0] == {"place": [1, 2]}
    assert library.mounted(picture) == picture.data + bytes(4)
