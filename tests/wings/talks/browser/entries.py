"""Slides and the page Talk, for tests that go through all pages."""

import json

from playwright.sync_api import expect

from tests.browser.acts import press
from tests.browser.rest import rerun

ADDRESSES = {  # what each page draws last
    "talk": "Present",
    "?talk=8": "who looks at whom",
    "decoding?talk=17": "One token at a time",
}

ACTS = {"talk": (press("Edit a copy"),)}

STATES = {"slide": ("decoding?talk=17", ".decoding-player .bar", ".chosen")}
SHARE = dict.fromkeys(("Add to talk", "Present"))  # buttons in the sidebar
WITHOUT_BOX = {"talk": None}


def load_talk(page, mark):
    """Type a text into the file and the name of a talk."""
    talk = {"headlight_talk": 2, "slides": [{"page": "attention", "title": mark}], "x": mark}
    page.get_by_text("Load a talk from a file").click()
    files = {"name": f"{mark}.json", "mimeType": "application/json"}
    upload = page.locator("input[type=file]")
    with rerun(page):
        upload.set_input_files([{**files, "buffer": json.dumps(talk).encode()}])
    expect(page.get_by_label("Title")).to_have_value(mark)
    upload.set_input_files([{**files, "buffer": mark.encode()}])
    expect(page.get_by_text("This is not a talk").first).to_be_visible()


TYPE_ELSEWHERE = {"talk": load_talk}
