"""A connection that is lost, and pages that do not come."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.proxy import Proxy
from tests.browser.rest import RUNNING, tended
from tests.matrix import first_of

COUNT_DIALOGS = """() => {
    window.dialogs = 0;
    new MutationObserver(() => (window.dialogs += document.querySelectorAll(".stDialog").length))
        .observe(document.body, { childList: true, subtree: true });
}"""
TAKE_ALL = "document.getElementById('root').remove()"  # as an error in drawing does


@pytest.fixture
def proxy(server):
    address = urlsplit(server)
    proxy = Proxy(address.hostname, address.port)
    yield proxy
    proxy.close()


@pytest.mark.matrix
@pytest.mark.parametrize("lost", first_of([True, False]))
def test_what_was_entered_as_the_connection_was_cut_is_shown(page, proxy, lost):
    page.goto(f"{proxy.url}/?sentence=We+eat.")
    box = page.get_by_role("textbox", name="Sentence")
    expect(box).to_have_value("We eat.")
    tended(page)
    box.fill("They sing.")
    proxy.heard.clear()
    proxy.swallows = lost
    box.press("Enter")
    assert proxy.heard.wait(60)
    proxy.cut()
    page.wait_for_url("**sentence=They+sing.*")
    page.wait_for_function(f"!({RUNNING})")
    expect(box).to_have_value("They sing.")


@pytest.mark.matrix
def test_a_page_that_became_blank_comes_again_by_itself_once(page, server):
    page.goto(f"{server}/?sentence=We+eat.")
    box = page.get_by_role("textbox", name="Sentence")
    expect(box).to_have_value("We eat.")
    page.wait_for_function(f"!({RUNNING})")
    page.evaluate(TAKE_ALL)
    expect(box).to_have_value("We eat.")
    page.wait_for_function(f"!({RUNNING})")
    page.evaluate(TAKE_ALL)
    expect(page.get_by_role("alert")).to_contain_text("The page could not be loaded")
    page.get_by_role("button", name="Load it again").click()
    expect(box).to_have_value("We eat.")


def test_a_lost_server_is_told_quietly_until_it_is_back(page, proxy):
    expect_told(page, proxy, "/heads")


def expect_told(page, proxy, address):
    """A page says that its server is lost, in one quiet sentence, until it is back."""
    page.goto(f"{proxy.url}{address}")
    tended(page)
    page.wait_for_function(f"!({RUNNING})")
    page.evaluate(COUNT_DIALOGS)
    proxy.refuses = True
    proxy.cut()
    told = page.locator(".headlight-lost")
    expect(told).to_contain_text("The connection to the server is lost.")
    page.wait_for_function("window.dialogs > 0")  # which Streamlit opened
    expect(page.locator(".stDialog:visible")).to_have_count(0)
    expect(told).to_be_visible()
    proxy.refuses = False
    expect(told).to_have_count(0)
    expect(page.locator("canvas").first).to_be_visible()
    page.errors.clear()  # of the lost connection
