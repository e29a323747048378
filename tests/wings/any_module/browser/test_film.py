"""A film of one's own training in a page without the app."""

import base64
import re

import torch
from playwright.sync_api import expect

from headlight.wings.any_module.film import AttentionFilm
from tests.browser.rest import until
from tests.browser.test_film import DRAWING_MS, LENGTH
from tests.model.library.shapes import Classifier


def test_a_browser_plays_and_records_it(page):
    torch.manual_seed(0)
    model = Classifier()
    film = AttentionFilm(model, torch.tensor([[3, 1, 2]]))
    for step in range(3):
        film.add(step)
        torch.nn.init.normal_(model.attention.in_proj_weight)
    page.set_content(film.to_html())
    expect(page.locator(".counter")).to_have_text("step 2")
    page.get_by_label("Speed").select_option("8")

    def whole_film():
        """A film from the first step to the last: a busy machine's recorder may begin late."""
        with page.expect_download(timeout=DRAWING_MS) as saved:
            page.get_by_role("button", name="WEBM").click()
        assert re.fullmatch(r"attention-film\.webm", saved.value.suggested_filename)
        data = base64.b64encode(saved.value.path().read_bytes()).decode()
        seconds, *size = page.evaluate(LENGTH, data)
        return size if seconds >= 2 / 8 else None

    width, height = until(page, whole_film)
    assert width % 2 == height % 2 == 0
    assert page.errors == []
