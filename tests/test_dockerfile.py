"""The image holds everything that the app reads; no image is built here."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_image_holds_all_that_the_app_reads():
    copied = re.findall(r"^COPY (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    allowed = re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    needed = {".streamlit", "app.py", "locks", "model", "pages", "talks", "viz"}
    assert set(copied) == set(allowed) == needed
    assert all((ROOT / name).exists() for name in needed)
