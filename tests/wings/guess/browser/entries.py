"""A page that asks first, for tests that go through all pages."""

ADDRESSES = {  # what each page draws last
    "?guess=on": "Show the answer",
}
