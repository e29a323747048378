from headlight.pages.browser.keys import KEYS, KEYS_OF_SLIDES
from headlight.pages.browser.parts import (
    Row,
    copy_link,
    guess,
    kept_text,
    keyboard,
    save_menu,
    slide,
    slide_list,
)
from tests.viz.unpacking import unpack

MENU = {
    "name": "headlight_grid",
    "caption": "<b>All</b> heads.",
    "what": "All heads",
    "formats": ["png", "svg", "csv"],
}


def test_a_slide_plays_steps_and_answers_by_the_keys_that_the_help_sheet_lists():
    header, _ = unpack(slide("", "", number=1, count=1))
    listed = {key.key: key.selector for key in KEYS_OF_SLIDES}
    assert header["controls"] == listed
    assert set(listed) == {"n", "p", " ", "a"}
    assert {*KEYS_OF_SLIDES} <= {*KEYS}
    assert {"n", "p", "Space", "a"} <= {key["name"] for key in header["keys"]}


def test_no_key_of_a_talk_has_a_second_meaning():
    header, _ = unpack(slide("", "", number=1, count=1))
    keys = [key for entry in header["keys"] for key in entry["name"].split()]
    assert sorted(key for key in keys if keys.count(key) > 1) == ["Space", "Space"]


def test_a_question_has_its_options_and_no_answer():
    header, body = unpack(guess("<b>?", [("cat", "“cat”")], [("Encoder", 1, 1)]))
    assert header["options"] == [{"text": "cat", "label": "“cat”"}]
    assert header["boards"] == [{"label": "Encoder", "layers": 1, "heads": 1}]
    assert (header["asks"], header["said"], body) == ("<b>?", "", b"")


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
    for picture in (slide("", "", number=1, count=1), kept_text("", None), copy_link()):
        assert "://" not in picture.to_html().replace(SVG, "")


def test_a_list_says_of_every_slide_what_it_is_and_of_none_that_it_is_edited():
    row = Row("name", "<b>é", True, "Attention", "all heads", "key", opens=True)
    header, _ = unpack(slide_list([row], edited=0, opened=None, kept="kept", known=["key"]))
    assert header["slides"] == [vars(row)]
    assert (header["edited"], header["opened"]) == (0, -1)
    empty = unpack(slide_list([], edited=None, opened=None, kept="kept", known=[]))[0]
    assert (empty["slides"], empty["edited"]) == ([], -1)
