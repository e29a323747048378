import { begin, element, onWidth, scrollable } from "../canvas.js";
import { transport } from "../transport.js";

/**
 * @typedef {object} Table
 * @property {string} title
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string[]} groups texts in boxes next to the title
 * @property {string[][]} texts the texts [row][column] of cells while they are new; may be empty
 */

/**
 * @typedef {object} Header
 * @property {Table[]} tables
 * @property {string[]} steps what each step does, in words
 * @property {string[]} states the names of a cell's states, by their numbers
 * @property {number} start the step at which the picture opens, from 0
 */

const STATES = ["absent", "held", "closed", "new", "gone"]; // the CSS classes of the states

/**
 * Draw the cells of every table at a step, with buttons and a clock that move between steps.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const { tables, steps, states } = header;
  const identity = JSON.stringify([header.start, steps, tables]);
  if (root.identity !== identity) Object.assign(root, { identity, step: header.start });
  const focused = root.querySelector(":focus")?.dataset.name;
  const player = transport(root, {
    count: () => steps.length,
    place: () => root.step,
    words: () => `step ${root.step + 1} of ${steps.length}`,
    slider: `Step of “${tables[0].title}”`,
    go(step) {
      root.step = step;
      render();
    },
  });
  const said = element("p", "said", "", { "aria-live": "polite" });
  let first = 0; // where the states of the next table begin in the array
  const drawn = tables.map(({ title, rows, columns, groups, texts }) => {
    const cells = [];
    const lines = rows.map((name, row) => {
      const line = columns.map((column, place) => {
        const cell = element("td", "", texts[row]?.[place] ?? "", { title: `${column}, ${name}` });
        cells.push([cell, row * columns.length + place]);
        return cell;
      });
      return element("tr", "", [element("th", "", name, { scope: "row" }), ...line]);
    });
    const names = columns.map((name) => element("th", "", [element("span", "", name)], { scope: "col" }));
    const table = element("table", "", [element("tr", "names", [element("th"), ...names]), ...lines]);
    const from = first;
    const size = rows.length * columns.length;
    first += steps.length * size;
    const show = () => {
      for (const [cell, at] of cells) {
        const state = array[from + root.step * size + at];
        if (cell.dataset.state === String(state)) continue;
        cell.dataset.state = String(state);
        cell.className = STATES[state];
        cell.ariaLabel = states[state];
      }
    };
    const above = element("p", "title", [title, ...groups.map((group) => element("span", "group", group))]);
    return { show, part: element("div", "part", [above, scrollable(element("div", "sheet", [table]), title)]) };
  });
  const legend = element("p", "legend", states.map((name, state) =>
    name && array.includes(state) ? element("span", "", [element("span", `mark ${STATES[state]}`), name]) : ""));
  root.replaceChildren(player.controls, said, ...drawn.map(({ part }) => part), legend);
  root.querySelector(`[data-name="${focused}"]`)?.focus();

  function render() {
    player.update();
    said.textContent = steps[root.step];
    for (const { show } of drawn) show();
  }
  player.resume();
  const forget = onWidth(root, render);
  return () => {
    player.stop();
    forget();
  };
}
