"""The file of a page whose wing is left out still leads into the app."""

from headlight.pages.parts import pages
from tests.pages.apps import address, new_app


def test_a_page_that_is_left_out_opens_the_first_one_which_says_so(monkeypatch):
    file, others = pages.PAGES["masks"].file, dict(pages.PAGES)
    del others["masks"]
    monkeypatch.setattr(pages, "PAGES", others)
    app = new_app(sentence="We sing.").switch_page(file).run()
    assert not app.exception
    assert app.title[0].value == next(iter(others.values())).title
    assert pages.LEFT_OUT in [info.value for info in app.info]
    assert address(app)["sentence"] == "We sing."
    app.switch_page("app.py").run()
    assert not app.info
