"""The image holds everything that the app reads, and is careful by itself; none is built here."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COPIED = [
    name
    for names in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE)
    for name in names.split()
]


def test_the_image_holds_all_that_the_app_reads():
    allowed = re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    needed = {".streamlit", "app.py", "headlight", "locks", "model", "pages", "pyproject.toml"}
    needed |= {"viz", "wings"}
    assert set(COPIED) == set(allowed) == needed
    assert all((ROOT / name).exists() for name in needed)


@pytest.mark.matrix
def test_the_pages_load_from_what_is_copied_alone(tmp_path):
    skipped = shutil.ignore_patterns("pretrained", "__pycache__")
    for path in (ROOT / name for name in COPIED):
        if path.is_dir():
            shutil.copytree(path, tmp_path / path.name, ignore=skipped)
        else:
            shutil.copy(path, tmp_path)
    code = "import headlight.pages.parts.pages as pages; print(pages.__file__)"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(loaded.stdout.strip()).is_relative_to(tmp_path)


def test_the_image_runs_without_rights_and_listens_as_a_shared_app_that_opens_no_other_models():
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", DOCKERFILE, re.MULTILINE)
    assert '"--server.address", "0.0.0.0"' in DOCKERFILE
    assert "HEADLIGHT_MODELS_ALLOWED" not in DOCKERFILE
    assert "docker run -p 127.0.0.1:8501:8501" in DOCKERFILE
