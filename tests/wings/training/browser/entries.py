"""The page Training, for tests that go through all pages."""

from tests.browser.acts import press

ADDRESSES = {  # what each page draws last
    "training": "Experiments",
}

ACTS = {"training": (press("Warm-up", "radio"),)}
BELOW_TITLE = {"training": "Nothing has been trained"}
WITHOUT_BOX = {"training": None}
