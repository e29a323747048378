from headlight.pages.browser.keys import KEYS, KEYS_OF_SLIDES
from headlight.wings.talks.parts import Row, slide, slide_list
from tests.viz.unpacking import unpack

SVG = "http://www.w3.org/2000/svg"  # a name, from which nothing is loaded


def test_a_slide_plays_steps_and_answers_by_the_keys_that_the_help_sheet_lists():
    header, _ = unpack(slide("", "", number=1, count=1))
    listed = {key.key: key.selector for key in KEYS_OF_SLIDES}
    assert header["controls"] == listed
    assert set(listed) == {"n", "p", " ", "a", "g"}
    assert {*KEYS_OF_SLIDES} <= {*KEYS}
    assert {"n", "p", "Space", "a"} <= {key["name"] for key in header["keys"]}


def test_no_key_of_a_talk_has_a_second_meaning():
    header, _ = unpack(slide("", "", number=1, count=1))
    keys = [key for entry in header["keys"] for key in entry["name"].split()]
    assert sorted(key for key in keys if keys.count(key) > 1) == ["Space", "Space"]


def test_slides_are_pages_of_their_own_without_network():
    listed = slide_list([], edited=None, opened=None, kept="", known=[])
    for picture in (slide("", "", number=1, count=1), listed):
        assert "://" not in picture.to_html().replace(SVG, "")


def test_a_list_says_of_every_slide_what_it_is_and_of_none_that_it_is_edited():
    row = Row("name", "<b>é", True, "Attention", "all heads", "key", opens=True)
    header, _ = unpack(slide_list([row], edited=0, opened=None, kept="kept", known=["key"]))
    assert header["slides"] == [vars(row)]
    assert (header["edited"], header["opened"]) == (0, -1)
    empty = unpack(slide_list([], edited=None, opened=None, kept="kept", known=[]))[0]
    assert (empty["slides"], empty["edited"]) == ([], -1)
