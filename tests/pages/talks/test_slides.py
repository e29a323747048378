"""Slides of a talk."""

import pytest

from pages.parts.pages import PAGES
from pages.talks.slides import first_pictures


@pytest.mark.parametrize("key", [key for key, page in PAGES.items() if page.pictures])
def test_a_new_slide_shows_one_picture(key):
    (picture,) = first_pictures(PAGES[key])
    assert picture in PAGES[key].pictures
