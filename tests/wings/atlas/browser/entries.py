"""The pages of the atlas, for tests that go through all pages."""

from tests.browser.acts import press

ADDRESSES = {  # what each page draws last
    "atlas": "Heads removed one by one",
    "atlas?atlas_tab=two": "Spearman’s rank correlation",
    "atlas?atlas_tab=likeness": "Most alike of all",
    "atlas?atlas_tab=head&kind=encoder&layer=4&head=2": "Least clear",
    "atlas?atlas_tab=search": "The sentences read",
}

ACTS = {"atlas": (press("Two statistics", "radio"), press("A head", "radio"))}
