"""What is around every page: the sidebar, and the sizes of words."""

import pytest
from playwright.sync_api import expect

from tests.browser.entries import of_wings
from tests.browser.rest import box_at_rest, settled, tended
from tests.matrix import first_of

SHARE = ("Copy link", "Keys: ?", *of_wings("SHARE"))


@pytest.mark.parametrize("scheme", first_of(["light", "dark"]))
def test_the_sidebar_is_in_sight_on_a_small_screen(page, server, scheme):
    page.emulate_media(color_scheme=scheme)
    page.goto(server)
    sidebar = page.get_by_test_id("stSidebar")
    for name in ("Attention", "Model card"):
        expect(sidebar.get_by_role("link", name=name, exact=True)).to_be_in_viewport(ratio=1)
    last = box_at_rest(sidebar.get_by_role("link", name="Model card", exact=True))
    for name in SHARE:
        box = box_at_rest(sidebar.get_by_role("button", name=name, exact=True))
        assert last["y"] + last["height"] <= box["y"]
        assert box["y"] + box["height"] <= 720
    assert box_at_rest(sidebar.get_by_role("heading", name="Headlight"))["y"] < 40


def test_a_tap_next_to_the_open_menu_of_a_phone_closes_it_and_does_nothing_else(browser, server):
    context = browser.new_context(
        has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844}
    )
    page = context.new_page()
    page.goto(f"{server}/heads")
    head = page.get_by_role("button", name="Decoder, masked, layer 1, head 8: on")
    box = box_at_rest(head)
    opened = page.get_by_test_id("stSidebarCollapseButton")
    page.get_by_test_id("stExpandSidebarButton").tap()
    opened.wait_for()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(opened).to_have_count(0)
    head.tap()  # a second tap is heard: it is off after one of them, and on again after both
    page.get_by_role("button", name="Decoder, masked, layer 1, head 8: off").wait_for()
    context.close()


@pytest.mark.matrix
def test_a_page_begins_at_its_top_in_a_slow_browser_too(page, server):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(server)
    tended(page)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 8})
    main = page.locator(".stMain")
    main.evaluate("main => main.scrollTo(0, main.scrollHeight)")
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name="Masks", exact=True).click()
    page.get_by_role("heading", name="Masks", exact=True).wait_for()
    page.locator("canvas.editable").wait_for()
    settled(page)
    assert main.evaluate("main => main.scrollTop") == 0


@pytest.mark.matrix
def test_what_hands_a_scene_on_stays_in_sight_where_the_pages_do_not_fit(page, server):
    page.set_viewport_size({"width": 1000, "height": 500})
    page.goto(server)
    for name in SHARE:
        expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)


@pytest.mark.matrix
def test_a_title_does_not_touch_what_is_below(page, server):
    for name, label in ({"masks": "English sentence"} | of_wings("BELOW_TITLE")).items():
        page.goto(f"{server}/{name}")
        title = box_at_rest(page.locator("h1"))
        words = page.locator("h1 span").last
        below = box_at_rest(page.get_by_text(label).first)
        end = words.evaluate("node => node.getBoundingClientRect().bottom")
        assert title["y"] >= 0
        assert below["y"] - end >= 10


def test_the_tab_key_enters_a_row_at_what_is_chosen(page, server):
    page.goto(f"{server}/masks?layer=3")
    page.get_by_text("Why −∞").wait_for()
    tended(page)
    page.get_by_role("combobox", name="Model").focus()
    for chosen in ("Decoder, masked", "3"):
        page.keyboard.press("Tab")
        expect(page.get_by_role("radio", name=chosen, exact=True).first).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("radio", name="Decoder, masked", exact=True)).to_be_focused()
