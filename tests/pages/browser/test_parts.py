import json

import pytest

from viz import copy_link, kept_text, slide


def header(picture):
    length = int.from_bytes(picture.data[:4], "little")
    return json.loads(picture.data[4 : 4 + length])


def test_a_slide_keeps_its_words_as_typed():
    found = header(slide("<b>é", "a\nb", number=2, count=3))
    assert (found["title"], found["words"]) == ("<b>é", "a\nb")
    assert (found["number"], found["count"]) == (2, 3)


@pytest.mark.parametrize(("number", "count"), [(0, 3), (4, 3), (1, 0)])
def test_a_slide_that_is_not_there_is_refused(number, count):
    with pytest.raises(ValueError, match=f"no slide {number} of {count}"):
        slide("", "", number=number, count=count)


@pytest.mark.parametrize("text", [None, "", "{}"])
def test_a_kept_text_says_whether_it_asks_forgets_or_keeps(text):
    assert header(kept_text("talk", text)) == {"name": "talk", "text": text}


def test_parts_are_pages_of_their_own_without_network():
    for picture in (slide("", "", number=1, count=1), kept_text("", None), copy_link()):
        assert "://" not in picture.to_html()
