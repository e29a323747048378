"""Acts of a visitor as functions of a page."""

import re


def say(text="I love my cat."):
    def act(page):
        box = page.get_by_role("textbox", name=re.compile("English sentence")).first
        box.fill(text)
        box.press("Enter")

    return act


def press(name, role="button"):
    return lambda page: page.get_by_role(role, name=re.compile(name)).first.click()
