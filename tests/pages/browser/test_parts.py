from headlight.pages.browser.parts import copy_link, kept_text, keyboard, save_menu
from tests.viz.unpacking import unpack

MENU = {
    "name": "headlight_grid",
    "caption": "<b>All</b> heads.",
    "what": "All heads",
    "formats": ["png", "svg", "csv"],
}


def test_every_key_has_words_and_something_to_click():
    keys = unpack(keyboard())[0]["keys"]
    assert len({key["key"] for key in keys}) == len(keys)
    assert all(key["words"] and (key["choices"] or key["selector"]) for key in keys)
    assert {key["name"] for key in keys if key["key"] == " "} == {"Space"}


def test_a_menu_offers_its_formats_and_holds_no_file_that_nobody_asked_for():
    header, body = unpack(save_menu(*MENU.values(), made_here=["png"]))
    assert header == {**MENU, "made_here": ["png"], "of": None, "copies": [], "key": ""}
    assert body == b""


def test_a_menu_brings_the_file_that_was_asked_for_with_a_number_of_its_own():
    header, body = unpack(save_menu(*MENU.values(), file=("csv", b"\x00a,b\n", 7)))
    assert header["file"] == {"format": "csv", "number": 7}
    assert body == b"\x00a,b\n"


SVG = "http://www.w3.org/2000/svg"  # a name, from which nothing is loaded


def test_parts_are_pages_of_their_own_without_network():
    for picture in (kept_text("", None), copy_link()):
        assert "://" not in picture.to_html().replace(SVG, "")
