"""Every page under axe-core: no serious or critical finding."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.rest import RUNNING
from tests.matrix import first_of

PAGES = {
    "": "All heads",
    "?picture=lines": "All heads",
    "?guess=on": "Show the answer",
    "masks": "Why −∞ and nothing else",
    "heads": "Which heads matter",
    "cause": "Rank correlation",
    "cause?cause_tab=wrote": "Sum of all parts",
    "cause?cause_tab=estimate": "Furthest from the line",
    "cause?cause_tab=patching": "At all tokens at once",
    "compare": "Translation of B",
    "inside": "Into the residual stream",
    "inside?inside_tab=switches": "ReLU or GELU",
    "positions?positions_tab=sinusoids": "As the position moves on",
    "positions": "Shuffle the words",
    "atlas": "Heads removed one by one",
    "atlas?atlas_tab=two": "Spearman’s rank correlation",
    "atlas?atlas_tab=likeness": "Most alike of all",
    "atlas?atlas_tab=head&kind=encoder&layer=4&head=2": "Least clear",
    "atlas?atlas_tab=search": "The sentences read",
    "decoding?strategy=beam": "Teacher forcing",
    "training": "Experiments",
    "models": "Your models",
    "talk": "Present",
    "?talk=8": "who looks at whom",
    "decoding?talk=16": "One token at a time",
    "model": "How it learned",
}


@pytest.mark.parametrize("theme", first_of(["light", "dark"]))
@pytest.mark.parametrize("address", first_of(PAGES))
def test_no_serious_finding(page, server, address, theme):
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.goto(f"{server}/{address}")
    page.get_by_text(PAGES[address]).locator("visible=true").first.wait_for()
    if "talk=" not in address:
        page.get_by_role("button", name="Keys: ?").wait_for()
    page.wait_for_function(f"!({RUNNING})")
    page.wait_for_timeout(1_500)  # pictures fade in, and half faded has no contrast
    found = Axe().run(page).response["violations"]
    told = [
        f"{one['impact']} {one['id']}: {one['help']}: {node['target']} {node['html'][:160]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
    assert not told, "\n".join(told)
