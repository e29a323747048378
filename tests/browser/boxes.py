"""Choosing in a box that drops down."""


def box(page, label):
    """The box of a choice, whose value is what is chosen."""
    return page.get_by_role("combobox", name=label, exact=True)


def choose_in(page, label, option):
    """Choose an option of a box."""
    box(page, label).click()
    page.get_by_role("option", name=option, exact=True).click()
