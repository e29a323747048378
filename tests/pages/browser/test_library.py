import shutil
import subprocess

import pytest

from viz import library
from viz.canvas import COMPONENTS

PARTS = sorted(file.stem for file in COMPONENTS.glob("*.html"))


def test_the_library_has_every_part_and_what_they_share_once():
    text = library.library()
    for part in PARTS:
        assert text.count(f"\n{part}: (() => {{") == 1
    assert text.count("function unpack(") == 1
    assert text.count("export default") == 1


@pytest.mark.skipif(not shutil.which("node"), reason="node reads the script")
@pytest.mark.parametrize("text", [library.library(), library.loader(PARTS[0])])
def test_the_scripts_can_be_read(text, tmp_path):
    (tmp_path / "script.mjs").write_text(text)
    subprocess.run(["node", "--check", tmp_path / "script.mjs"], check=True, timeout=60)


def test_a_loader_asks_for_its_part_of_this_library():
    text = library.loader("heatmap")
    assert f'window.{library.global_name()}("heatmap", part)' in text
    assert "__" not in text


def test_other_code_has_another_name(monkeypatch):
    before = library.global_name()
    monkeypatch.setattr(library, "code", lambda: "const parts = {};")
    assert library.global_name.__wrapped__() != before
