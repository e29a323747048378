"""The app in the process of a notebook, on a model that it holds."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from headlight import show

ROOT = Path(__file__).parents[3]
NOTEBOOK = """
import sys
import torch
from headlight import open_model
from tests.model.library.shapes import build

torch.set_num_threads(3)
model = build("fused")
reader = open_model(model, title="Mine")
shown = reader.show()
others = open_model(model, title="Mine").show()
"""
LOOKED_AT = """
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, build_opener
from headlight.pages.shared.runs.shelf import shelf

address, _, query = shown.address.partition("?")
try:
    build_opener().open(address)
    sys.exit("It opens without the token.")
except HTTPError as error:
    assert error.code == 403
page = build_opener(HTTPCookieProcessor()).open(shown.address)
assert page.status == 200 and "token" not in page.url
policy = page.headers["content-security-policy"]
assert "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*" in policy
assert address.startswith("http://localhost:") and "<iframe" in shown._repr_html_()

held = shelf().get("Mine, in memory").reader
pairs = zip(held.model.parameters(), model.parameters(), strict=True)
assert all(one is other for one, other in pairs)
assert others.name == "Mine 2, in memory"
shown.close()
assert shelf().get(shown.name) is None and shelf().get(others.name)
assert torch.get_num_threads() == 3
print("All is well.")
"""


def start(code, **options):
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, **options
    )


def test_a_model_in_memory_is_shown_to_who_has_the_address_until_it_is_closed():
    with start(NOTEBOOK + LOOKED_AT) as notebook:
        said, _ = notebook.communicate(timeout=300)
    assert notebook.returncode == 0
    assert "Headlight on Mine, in memory: http://localhost:" in said
    assert "All is well." in said


def test_a_bare_module_is_to_be_opened_first():
    with pytest.raises(ValueError, match=r"show\(open_model\(model, tokenizer\)\)"):
        show(torch.nn.Linear(2, 2))
