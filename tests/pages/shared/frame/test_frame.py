"""Only one picture of a page, for a frame in somebody's slides."""

import pytest

from tests.pages.apps import drawn, open_page


def test_a_picture_alone_has_no_title_and_no_sidebar_and_keeps_its_address():
    app = open_page(sentence="We left.", alone="grid")
    assert not app.exception
    assert not app.title
    assert not app.sidebar.children
    assert "grid" in drawn(app)
    app.text_input[0].set_value("We stay.").run()
    assert app.query_params["alone"] == "grid"
    assert app.query_params["sentence"] == "We stay."
    assert not app.info


def test_a_picture_that_its_choices_do_not_draw_says_so():
    app = open_page(alone="lines", picture="heatmap")
    assert [info.value for info in app.info] == [
        "This picture is not drawn for the choices in its address."
    ]


@pytest.mark.parametrize("key", ["", "nothing", "<b>{}", "waves"])
def test_what_is_no_picture_of_the_page_shows_the_page(key):
    app = open_page(alone=key)
    assert app.title[0].value == "Attention"
    assert "alone" not in app.query_params
