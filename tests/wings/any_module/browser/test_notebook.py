"""The page that the address of a model in memory opens."""

import subprocess

import pytest

from tests.browser.rest import settled
from tests.wings.any_module.test_notebook import NOTEBOOK, start


@pytest.mark.matrix
def test_its_heads_are_on_the_page_that_the_address_opens(page):
    with start(NOTEBOOK + "sys.stdin.read()", stdin=subprocess.PIPE) as notebook:
        address = notebook.stdout.readline().strip().rpartition(": ")[2]
        page.goto(address)
        settled(page)
        page.get_by_text("What the model reads: 6 tokens.").wait_for()
        notebook.stdin.close()
    assert notebook.returncode == 0
