import json
import shutil
import subprocess

import pytest

from viz.modules import in_order, read, script, stylesheet


@pytest.fixture
def write(tmp_path):
    """Writes files by name, and returns the path of each."""

    def write(**sources):
        for name, source in sources.items():
            (tmp_path / f"{name}.js").write_text(source)
        return [tmp_path / f"{name}.js" for name in sources]

    return write


def names(modules):
    return [module.path.stem for module in modules]


def test_a_file_tells_what_it_imports_and_exports(write):
    (path,) = write(
        part=(
            'import { a, b } from "./ground.js";\n\n'
            "export const SIDE = 8;\nlet own = 1;\n"
            "export function draw() {\n  const inner = 2;\n}\nexport async function wait() {}\n"
        )
    )
    module = read(path)
    assert module.imports == ((path.with_name("ground.js"), ("a", "b")),)
    assert module.exports == ("SIDE", "draw", "wait")
    assert "export" not in module.body
    assert "import" not in module.body


def test_every_file_comes_once_and_after_those_it_imports(write):
    *_, top, other = write(
        ground="export const ground = 1;\n",
        left='import { ground } from "./ground.js";\nexport const left = ground;\n',
        right='import {\n  ground,\n} from "./ground.js";\nexport const right = ground;\n',
        top='import { left } from "./left.js";\nimport { right } from "./right.js";\n',
        other='import { right } from "./right.js";\n',
    )
    assert names(in_order([top, other])) == ["ground", "left", "right", "top", "other"]


def test_a_circle_is_refused_with_all_that_are_in_it(write):
    first, *_ = write(
        one='import { b } from "./two.js";\nexport const a = 1;\n',
        two='import { c } from "./three.js";\nexport const b = 1;\n',
        three='import { b } from "./two.js";\nexport const c = 1;\n',
    )
    with pytest.raises(ValueError, match=r"circle: two\.js -> three\.js -> two\.js"):
        in_order([first])


def test_a_name_that_is_not_exported_is_refused(write):
    *_, part = write(
        ground="const hidden = 1;\nexport const shown = 1;\n",
        part='import { hidden, shown } from "./ground.js";\n',
    )
    with pytest.raises(ValueError, match=r"ground\.js does not export hidden, wanted by part\.js"):
        in_order([part])


def test_a_file_that_is_not_there_is_named(write):
    (part,) = write(part='import { a } from "./gone.js";\n')
    with pytest.raises(FileNotFoundError, match=r"gone\.js"):
        in_order([part])


@pytest.mark.parametrize(
    "source",
    [
        'import { a } from "./one.js";\nimport { a } from "./two.js";\n',
        'import { a } from "./one.js";\nfunction a() {}\n',
        "const a = 1;\nexport function a() {}\n",
    ],
)
def test_names_that_clash_in_a_file_are_refused(write, source):
    (path,) = write(part=source)
    with pytest.raises(ValueError, match=r"part\.js has the name a twice"):
        read(path)


def test_two_files_of_one_name_are_refused(tmp_path, write):
    (path,) = write(part="export const a = 1;\n")
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / "part.js"
    twin.write_text("export const b = 1;\n")
    with pytest.raises(ValueError, match=r"Two files are called part\.js"):
        in_order([path, twin])


@pytest.mark.parametrize(
    "line",
    [
        'import all from "./one.js";',
        'import * as one from "./one.js";',
        'import { a as b } from "./one.js"',
        'import "./one.js";',
        "export default function draw() {}",
        "export { draw };",
    ],
)
def test_other_forms_of_import_and_export_are_refused(write, line):
    (path,) = write(part=f"{line}\n")
    with pytest.raises(ValueError, match=r"part\.js has a line that cannot be read here"):
        read(path)


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
