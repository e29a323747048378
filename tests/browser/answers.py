"""What a picture on a page of its own answers to clicks."""

SILENT = "setTriggerValue() {}"
NOTING = "setTriggerValue(name, value) { window.answer = { name, value }; }"


def noting(html):
    """A picture's page that keeps its answers, for `picked`."""
    assert SILENT in html
    return html.replace(SILENT, NOTING)


def picked(page):
    """What was clicked last; None if nothing was."""
    answer = page.evaluate("window.answer ?? null")
    if answer is None:
        return None
    assert answer["name"] == "picked"
    numbers = [number for number, _ in answer["value"]["answers"]]
    assert numbers == sorted(set(numbers))
    return answer["value"]["answers"][-1][1]
