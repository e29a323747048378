import { begin, element, moveFocus, scrollable } from "../canvas.js";
import { written } from "../numbers.js";

/**
 * @typedef {object} Header
 * @property {string[]} names of the parts
 * @property {[string, string]} ends what is above 0, and what is below
 * @property {string} total what the sum is
 * @property {string} beside words after the sum
 * @property {string} unit of the parts and the sum
 * @property {number} sum or what all parts are together, if they do not add up
 * @property {number} limit the largest size of a part
 * @property {boolean} weighed whether each part has a weight
 * @property {boolean} clickable
 * @property {[string, string]} colors above 0 and below
 */

/**
 * Draw a bar for each part of a sum, to the right above 0 and to the left below it.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root, answer } = begin(mount);
  const { names, limit, unit, weighed, colors } = header;
  const focused = root.querySelector(".part:focus")?.dataset.place;
  const numbers = new Float32Array(array.buffer); // the parts, then their weights
  const parts = element("div", "parts");
  const buttons = [];
  names.forEach((name, place) => {
    const value = numbers[place];
    const weight = weighed ? numbers[names.length + place] : null;
    const said = weight === null ? "" : `, weight ${written(weight)}`;
    const part = element(header.clickable ? "button" : "div", "part", "", {
      "aria-label": `${name}: ${written(value, true)} ${unit}${said}`,
      "data-place": place,
      ...(header.clickable
        ? { type: "button", tabindex: place ? "-1" : "0" }
        : { role: "img" }),
    });
    const track = element("span", "track");
    const bar = element("span", "bar");
    const width = (50 * Math.abs(value)) / limit;
    bar.style.width = `${width}%`;
    bar.style.left = `${value < 0 ? 50 - width : 50}%`;
    bar.style.background = colors[value < 0 ? 1 : 0];
    track.append(bar);
    part.append(element("span", "name", name, { title: name }), track);
    part.append(element("span", "number", written(value, true)));
    if (weight !== null) part.append(element("span", "weight", written(weight)));
    if (header.clickable) {
      part.onclick = () => answer(place);
      part.onkeydown = (event) => moveFocus(event, buttons, 1);
      buttons.push(part);
    }
    parts.append(part);
  });
  const legend = element("p", "legend");
  header.ends.forEach((end, which) => {
    const entry = element("span", "end", end);
    const mark = element("span", "mark");
    mark.style.background = colors[which];
    entry.prepend(mark);
    legend.append(entry);
  });
  if (weighed) legend.append(element("span", "end", "last column: its weight"));
  const sum = element("p", "sum", `${header.total}: `);
  sum.append(element("strong", "", `${written(header.sum, true)} ${unit}`));
  if (header.beside) sum.append(` (${header.beside})`);
  const scrolled = root.querySelector(".parts")?.scrollTop ?? 0;
  root.replaceChildren(legend, scrollable(parts, "Parts"), sum);
  parts.scrollTop = scrolled;
  buttons[focused]?.focus({ preventScroll: true });
}
