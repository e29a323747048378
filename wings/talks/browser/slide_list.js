import { begin, buttonOf, element, icon } from "../../../viz/canvas.js";
import { keepOnly, thumbnails } from "./thumbnail.js";
import { drawMissing } from "../../../pages/browser/thumbnail_frame.js";
import { plainTitle } from "../../../pages/browser/turning.js";

/**
 * @typedef {object} Header
 * @property {{ name: string, title: string, typed: boolean, of: string, picture: string, thumbnail: string, opens: boolean }[]} slides
 * @property {number} edited the index of the slide that is open for editing; -1 for none
 * @property {number} opened the index of the slide that is open on its page; -1 for none
 * @property {string} kept the name under which the browser keeps small pictures
 * @property {string[]} known the keys of the small pictures that must not be deleted
 */

const CHEVRONS = { up: "M4 10l4-4 4 4", down: "M4 6l4 4 4-4" };

/**
 * List slides, each with its small picture and its actions.
 *
 * A drawn row is kept and updated: a press on its button may first end typing in a box, and the end
 * of typing draws the list again. The press must still reach the same button.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { slides, edited, opened, kept, known } = header;
  keepOnly(kept, known);
  const images = thumbnails(kept);
  root.list ??= root.appendChild(element("ol", "", "", { "aria-label": "Slides" }));
  root.rows ??= new Map();
  const focused = root.getRootNode().activeElement;
  const before = root.rows;
  root.rows = new Map(slides.map(({ name }) => [name, before.get(name) ?? makeRow(root)]));
  for (const [name, row] of before) if (!root.rows.has(name)) row.item.remove();
  slides.forEach((slide, place) => {
    const row = root.rows.get(slide.name);
    row.update({
      slide,
      place,
      last: slides.length - 1,
      image: images.get(slide.thumbnail),
      isEdited: place === edited,
      isOpened: place === opened,
      answer,
    });
    const there = root.list.children[place];
    if (there !== row.item) root.list.insertBefore(row.item, there ?? null);
  });
  if (root.contains(focused)) focused.focus({ preventScroll: true }); // moving an element took the focus away
  if (root.edited !== edited) root.list.children[edited]?.scrollIntoView({ block: "nearest" });
  root.edited = edited;
  const again = () => draw(mount);
  const heard = ({ key }) => key === kept && again();
  root.forget?.();
  addEventListener("storage", heard);
  root.forget = () => removeEventListener("storage", heard);
  drawMissing(root, slides, images, again);
  return () => {
    root.forget();
    clearTimeout(root.waiting); // a timer for a thumbnail that is no longer needed
  };
}

/** Make the list's row for a slide; `update` shows the present values of the slide in it. */
function makeRow(root) {
  let now; // the values that `update` was last called with
  const item = element("li", "", "", { draggable: "true" });
  const ask = (does, more = {}) => now.answer({ does, slide: now.slide.name, ...more });
  const move = (by) => {
    const to = now.place + by;
    if (to >= 0 && to <= now.last) ask("move", { to });
  };
  const button = (does, content, act = () => ask(does)) => buttonOf(`control ${does}`, content, act);
  const [number, frame, title] = ["number", "frame", "title"].map((name) => element("span", name));
  const select = button("edit", [number, frame, title]);
  const open = button("open", "Open");
  const up = button("up", [icon(CHEVRONS.up)], () => move(-1));
  const down = button("down", [icon(CHEVRONS.down)], () => move(1));
  const labels = new Map([
    [open, "Open its scene, to change it"],
    [button("present", "Present"), "Present from here"],
    [button("duplicate", "Duplicate"), "Duplicate"],
    [button("remove", "Remove"), "Remove"],
    [up, "Move up"],
    [down, "Move down"],
  ]);
  item.append(select, element("div", "tools", [...labels.keys()]));

  function update(told) {
    now = told;
    const { slide, place } = now;
    const words = plainTitle(slide);
    item.classList.toggle("edited", now.isEdited);
    labels.set(select, `Edit “${words}”, ${slide.of}`);
    for (const [one, label] of labels) {
      one.ariaLabel = `${label}: slide ${place + 1}`;
      one.title = label;
    }
    select.ariaPressed = String(now.isEdited);
    open.ariaPressed = String(now.isOpened);
    open.hidden = !slide.opens;
    up.disabled = place === 0;
    down.disabled = place === now.last;
    number.textContent = String(place + 1);
    title.textContent = words || "No title";
    if (!now.image) frame.replaceChildren(element("span", "name", slide.picture));
    else if (frame.querySelector("img")?.src !== now.image)
      frame.replaceChildren(element("img", "", "", { src: now.image, alt: "", draggable: "false" }));
  }

  item.onkeydown = (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step || !event.altKey) return;
    event.preventDefault();
    move(step);
  };
  item.ondragstart = (event) => {
    root.dragged = now;
    event.dataTransfer.setData("text/plain", now.slide.title);
    event.dataTransfer.effectAllowed = "move";
  };
  item.ondragend = () => {
    root.dragged = undefined;
    mark(root.list, null);
  };
  item.ondragover = (event) => {
    if (!root.dragged) return; // something that is not a slide is dragged, such as a file
    event.preventDefault();
    mark(root.list, item, isBelow(event));
  };
  item.ondrop = (event) => {
    if (!root.dragged) return;
    event.preventDefault();
    const [from, gap] = [root.dragged.place, now.place + Number(isBelow(event))];
    const to = gap > from ? gap - 1 : gap;
    mark(root.list, null);
    if (to !== from) now.answer({ does: "move", slide: root.dragged.slide.name, to });
  };
  const isBelow = (event) => {
    const box = item.getBoundingClientRect();
    return event.clientY > box.top + box.height / 2;
  };
  return { item, update };
}

/** Mark the upper or lower edge of the row where a dragged slide would be dropped; with null, mark none. */
function mark(list, one, below = false) {
  for (const item of list.children) {
    item.classList.toggle("above", item === one && !below);
    item.classList.toggle("below", item === one && below);
  }
}
