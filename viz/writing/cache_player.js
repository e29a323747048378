import { begin, element, onWidth, scrollable } from "../canvas.js";
import { transport } from "../transport.js";

/**
 * @typedef {object} Rows
 * @property {string} title
 * @property {string[]} layers the names of the rows
 * @property {string[]} tokens
 */

/**
 * @typedef {object} Header
 * @property {Rows[]} rows
 * @property {string[]} steps what each step does, in words
 * @property {number} start the step that it opens at, from 0
 * @property {string[]} words for the states of a position, by their numbers
 */

const STATES = ["absent", "held", "closed", "computed", "dropped"];

/**
 * Draw which positions each layer holds at a step, with buttons and a clock that move between steps.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const { rows, steps, words } = header;
  const identity = JSON.stringify([header.start, steps, rows]);
  if (root.identity !== identity) Object.assign(root, { identity, step: header.start });
  const focused = root.querySelector(":focus")?.dataset.name;
  const player = transport(root, {
    count: () => steps.length,
    place: () => root.step,
    words: () => `step ${root.step + 1} of ${steps.length}`,
    slider: "Step of the cache",
    go(step) {
      root.step = step;
      render();
    },
  });
  const said = element("p", "said", "", { "aria-live": "polite" });
  let first = 0; // of a table, in the array
  const tables = rows.map(({ title, layers, tokens }) => {
    const cells = [];
    const lines = layers.map((name, layer) => {
      const line = tokens.map((token, position) => {
        const cell = element("td", "", "", { title: `${token}, ${name}` });
        cells.push([cell, layer * tokens.length + position]);
        return cell;
      });
      return element("tr", "", [element("th", "", name, { scope: "row" }), ...line]);
    });
    const names = tokens.map((token) => element("th", "", [element("span", "", token)], { scope: "col" }));
    const table = element("table", "", [element("tr", "names", [element("th"), ...names]), ...lines]);
    const from = first;
    const size = layers.length * tokens.length;
    first += steps.length * size;
    const show = () => {
      for (const [cell, at] of cells) {
        const state = array[from + root.step * size + at];
        if (cell.dataset.state === String(state)) continue;
        cell.dataset.state = String(state);
        cell.className = STATES[state];
        cell.ariaLabel = words[state];
      }
    };
    return { show, part: element("div", "part", [element("p", "title", title), scrollable(element("div", "sheet", [table]), title)]) };
  });
  const legend = element("p", "legend", words.slice(1).map((word, place) =>
    element("span", "", [element("span", `mark ${STATES[place + 1]}`), word])));
  root.replaceChildren(player.controls, said, ...tables.map(({ part }) => part), legend);
  root.querySelector(`[data-name="${focused}"]`)?.focus();

  function render() {
    player.update();
    said.textContent = steps[root.step];
    for (const { show } of tables) show();
  }
  player.resume();
  const forget = onWidth(root, render);
  return () => {
    player.stop();
    forget();
  };
}
