"""A session that begins at the address of a page that is gone ends on the right one."""

import json
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from pages.parts.pages import PAGES
from tests.pages.apps import address, new_app

OLD = json.loads((Path(__file__).parent / "old" / "links.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "old", [old for old in OLD if "leads to" in old], ids=lambda old: old["link"][:30]
)
def test_an_old_address_leads_to_the_page_and_the_choices_it_showed(old):
    app = new_app(**dict(parse_qsl(old["link"], keep_blank_values=True)))
    app.switch_page("pages/bert.py").run()
    assert not app.exception
    assert not app.info, "nothing of the link is too old"
    assert app.title[0].value == PAGES[old["leads to"]].title
    shown = {name: app.session_state[name] for name in old["shows"] if name != "edits"}
    assert shown == {name: value for name, value in old["shows"].items() if name != "edits"}
    assert address(app).get("edits", "") == old["shows"].get("edits", "")
