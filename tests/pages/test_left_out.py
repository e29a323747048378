"""The file of a page whose wing is left out still leads into the app."""

from headlight.pages.parts.pages import LEFT_OUT, PAGES
from tests.pages.apps import address, new_app


def test_a_page_that_is_left_out_opens_the_first_one_which_says_so(monkeypatch):
    file = PAGES["masks"].file
    monkeypatch.delitem(PAGES, "masks")
    app = new_app(sentence="We sing.").switch_page(file).run()
    assert not app.exception
    assert app.title[0].value == next(iter(PAGES.values())).title
    assert LEFT_OUT in [info.value for info in app.info]
    assert address(app)["sentence"] == "We sing."
    app.switch_page("app.py").run()
    assert not app.info
