"""A training watched from its first step to its use on another page."""

import re
import zipfile

import pytest
from playwright.sync_api import TimeoutError as TimeoutExpired
from playwright.sync_api import expect

from tests.browser.rest import RUNNING, box_at_rest, settled, until

SETTINGS = {"Steps": 1500, "Layers each": 1, "Heads": 2, "Width d_model": 16}


@pytest.fixture
def training(page, server):
    """The page with a small training chosen, that runs for longer than a test needs."""
    page.goto(f"{server}/training")
    for label, value in SETTINGS.items():
        box = page.get_by_label(label, exact=True)
        box.fill(str(value))
        box.press("Enter")
        page.wait_for_function(f"!({RUNNING})")  # the next box may be drawn anew meanwhile
    yield page
    stop = page.get_by_test_id("stMain").get_by_role("button", name="Stop", exact=True)
    running = stop.and_(page.locator(":enabled"))  # the line is shared by all tests

    def ended():
        """No training runs: it was stopped, or it came to its end."""
        if running.is_visible():
            running.click(timeout=5_000)
        return not running.count()

    until(page, ended, TimeoutExpired)


def button(page, name):
    """A button of the page: Streamlit has a Stop of its own while it works."""
    return page.get_by_test_id("stMain").get_by_role("button", name=name, exact=True)


def progress(page):
    return page.get_by_test_id("stProgress")


def film_step(page):
    """The training step that the film shows."""
    words = page.locator(".st-key-toy_film .attention-film .counter").text_content()
    return int(re.sub(r"\D", "", words))


def go_to(page, name):
    page.get_by_role("link", name=name, exact=True).click()
    page.get_by_role("heading", name=name, exact=True, level=1).wait_for()


def wait_for_step(page, least):
    counter = page.locator(".st-key-toy_film .attention-film .counter")
    expect(counter).to_be_visible()
    page.wait_for_function(
        "([counter, least]) => Number(counter.textContent.replace(/[^0-9]/g, '')) >= least",
        arg=[counter.element_handle(), least],
    )


def test_a_training_is_watched_paused_scrubbed_saved_and_opened_again(training, tmp_path):
    page = training
    page.evaluate("window.opened = true")  # gone after a reload
    button(page, "Start").click()
    wait_for_step(page, 20)
    curve = page.get_by_label(re.compile("^Loss, in nats a token: .* at step"))
    first = curve.get_attribute("aria-label")
    expect(curve).not_to_have_attribute("aria-label", first)

    slider = page.get_by_label("Step", exact=True)
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator(".st-key-toy_film .attention-film .counter")).to_have_text("step 0")
    grown = int(slider.get_attribute("max"))
    page.wait_for_function(
        "([slider, grown]) => Number(slider.max) > grown", arg=[slider.element_handle(), grown]
    )
    expect(page.locator(".st-key-toy_film .attention-film .counter")).to_have_text("step 0")
    expect(slider).to_be_focused()

    button(page, "Pause").click()
    expect(progress(page)).to_contain_text("Paused.")
    paused = progress(page).text_content()
    page.get_by_label("Compare with", exact=True).check()
    page.get_by_role("button", name="Newest step").click()
    expect(page.locator(".st-key-toy_film .attention-film .map:visible")).to_have_count(3)
    expect(progress(page)).to_have_text(paused)
    button(page, "Go on").click()
    expect(progress(page)).to_contain_text("s left")
    own = page.get_by_label(re.compile("^Your own input"))
    own.fill("123")
    own.press("Enter")
    expect(page.locator(".token-strip .text").nth(1)).to_have_text("321")
    button(page, "Stop").click()
    expect(progress(page)).to_contain_text("Stopped.")
    assert film_step(page) > 0
    assert page.evaluate("window.opened")

    page.wait_for_function(f"!({RUNNING})")  # a run of the page ends what is being downloaded
    with page.expect_download() as download:
        button(page, "Download as a checkpoint").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        archive.extractall(tmp_path)
    go_to(page, "Models")
    box = page.get_by_label("Name on the Hugging Face Hub, or a folder on this computer")
    box.fill(str(tmp_path))
    button(page, "Load").click()
    page.get_by_text("Decoder, masked").first.wait_for()
    expect(page.get_by_text(str(tmp_path), exact=True)).to_be_visible()
    go_to(page, "Attention")
    expect(page.get_by_label("Text", exact=True)).to_have_value("31415926")


@pytest.mark.matrix
def test_what_was_trained_is_shown_by_another_page_and_the_training_found_again(training):
    page = training
    go_to(page, "Attention")
    page.locator(".head-grid").wait_for()
    go_to(page, "Training")
    expect(page.get_by_label("Steps", exact=True)).to_have_value(str(SETTINGS["Steps"]))
    button(page, "Start").click()
    wait_for_step(page, 10)
    go_to(page, "Model card")
    page.get_by_text("How it learned").wait_for()
    go_to(page, "Training")
    wait_for_step(page, 12)
    expect(progress(page)).to_contain_text("s left")
    button(page, "Use it on the other pages").click()
    page.get_by_role("link", name="Open it on the Attention page").click()
    expect(page.get_by_label("Input", exact=True)).to_have_value("31415926")
    page.get_by_role("button", name=re.compile("^layer 1, head 2: largest weight")).wait_for()
    expect(page.locator(".head-grid .map")).to_have_count(4)  # two heads, their mean and maximum
    go_to(page, "Training")
    button(page, "Stop").wait_for()


