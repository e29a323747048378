"""The image holds everything that the app reads, and is careful by itself; none is built here."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_image_holds_all_that_the_app_reads():
    copied = re.findall(r"^COPY (\S+)", DOCKERFILE, re.MULTILINE)
    allowed = re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    needed = {".streamlit", "app.py", "locks", "model", "pages", "talks", "viz"}
    assert set(copied) == set(allowed) == needed
    assert all((ROOT / name).exists() for name in needed)


def test_the_image_runs_without_rights_and_listens_as_a_shared_app_that_opens_no_other_models():
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", DOCKERFILE, re.MULTILINE)
    assert '"--server.address", "0.0.0.0"' in DOCKERFILE
    assert "HEADLIGHT_MODELS_ALLOWED" not in DOCKERFILE
    assert "docker run -p 127.0.0.1:8501:8501" in DOCKERFILE
