"""The page Cause, for tests that go through all pages."""

from tests.browser.acts import press, say

ADDRESSES = {  # what each page draws last
    "cause": "Rank correlation",
    "cause?cause_tab=wrote": "Sum of all parts",
    "cause?cause_tab=estimate": "Furthest from the line",
    "cause?cause_tab=patching": "At all tokens at once",
}

SMALL = {"cause": ".heatmap canvas.map"}  # the first picture of a page

ACTS = {"cause": (say(), press("Weights against truth", "radio"))}