@pytest.mark.matrix
def test_a_sentence_outlasts_what_is_clicked_on_pages_without_it(page, server):
    page.goto(f"{server}/?sentence=I love my cat.")
    page.locator(".head-grid").wait_for()
    go_to(page, "Model card")
    settled(page)  # Attention has such a row, too
    page.get_by_role("radio", name="Encoder", exact=True).click()
    expect(page.locator(".st-key-history .attention-film .map").first).to_have_attribute(
        "aria-label", re.compile("from “.*” to “.*”")
    )
    settled(page)
    go_to(page, "Attention")
    expect(page.get_by_label("English sentence")).to_have_value("I love my cat.")


@pytest.mark.matrix
def test_the_page_keeps_to_the_width_of_a_phone(training):
    page = training
    page.set_viewport_size({"width": 375, "height": 812})
    button(page, "Start").click()
    wait_for_step(page, 1)
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("node => node.scrollWidth <= node.clientWidth")


@pytest.mark.matrix
def test_a_reload_finds_the_training_and_the_model_again(training):
    page = training
    button(page, "Start").click()
    wait_for_step(page, 10)
    button(page, "Use it on the other pages").click()
    page.get_by_text("The other pages now show").wait_for()
    page.reload()
    wait_for_step(page, 12)
    button(page, "Stop").click()
    expect(progress(page)).to_contain_text("Stopped.")
    page.get_by_role("link", name="Attention", exact=True).click()
    box = page.get_by_label("Input", exact=True)
    box.fill("271828")
    box.press("Enter")
    expect(page).to_have_url(re.compile("model=own-.*271828"))
    page.reload()
    expect(box).to_have_value("271828")
    page.get_by_role("button", name=re.compile("^layer 1, head 2: largest weight")).wait_for()
    expect(page).to_have_url(re.compile("model=own-.*271828"))
    expect(page.get_by_text("too old, damaged or too long")).to_be_hidden()


@pytest.mark.matrix
def test_another_tab_does_not_find_them(training, server):
    page = training
    button(page, "Start").click()
    wait_for_step(page, 10)
    other = page.context.new_page()
    other.goto(f"{server}/training")
    other.get_by_text("Nothing has been trained yet").wait_for()
    settled(other)
    other.get_by_text("Nothing has been trained yet").wait_for()


@pytest.mark.matrix
def test_a_number_beyond_its_bounds_is_refused_in_sight(page, server):
    page.goto(f"{server}/training")
    steps = page.get_by_label("Steps", exact=True)
    steps.fill("5")
    steps.press("Enter")
    said = page.get_by_text("Please enter a value between 10 and 10000.")
    assert box_at_rest(said)["height"] > 20  # it is not for screen readers only
    expect(button(page, "Start")).to_have_css("pointer-events", "none")
    steps.fill("10")
    steps.press("Enter")
    expect(said).to_have_count(0)
    expect(button(page, "Start")).to_have_css("pointer-events", "auto")


@pytest.mark.matrix
def test_what_is_typed_quickly_into_one_box_after_the_other_stays(page, server):
    page.goto(f"{server}/training")
    button(page, "Start").wait_for()
    typed = {"Most digits": "6", "Layers each": "1", "Heads": "2", "Width d_model": "32"}
    for label, number in typed.items():
        page.get_by_label(label, exact=True).fill(number)
    page.get_by_label("Steps", exact=True).fill("300")
    page.get_by_label("Steps", exact=True).press("Enter")
    expect(page).to_have_url(re.compile("steps=300"))
    page.wait_for_function(f"!({RUNNING})")
    for label, number in typed.items():
        expect(page.get_by_label(label, exact=True)).to_have_value(number)
    for name in ("longest=6", "layers=1", "heads=2", "d_model=32"):
        assert f"toy_reverse_{name}" in page.url


@pytest.mark.matrix
def test_a_decoder_alone_is_shown_with_and_without_its_previous_token_head(page, server):
    page.goto(f"{server}/training?toy_task=repeat&toy_repeat_steps=12")
    button(page, "Start").click()
    expect(progress(page)).to_contain_text("Finished")
    expect(page.get_by_role("heading", name="Without the previous-token head")).to_be_visible()
    bars = page.locator(".probability-bars")
    expect(bars.get_by_text("That head off", exact=True)).to_be_visible()
    expect(
        bars.get_by_role("listitem", name=re.compile("^Induction score: All heads on 0"))
    ).to_have_count(1)
    expect(page.locator(".training-curves")).to_contain_text("Induction score")
    expect(page.locator(".st-key-toy_film .attention-film")).to_be_visible()


@pytest.mark.matrix
def test_a_trained_decoder_alone_goes_on_from_a_prompt_on_other_pages(page, server):
    page.goto(f"{server}/training?toy_task=repeat&toy_repeat_steps=12")
    button(page, "Start").click()
    expect(progress(page)).to_contain_text("Finished")
    button(page, "Use it on the other pages").click()
    expect(page.get_by_text("The other pages now show:")).to_be_visible()
    go_to(page, "Cause")
    expect(page.get_by_role("textbox", name="Prompt")).to_have_value("kxqmwbkxq")
    expect(page.locator(".heatmap canvas.map")).to_have_count(2)
    go_to(page, "Decoding")
    expect(page.locator(".decoding-player")).to_be_visible()
