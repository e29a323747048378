"""Nothing that one reads or presses is covered or cut: at 200 % text, and next to scroll bars."""

import pytest

from tests.browser.rest import box_at_rest, until
from tests.browser.test_every_page import ADDRESSES, open_whole
from tests.matrix import first_of

LARGE = """addEventListener("DOMContentLoaded", () => {
  document.documentElement.style.fontSize = "200%";
});"""
# What is pressed and what is read, as far as it is in sight: nothing of it lies over another. What
# stays in sight does lie over what scrolls below it, and a chart places its own numbers.
COVERED = """() => {
  const PRESSED = "button, a[href], input, select, textarea, summary, [role=radio], [role=tab]";
  const SILENT = "script, style, option, title, desc";
  const all = (root) =>
    [...root.querySelectorAll("*")].flatMap((one) =>
      one.shadowRoot ? [one, ...all(one.shadowRoot)] : [one],
    );
  const up = (one) => one.assignedSlot ?? one.parentElement ?? one.getRootNode().host;
  const line = (one) => (one ? [one, ...line(up(one))] : []);
  const hides = (one) =>
    one.inert || one.matches(".text-alternative, dialog") ||
    getComputedStyle(one).clipPath !== "none" || getComputedStyle(one).opacity === "0";
  function seen({ left, top, right, bottom }, boxes) {
    for (const one of boxes) {
      const { overflowX, overflowY } = getComputedStyle(one);
      const edge = one.getBoundingClientRect();
      if (overflowX !== "visible") {
        [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
      }
      if (overflowY !== "visible") {
        [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
      }
    }
    return { left, top, right, bottom, width: right - left, height: bottom - top };
  }
  const things = [];
  for (const one of all(document)) {
    const within = line(one);
    if (!one.checkVisibility({ visibilityProperty: true }) || within.some(hides)) continue;
    const stays = within.find((at) => ["sticky", "fixed"].includes(getComputedStyle(at).position));
    const joint = one.closest("label, .katex, svg");
    const add = (name, box, boxes) => {
      const rest = seen(box, boxes);
      const isSeen = Math.min(rest.width, rest.height) > 2;
      if (isSeen) things.push({ one, name: name.trim(), box: rest, within, stays, joint });
    };
    if (one.matches(PRESSED)) {
      const name = one.ariaLabel || one.textContent || one.className;
      add(name, one.getBoundingClientRect(), within.slice(1));
    }
    for (const text of one.childNodes) {
      if (text.nodeType !== 3 || !text.data.trim() || one.matches(SILENT)) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      [...range.getClientRects()].forEach((box) => add(text.data, box, within));
    }
  }
  const lie = (first, second) =>
    !first.within.includes(second.one) && !second.within.includes(first.one) &&
    first.stays === second.stays && !(first.joint && first.joint === second.joint) &&
    Math.min(first.box.right, second.box.right) - Math.max(first.box.left, second.box.left) > 2 &&
    Math.min(first.box.bottom, second.box.bottom) - Math.max(first.box.top, second.box.top) >
      0.4 * Math.min(first.box.height, second.box.height);
  return things.flatMap((first, at) =>
    things
      .slice(at + 1)
      .filter((second) => lie(first, second))
      .map((second) => `${first.name} | ${second.name}`),
  );
}"""

CUT = """() => [...document.querySelectorAll("[role=combobox], .stNumberInput input")]
  .filter((box) => box.checkVisibility())
  .filter((box) => {
    const group = box.closest("[role=group]")?.getBoundingClientRect();
    const last = box.parentElement.lastElementChild.getBoundingClientRect();
    return box.scrollWidth > box.clientWidth + 1 || (group && last.right > group.right + 1);
  })
  .map((box) => `${box.ariaLabel}: ${box.value}`)"""


@pytest.fixture
def large(page):
    """A page whose letters are twice as large, as tall as all it shows."""
    page.set_viewport_size({"width": 1280, "height": 4000})
    page.add_init_script(LARGE)
    return page


@pytest.mark.parametrize("address", first_of(ADDRESSES))
def test_large_letters_cover_and_cut_nothing(large, server, address):
    open_whole(large, server, address)

    def nothing_is_lost():
        assert large.evaluate(COVERED) + large.evaluate(CUT) == []
        return True

    until(large, nothing_is_lost, AssertionError)  # pictures follow once the page keeps its width


def test_the_row_of_the_kind_of_attention_has_room_next_to_a_scroll_bar(page, server):
    page.goto(server)
    kind = box_at_rest(page.locator(".st-key-kind"))
    drawing = box_at_rest(page.locator(".architecture-map"))
    assert page.locator(".stMain").evaluate("main => main.offsetWidth > main.clientWidth")
    assert kind["x"] + kind["width"] <= drawing["x"]
    assert drawing["y"] < kind["y"] + kind["height"]


def test_the_boxes_of_two_sides_have_room_for_what_they_hold(page, server):
    open_whole(page, server, "compare")
    assert page.evaluate(CUT) == []
