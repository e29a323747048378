"""The wheel in a bare environment, used from a folder whose files have our packages' names."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.browser.fixtures import running_server

pytestmark = pytest.mark.matrix
ROOT = Path(__file__).parents[2]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
OWN = "raise SystemExit('This is the file of the person, not ours.')"
CELL = """
import sys
from headlight import Site, head_grid, load_model
translator = load_model("en-fr")
print(translator.translate("I love my cat.").text)
import headlight.pages.parts.pages
files = [getattr(module, "__file__", None) for module in sys.modules.values()]
ours = [file for file in files if file and "headlight" in file]
print(len(ours) - len(set(ours)), "modules are there twice")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-build-isolation", "--wheel-dir", folder)
    subprocess.run([*PIP, "wheel", "--quiet", *options, ROOT], check=True)
    (wheel,) = folder.glob("headlight_attention-*.whl")
    return wheel


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory):
    """The programs of an environment with the wheel; what it requires is that of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    paths = {"base": str(folder), "platbase": str(folder)}
    programs, packages = (Path(sysconfig.get_path(of, vars=paths)) for of in ("scripts", "purelib"))
    options = ("--quiet", "--no-deps", "--no-index", wheel)
    subprocess.run([*PIP, "--python", programs / "python", "install", *options], check=True)
    (packages / "required.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return programs


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """A folder of a person's own, with an app.py, model.py, pages.py and viz.py."""
    folder = tmp_path_factory.mktemp("elsewhere")
    for name in ("app", "model", "pages", "viz"):
        (folder / f"{name}.py").write_text(OWN, encoding="utf-8")
    return folder


def test_the_wheel_holds_every_file_of_the_app(wheel):
    folders = (".streamlit", "headlight", "model", "pages", "viz", "wings")
    files = [ROOT / "app.py", *(path for name in folders for path in (ROOT / name).rglob("*"))]
    ours = {path.relative_to(ROOT) for path in files if path.is_file()}
    ours = {path for path in ours if "__pycache__" not in path.parts}
    expected = {f"headlight/{path.as_posix().removeprefix('headlight/')}" for path in ours}
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("headlight/")}
    assert names == expected


def test_a_notebook_imports_it_beside_files_of_the_same_names(programs, elsewhere):
    command = [programs / "python", "-c", CELL]
    printed = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=True)
    assert printed.stdout.splitlines() == ["J'adore mon chat.", "0 modules are there twice"]


def test_the_command_opens_the_page_beside_files_of_the_same_names(programs, elsewhere, page):
    with running_server(command=[programs / "headlight"], folder=elsewhere) as address:
        page.goto(f"{address}/?sentence=I+love+my+cat.")
        page.get_by_text("J'adore mon chat.").first.wait_for(state="attached")
        page.goto(f"{address}/heads")
        page.locator("canvas").first.wait_for()
