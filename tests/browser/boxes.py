"""Choosing in a box that drops down."""

import re


def box(page, label):
    """The box of a choice, whose value is what is chosen."""
    return page.get_by_role("combobox", name=label, exact=True)


def choose_in(page, label, option):
    """Choose an option of a box."""
    box(page, label).click()
    page.get_by_role("option", name=option, exact=True).click()


def type_in(page, label, text):
    """Type an option of a box, or a text of its own, and choose it; the label may be a part."""
    chosen = page.get_by_role("combobox", name=re.compile(label))
    chosen.click()
    chosen.fill(text)
    page.keyboard.press("Enter")
