import { begin, element, legendOf, scrollable, topIn } from "../canvas.js";
import { scaleOn } from "../colors.js";
import { written } from "../numbers.js";
import { moveFocus } from "../pointing.js";

/**
 * @typedef {object} Header
 * @property {string[]} names the names of the parts
 * @property {[string, string]} ends the meaning of parts above 0, and below
 * @property {string} total the name of the sum
 * @property {string} beside words after the sum
 * @property {string} unit the unit of the parts and of the sum
 * @property {number} sum the sum, or the true total if the parts do not add up
 * @property {number} limit the largest absolute part
 * @property {boolean} weighed true if each part has a weight
 * @property {boolean} clickable
 * @property {boolean} sentences true if names are sentences, which may take two lines
 * @property {import("../colors.js").Scale} colors the colours of parts above and below 0
 */

/**
 * Draw a bar for each part of a sum, to the right if it is above 0, to the left if below.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root, answer } = begin(mount);
  const { names, limit, unit, weighed } = header;
  const colors = scaleOn(root, header.colors);
  const focused = root.querySelector(".part:focus")?.dataset.place;
  const numbers = new Float32Array(array.buffer); // the parts, followed by their weights
  const list = names.map((name, place) => {
    const value = numbers[place];
    const weight = weighed ? written(numbers[names.length + place]) : "";
    const width = (50 * Math.abs(value)) / limit;
    const bar = element("span", "bar", "", {
      style: `width: ${width}%; left: ${value < 0 ? 50 - width : 50}%; background: ${colors[value < 0 ? 1 : 0]}`,
    });
    const content = [
      element("span", header.sentences ? "name sentence" : "name cut", name, { title: name }),
      element("span", "track", [bar]),
      element("span", "number", written(value, true)),
    ];
    if (weighed) content.push(element("span", "weight", weight));
    const part = element(header.clickable ? "button" : "div", "part", content, {
      "aria-label": `${name}: ${written(value, true)} ${unit}${weight && `, weight ${weight}`}`,
      "data-place": place,
      ...(header.clickable ? { type: "button", tabindex: place ? "-1" : "0" } : { role: "img" }),
    });
    if (header.clickable) {
      part.onclick = () => answer(place);
      part.onkeydown = (event) => moveFocus(event, list, 1);
    }
    return part;
  });
  const parts = element("div", "parts", list);
  const legend = legendOf(header.ends, colors);
  if (weighed) legend.append(element("span", "entry", "last column: the weight of each part"));
  const number = element("strong", "", `${written(header.sum, true)} ${unit}`);
  const beside = header.beside && ` (${header.beside})`;
  const sum = element("p", "sum", [`${header.total}: `, number, beside]);
  const scrolled = root.querySelector(".parts")?.scrollTop;
  root.replaceChildren(legend, scrollable(parts, "Parts"), sum);
  parts.scrollTop = scrolled ?? placeOfLargest(parts, numbers.subarray(0, names.length));
  list[focused]?.focus({ preventScroll: true });
}

/** Return the scroll position at which the largest part is in the middle. */
function placeOfLargest(parts, numbers) {
  const sizes = numbers.map(Math.abs);
  const largest = parts.children[sizes.indexOf(Math.max(...sizes))];
  if (!largest) return 0;
  return topIn(parts, largest) - parts.clientHeight / 2;
}
