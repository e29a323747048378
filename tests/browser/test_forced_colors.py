"""Where the system sets the colours, as Windows does for high contrast: every state still shows."""

import pytest

from tests.browser.entries import of_wings
from tests.browser.rest import until
from tests.matrix import first_of

# Of the elements that match a selector: how those look that match another, too, and how the others.
LOOKS = """([selector, chosen]) => {
  const inside = (root) => [...root.querySelectorAll("*")].flatMap((one) =>
    one.shadowRoot ? [one, ...inside(one.shadowRoot)] : [one],
  );
  const look = (one) => [one, ...one.querySelectorAll("*")].map((part) => {
    const { border, outline, textDecorationLine, backgroundColor } = getComputedStyle(part);
    return [border, outline, textDecorationLine, backgroundColor];
  });
  const all = inside(document).filter((one) => one.matches(selector) && one.checkVisibility());
  return [true, false].map((is) =>
    all.filter((one) => one.matches(chosen) === is).map((one) => JSON.stringify(look(one))),
  );
}"""
PROPERTY = "(one, name) => getComputedStyle(one).getPropertyValue(name)"
STATES = [  # a page, what is one of several there, and which of them is chosen
    ("masks?edits=look-ahead.off", ".stCheckbox", "[data-selected]"),
    ("", "[role=radio]", "[aria-checked=true]"),
    ("", ".architecture-map .block[data-kind=encoder]", "[aria-pressed=true]"),
    ("", ".head-grid .map", "[aria-pressed=true]"),
    ("?picture=lines", ".attention-lines .token", "[aria-pressed=true]"),
    ("?picture=text&lit=q2", ".attention-text .token", "[aria-pressed=true]"),
    ("?edits=gate.cross.1.4.0", ".token-strip .chip:not(.special)", ".changed"),
    ("heads", ".switchboard .head", ".selected"),
    ("heads?edits=gate.cross.1.4.0", ".switchboard .head:not(.selected)", ".off"),
    ("decoding", ".decoding-player .bar", ".chosen"),
    ("decoding", ".decoding-player .track, .decoding-player .fill", ".fill"),
    ("decoding?strategy=beam", ".beam-tree .leaf", ".best"),
    ("inside", ".contents button", "[aria-current]"),
    *of_wings("STATES").values(),
]


@pytest.fixture
def forced(page):
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    yield page
    page.emulate_media(forced_colors="none")


@pytest.mark.parametrize(("address", "selector", "chosen"), first_of(STATES, 3))
def test_what_is_chosen_looks_other_than_the_rest(forced, server, address, selector, chosen):
    forced.goto(f"{server}/{address}")

    def differ():
        """Some are chosen and some are not, and none of these look like one of those."""
        those, others = forced.evaluate(LOOKS, [selector, chosen])
        return those and others and not {*those} & {*others}

    until(forced, differ)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_are_drawn_in_the_colors_of_the_system(forced, server, scheme):
    forced.emulate_media(color_scheme=scheme)
    forced.goto(server)
    block = forced.locator(".architecture-map .block[aria-pressed=true]")
    for name, color in (("accent", "Highlight"), ("ink", "CanvasText"), ("paper", "Canvas")):
        assert block.evaluate(PROPERTY, f"--{name}") == color
