"""What the first page loads, and what tools see; `make lint` checks who may import whom."""

import ast
import random
import subprocess
import sys
from pathlib import Path

import jedi
import pytest

ROOT = Path(__file__).parent.parent
LATER = {"altair", "lxml", "pandas", "pptx", "pydantic", "sacrebleu", "transformers"}


def test_the_first_page_waits_for_no_package_that_it_does_not_use():
    """Python itself says what was loaded, by way of others too."""
    code = "import sys; import headlight.pages.parts.pages; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    loaded = {*done.stdout.split()}
    assert "torch" in loaded
    assert not LATER & loaded
    assert not {"model", "viz", "pages"} & loaded  # second copies of what headlight holds


def test_the_transformer_loads_its_own_files_and_torch_only():
    code = """
import sys
import torch
before = {*sys.modules}
import headlight.model.transformer.transformer
print(*{*sys.modules} - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    core = "headlight.model.transformer"
    loaded = {name for name in done.stdout.split() if not name.startswith(("torch", core))}
    others = loaded - {"headlight", "headlight.model"}
    assert not others - {*sys.stdlib_module_names}


def first_party_names():
    """Every name that a module imports from another: its file, line and column."""
    for folder in ("headlight", "model", "pages", "viz", "wings"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module.startswith("headlight."):
                    yield from ((file, name.lineno, name.col_offset) for name in node.names)


@pytest.mark.skipif(not (ROOT / "headlight/model").is_dir(), reason="git has made no links here")
def test_an_editor_follows_imports():
    names = random.Random(0).sample([*first_party_names()], 100)
    project = jedi.Project(ROOT)
    for file, line, column in names:
        targets = jedi.Script(path=file, project=project).goto(line, column, follow_imports=True)
        assert any(target.module_path not in (None, file) for target in targets), (file, line)


def test_only_what_is_installed_is_imported_by_the_name_of_the_package():
    command = [sys.executable, "-c", "import headlight.tests"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert "No module named 'headlight.tests'" in done.stderr


@pytest.mark.parametrize("links", [True, False])
def test_a_clone_runs_with_links_and_without(links, tmp_path):
    """Where git cannot make a link, it writes a file that holds where the link leads."""
    clone = tmp_path / "clone"
    subprocess.run(
        ["git", "-c", f"core.symlinks={str(links).lower()}", "clone", "-q", ROOT, clone],
        check=True,
        timeout=300,
    )
    assert (clone / "headlight/model").is_dir() is links
    code = "from headlight.model.translator import PRETRAINED; print(*PRETRAINED.iterdir())"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert str(clone) in done.stdout
