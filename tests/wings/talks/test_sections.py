"""What of a long page is drawn for a slide."""

from tests.pages.shared.show import test_sight
from tests.pages.shared.show.test_sight import texts

STAGED = "from headlight.wings.talks.stage import staged\n"


def drawn(script, **state):
    return test_sight.drawn(STAGED + script, **state)


def test_a_slide_draws_the_sections_of_its_pictures_whatever_tab_was_open():
    held = 'HELD = {"blue": ["sky"]}\n'
    assert texts(drawn(held + "body()")) == ["first"]
    assert texts(drawn(held + 'with staged(["sky"]): body()')) == ["second"]
    assert texts(drawn(held + 'with staged(["other"]): body()', colour="red")) == ["first"]
