import json
import shutil
import subprocess

import pytest

from headlight.pages.browser import library
from headlight.viz.modules import as_function, exports, imports, in_order, script, stylesheet


@pytest.fixture
def write(tmp_path):
    """Writes files by name, and returns the path of each."""

    def write(**sources):
        for name, source in sources.items():
            (tmp_path / f"{name}.js").write_text(source)
        return [tmp_path / f"{name}.js" for name in sources]

    return write


def names(paths):
    return [path.stem for path in paths]


def test_a_file_tells_what_it_imports_and_exports(write):
    (path,) = write(
        part=(
            'import { a, b } from "./ground.js";\n\n'
            "export const SIDE = 8;\nlet own = 1;\n"
            "export function draw() {\n  const inner = 2;\n}\nexport async function wait() {}\n"
        )
    )
    assert imports(path) == [path.with_name("ground.js")]
    assert exports(path) == ["SIDE", "draw", "wait"]
    text = as_function(path)
    assert "const { a, b } = $ground;" in text
    assert "export" not in text
    assert "import" not in text


def test_every_file_comes_once_and_after_those_it_imports(write):
    *_, top, other = write(
        ground="export const ground = 1;\n",
        left='import { ground } from "./ground.js";\nexport const left = ground;\n',
        right='import {\n  ground,\n} from "./ground.js";\nexport const right = ground;\n',
        top='import { left } from "./left.js";\nimport { right } from "./right.js";\n',
        other='import { right } from "./right.js";\n',
    )
    assert names(in_order([top, other])) == ["ground", "left", "right", "top", "other"]


def test_a_file_that_is_not_there_is_named(write):
    (part,) = write(part='import { a } from "./gone.js";\n')
    with pytest.raises(FileNotFoundError, match=r"gone\.js"):
        in_order([part])


def test_no_two_files_have_one_name():
    stems = [path.stem for folder in (library.VIZ, library.HERE) for path in folder.rglob("*.js")]
    assert len(stems) == len(set(stems))


@pytest.mark.skipif(not shutil.which("node"), reason="node runs the script")
def test_names_that_are_not_exported_never_meet(write, tmp_path):
    *_, top = write(
        ground="const SIDE = 1;\nexport const side = () => SIDE;\n",
        map='import { side } from "./ground.js";\n\nconst SIDE = 20;\n'
        "export const sum = () => SIDE + side();\n",
        top='import { side } from "./ground.js";\nimport { sum } from "./map.js";\n\n'
        "const SIDE = 300;\nexport const draw = () => [SIDE, side(), sum()];\n",
    )
    made = tmp_path / "made.mjs"
    made.write_text(f"{script(in_order([top]))}\nconsole.log(JSON.stringify($top.draw()));\n")
    run = subprocess.run(["node", made], check=True, timeout=60, capture_output=True)
    assert json.loads(run.stdout) == [300, 1, 21]


def test_a_stylesheet_holds_those_beside_the_files_in_their_order(write, tmp_path):
    *_, top = write(
        ground="export const a = 1;\n",
        map='import { a } from "./ground.js";\nexport const b = 1;\n',
        top='import { b } from "./map.js";\n',
    )
    (tmp_path / "ground.css").write_text("first")
    (tmp_path / "top.css").write_text("last")
    assert stylesheet(in_order([top])).split() == ["first", "last"]
