import { begin, buttonOf, element, onWidth } from "../canvas.js";
import { colorTable } from "../colors.js";
import { difference, written } from "../numbers.js";
import { moveFocus, POINT_AT } from "../pointing.js";
import { transport } from "../transport.js";
import { LEAST, drawMap, fitMap, makeMap } from "./map.js";

/**
 * @typedef {object} Header
 * @property {number[]} steps the training steps that have snapshots, increasing
 * @property {number} layers
 * @property {number} heads
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {[number, number]} selected the layer and the head, from 0, enlarged until the visitor chooses a head
 * @property {string} name the name of the film: data of another name begins at the newest step
 * @property {number} levels the whole number that means a weight of 1 in the data
 * @property {string[]} colors
 * @property {import("../colors.js").Scale} differences the colours of differences
 */

const HINT = `Queries run down, keys across. ${POINT_AT} a cell to read its weight.`;

/**
 * Draw all heads at a snapshot of a training, and one of them enlarged. If asked, draw it next to
 * the same head at another snapshot.
 *
 * The elements are made once. New data, as during a training, only repaints them, so that the focus,
 * the shown step and a drag of the slider stay.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  root.film ??= makeFilm(root);
  root.film.take(header, new Uint16Array(array.buffer));
  const forget = onWidth(root, root.film.render);
  return () => {
    root.film.stop();
    forget();
  };
}

function makeFilm(root) {
  let header, values; // values [step, layer, head, query, key]
  let shape; // the layers, heads and tokens that the head buttons were made for
  let following = true; // true while the newest snapshot is shown
  let step, other; // the training step that is shown, and the step it is compared with
  let layer, head;
  let isChosen = false; // true once the visitor has chosen a head
  let cell = null; // the query and the key of the cell that was pointed at
  const buttons = [];

  const player = transport(root, {
    count: () => header.steps.length,
    place: () => place(step),
    words: () => `step ${step.toLocaleString("en")}`,
    go: (to) => {
      step = header.steps[to];
      following = to === header.steps.length - 1;
      render();
    },
    last: "Newest step",
  });
  const comparing = element("input", "", "", { type: "checkbox" });
  const label = element("label", "", [comparing, " Compare with"]);
  const slider = element("input", "", "", { type: "range", min: 0, "aria-label": "Step to compare with" });
  const output = element("output", "");
  const compare = element("div", "compare", [label, slider, output]);
  comparing.onchange = () => render();
  slider.oninput = () => {
    other = header.steps[Number(slider.value)];
    comparing.checked = true;
    render();
  };
  const heads = element("div", "heads");
  const views = {
    shown: makeMap(false, pointAt, () => cell),
    other: makeMap(false, pointAt, () => cell),
    difference: makeMap(true, pointAt, () => cell),
  };
  const reading = element("p", "reading");
  const maps = element("div", "maps", [reading, ...Object.values(views).map((view) => view.figure)]);
  root.replaceChildren(player.controls, compare, element("div", "panes", [heads, maps]));

  /** Return the index of the snapshot nearest to a training step. */
  function place(number) {
    const distances = header.steps.map((each) => Math.abs(each - number));
    return distances.indexOf(Math.min(...distances));
  }
  const size = () => header.queries.length * header.keys.length;
  const map = (at, inLayer, ofHead) => {
    const first = ((at * header.layers + inLayer) * header.heads + ofHead) * size();
    return values.subarray(first, first + size());
  };

  function take(next, numbers) {
    const fresh = header?.name !== next.name;
    const moved = JSON.stringify([next.layers, next.heads, next.queries, next.keys]);
    header = next;
    values = numbers;
    if (fresh) {
      isChosen = false;
      following = true;
      other = header.steps[0];
    }
    if (!isChosen) [layer, head] = header.selected;
    if (moved !== shape) {
      shape = moved;
      layer = Math.min(layer, header.layers - 1);
      head = Math.min(head, header.heads - 1);
      cell = null;
      makeButtons();
    }
    step = header.steps[following ? header.steps.length - 1 : place(step)];
    other = header.steps[place(other)];
    render();
    // A running clock is not restarted: with new data every second it would never advance.
    if (root.playing && !root.clock) player.resume();
  }

  function makeButtons() {
    heads.style.gridTemplateColumns = `1.6em repeat(${header.heads}, minmax(0, 96px))`;
    buttons.length = 0;
    const children = [element("span", "")];
    for (let each = 0; each < header.heads; each++) {
      children.push(element("span", "label", String(each + 1), { "aria-hidden": "true" }));
    }
    for (let row = 0; row < header.layers; row++) {
      children.push(element("span", "label", `L${row + 1}`, { "aria-hidden": "true" }));
      for (let column = 0; column < header.heads; column++) {
        const size = { width: header.keys.length, height: header.queries.length };
        const canvas = element("canvas", "", "", size);
        const button = buttonOf("head small-map", [canvas], () => choose(row, column));
        button.onkeydown = (event) => moveFocus(event, buttons, header.heads);
        buttons.push(button);
        children.push(button);
      }
    }
    heads.replaceChildren(...children);
  }
  function choose(row, column) {
    [layer, head] = [row, column];
    isChosen = true;
    render();
  }

  function pointAt(query, key) {
    const inside = query >= 0 && key >= 0 && query < header.queries.length && key < header.keys.length;
    if (!inside || (cell?.[0] === query && cell?.[1] === key)) return;
    cell = [query, key];
    render();
  }

  function render() {
    if (!root.clientWidth) return;
    player.update();
    const both = comparing.checked;
    slider.max = String(header.steps.length - 1);
    slider.value = String(place(other));
    output.textContent = `step ${other.toLocaleString("en")}`;
    slider.hidden = output.hidden = !both;
    root.classList.toggle("comparing", both);
    views.other.figure.hidden = views.difference.figure.hidden = !both;
    drawHeads();
    const now = map(place(step), layer, head);
    const then = map(place(other), layer, head);
    const title = `Layer ${layer + 1}, head ${head + 1}`;
    show(views.shown, `${title}, step ${step.toLocaleString("en")}`, (at) => now[at] / header.levels, 1);
    if (both) {
      show(views.other, `The same head, step ${other.toLocaleString("en")}`, (at) => then[at] / header.levels, 1);
      const words = `Step ${step.toLocaleString("en")} minus step ${other.toLocaleString("en")}`;
      show(views.difference, words, (at) => (now[at] - then[at]) / header.levels, largestChange(then));
    }
    read(now, both ? then : null);
  }

  /** Return this head's largest difference between any step and step `other`, for one scale at all steps. */
  function largestChange(then) {
    let largest = LEAST * header.levels;
    for (let at = 0; at < header.steps.length; at++) {
      map(at, layer, head).forEach((value, index) => {
        largest = Math.max(largest, Math.abs(value - then[index]));
      });
    }
    return largest / header.levels;
  }

  function drawHeads() {
    const colors = colorTable(header.colors);
    const pixels = new ImageData(header.keys.length, header.queries.length);
    const target = new Uint32Array(pixels.data.buffer);
    buttons.forEach((button, index) => {
      const [row, column] = [Math.floor(index / header.heads), index % header.heads];
      const weights = map(place(step), row, column);
      weights.forEach((value, at) => (target[at] = colors[Math.round((value / header.levels) * 255)]));
      button.firstChild.getContext("2d").putImageData(pixels, 0, 0);
      const chosen = row === layer && column === head;
      button.ariaLabel = `Layer ${row + 1}, head ${column + 1}: ${strongest(weights)}`;
      button.setAttribute("aria-pressed", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
    });
  }
  function strongest(weights) {
    const at = weights.reduce((best, value, index) => (value > weights[best] ? index : best), 0);
    const [query, key] = tokensAt(at);
    return `largest weight ${written(weights[at] / header.levels)}, from “${query}” to “${key}”`;
  }
  const tokensAt = (at) => [
    header.queries[Math.floor(at / header.keys.length)],
    header.keys[at % header.keys.length],
  ];

  function show(view, title, number, limit) {
    const { queries: rows, keys: columns } = header;
    const across = comparing.checked && maps.clientWidth > 600 ? 3 : 1;
    const room = (maps.clientWidth - 20 * (across - 1)) / across;
    const colors = view.diverging ? header.differences : header.colors;
    drawMap(view, { title, rows, columns, number, limit, colors, cell, ...fitMap(root, rows, columns, room) });
  }

  function read(now, then) {
    if (!cell) {
      reading.replaceChildren(element("span", "hint", HINT));
      return;
    }
    const at = cell[0] * header.keys.length + cell[1];
    const [query, key] = tokensAt(at);
    const weight = now[at] / header.levels;
    let text = `“${query}” looks at “${key}”: ${written(weight)} at step ${step.toLocaleString("en")}`;
    if (then) {
      const before = then[at] / header.levels;
      text += `, ${written(before)} at step ${other.toLocaleString("en")}, difference ${difference(before, weight)}`;
    }
    reading.textContent = `${text}.`;
  }

  return { take, render, stop: player.stop };
}
