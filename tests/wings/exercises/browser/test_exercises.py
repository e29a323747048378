"""Exercises in a browser: done, kept, handed in, and made."""

import re

import pytest
from playwright.sync_api import expect

import headlight.pages.parts.pages  # noqa: F401 - lists the pages
from headlight.wings.exercises.goals import Goal
from headlight.wings.exercises.worksheet import Task, Worksheet, in_link, read

HTML = "<img src=x onerror=window.hit=1> **it** $x$"


def task(page):
    return page.locator(".st-key-exercise")


def see(page, number, words):
    expect(task(page)).to_contain_text(f"Exercise {number} of 12")
    expect(task(page)).to_contain_text(words)


def test_a_task_is_done_by_what_the_page_shows_and_kept_in_the_tab(page, server, tmp_path):
    page.goto(server)
    page.get_by_role("button", name="Exercises").click()
    page.get_by_role("button", name=re.compile("^Start: From tokens")).click()
    see(page, 1, "The largest number of tokens in one word: 3; wanted: at least 5")
    box = page.get_by_label("English sentence")
    expect(box).to_have_value("The cat sleeps.")
    box.fill("The encyclopaedia is new.")
    box.press("Enter")
    see(page, 1, "Done.")
    page.get_by_role("button", name="Next").click()
    see(page, 2, "The text that the model writes: “Le chien voit le chat.”")
    expect(page).to_have_url(re.compile("/positions"))
    page.wait_for_function("sessionStorage.getItem('headlight-exercises')")
    assert page.errors == []  # after it, Streamlit looks for itself below the page's path
    page.goto(f"{server}/positions?exercises=first_steps.2")
    see(page, 2, "Exercise 2 of 12, 1 solved")
    page.get_by_role("button", name="Exercises").click()
    expect(page.get_by_role("button", name="✓ 1. Tokens")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Hand in").click()
    download.value.save_as(tmp_path / "exercises.txt")
    handed_in = (tmp_path / "exercises.txt").read_text(encoding="utf-8")
    assert "1. Tokens: done" in handed_in
    page.get_by_role("tab", name="Check").click()
    page.get_by_label("The text that was handed in").fill(handed_in)
    page.get_by_label("The text that was handed in").press("Control+Enter")
    expect(page.get_by_text(re.compile("1. Tokens: done"))).to_be_visible()


def test_a_click_in_a_picture_solves_a_task_of_another_page(page, server):
    page.goto(f"{server}/?exercises=first_steps.6")  # the first page's layers are fewer
    see(page, 6, "0.776; wanted: under 0.1")
    expect(page).to_have_url(re.compile("/masks.*layer=4"))
    page.goto(f"{server}/?exercises=first_steps.8")
    see(page, 8, "One head that matters")
    expect(page).to_have_url(re.compile("/heads"))
    head = page.get_by_role("button", name=re.compile("cross-attention.*layer 1, head 4", re.I))
    head.first.click()
    see(page, 8, "Done.")
    page.get_by_role("button", name="Next").click()
    see(page, 9, "Heads to spare")
    expect(task(page)).to_contain_text("The number of heads switched off: 0")
    page.get_by_role("button", name="Leave", exact=True).click()
    expect(task(page)).to_have_count(0)
    expect(page).not_to_have_url(re.compile("exercises="))


@pytest.mark.matrix
def test_a_scene_is_made_a_task_and_a_file_with_hostile_words_is_text(page, server, tmp_path):
    page.goto(f"{server}/?kind=encoder&layer=4&head=3")
    page.get_by_role("button", name="Exercises").click()
    page.get_by_role("tab", name="Make").click()
    page.get_by_role("button", name="Begin here").click()
    expect(page.get_by_text("The task begins on Attention.")).to_be_visible()
    for label, text in {"Title": HTML, "Instruction": HTML, "Query": "it", "Key": "hungry"}.items():
        page.get_by_label(label, exact=True).fill(text)
        page.get_by_label(label, exact=True).press("Tab")
    page.get_by_role("button", name="Add the task").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the worksheet").click()
    path = tmp_path / "worksheet.json"
    download.value.save_as(path)
    (made,) = read(path.read_bytes()).tasks
    assert (made.title, made.page, made.goals[0].measure) == (HTML, "attention", "weight")
    assert made.parameters["layer"] == "4"
    page.get_by_role("tab", name="Do").click()
    page.locator("[data-testid=stFileUploader] input").set_input_files(path)
    page.get_by_role("button", name="Start this worksheet").click()
    expect(task(page)).to_contain_text(f"{HTML}: {HTML}")
    assert page.evaluate("window.hit ?? null") is None
    expect(page).to_have_url(re.compile("exercises="))
    assert page.errors == []


@pytest.mark.matrix
def test_a_training_solves_a_task_while_it_runs(page, server):
    goal = Goal("training", "at least", 0.0, {"task": "reverse"})
    sheet = Worksheet("Train", (Task("Reverse", "Train it.", "training", {}, (goal,)),))
    page.goto(f"{server}/?exercises={in_link(sheet)}.1")
    expect(task(page)).to_contain_text("No training of the task “reverse” has a score here yet.")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(task(page)).to_contain_text("Done.")
    expect(task(page)).to_contain_text("The score of your training of “reverse”: ")
    page.get_by_role("button", name="Stop", exact=True).click()
    assert page.errors == []


@pytest.mark.matrix
def test_a_lesson_that_closes_the_buttons_leaves_those_of_the_task_open(page, server):
    page.goto(f"{server}/?exercises=first_steps.1&workshop=:sentence")
    see(page, 1, "wanted: at least 5")
    expect(page.locator(".stSelectbox[inert]").first).to_be_attached()
    page.get_by_role("button", name="Hint").click()
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Next").click()
    see(page, 2, "The text that the model writes")
    page.get_by_role("button", name="Back").click()
    see(page, 1, "wanted: at least 5")
