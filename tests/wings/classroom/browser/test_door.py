"""The link for a class of a server that opens with a token."""

from playwright.sync_api import expect

from headlight.wings.classroom.wing import HOLDS_TOKEN
from tests.browser.test_door import closed

__all__ = ["closed"]


def test_the_link_for_a_class_lets_the_class_in(page, browser, closed):
    page.goto(f"{closed}/?token=correct+horse%2Bbattery&sentence=We+leave+today.")
    page.get_by_role("button", name="QR", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text(HOLDS_TOKEN)).to_be_visible()
    pupil = browser.new_context().new_page()
    pupil.goto(dialog.get_by_test_id("stCode").locator("code").text_content())
    expect(pupil.get_by_label("English sentence")).to_have_value("We leave today.")
    assert "token" not in pupil.url
    pupil.context.close()
