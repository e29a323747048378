"""The page Atlas."""

from functools import partial

from headlight.viz.numbers import number_text
from headlight.wings.atlas.calls import FOLDER
from headlight.wings.atlas.files import open_atlas
from tests.browsers.pointing import expect_reading
from tests.browsers.test_pages import visit

__all__ = ["visit"]


def test_the_atlas_reads_a_head_and_a_click_selects_it(visit):
    page = visit("atlas?kind=encoder&layer=4&head=2")
    value = number_text(open_atlas(FOLDER).kinds["decoder"].figures["previous token"].mean[2, 4])
    name = "Decoder, masked, layer 3, head 5"
    page.click_on(".head-scores .head", name)
    page.see("(words) => says(`Your head: ${words}`)", name)
    # Only then: the click may have moved the head away from under the pointer.
    place = partial(page.evaluate, "placeOf", ".head-scores .head", name)
    expect_reading(page, ".head-scores", place, f"{name}: previous token {value}")
