const LARGEST = 32; // pixels of a cell's side
const SMALLEST = 8;
const TALLEST = 460; // pixels of a map, where its cells can be smaller
const LABEL = 96; // most pixels for the tokens on either side
const SLANT = 28; // pixels that the last slanted token leans over the edge
const LEVELS = 65535; // a weight of 1, as it travels
const LEAST = 0.05; // the smallest difference that takes the full colour

/** Draw the heads at one snapshot of a training, and one of them in large, beside another snapshot.
 *
 * The elements are made once: new data, as from a training under way, only repaints them, so that
 * focus, a drag of the slider and the visitor's place last.
 */
export default function draw({ data, parentElement }) {
  const { header, array } = unpack(data);
  const root = parentElement.querySelector(".attention-film");
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
  let shape; // what the head buttons were made for
  let following = true; // shows the newest snapshot; else the one at `step`
  let step, other; // numbers of training steps: shown, and compared with
  let layer, head;
  let cell = null; // the query and the key that are read out
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
  const label = element("label", "");
  label.append(comparing, " Compare with");
  const slider = element("input", "", "", { type: "range", min: 0, "aria-label": "Step to compare with" });
  const output = element("output", "");
  const compare = element("div", "compare");
  compare.append(label, slider, output);
  comparing.onchange = () => render();
  slider.oninput = () => {
    other = header.steps[Number(slider.value)];
    comparing.checked = true;
    render();
  };
  const heads = element("div", "heads");
  const maps = element("div", "maps");
  const views = {
    shown: makeView("sequential"),
    other: makeView("sequential"),
    difference: makeView("diverging"),
  };
  const reading = element("p", "reading");
  maps.append(reading, ...Object.values(views).map((view) => view.figure));
  const panes = element("div", "panes");
  panes.append(heads, maps);
  root.replaceChildren(player.controls, compare, panes);

  /** The place of the snapshot at a step, or of the nearest one. */
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
      [layer, head] = header.selected;
      following = true;
      other = header.steps[0];
    }
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
    // A clock that runs is left alone: new data every second would hold it back.
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
        const button = element("button", "head", "", { type: "button" });
        const canvas = element("canvas", "");
        canvas.width = header.keys.length;
        canvas.height = header.queries.length;
        button.append(canvas);
        button.onclick = () => choose(row, column);
        button.onkeydown = (event) => {
          const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: header.heads, ArrowUp: -header.heads };
          const next = buttons[row * header.heads + column + by[event.key]];
          if (!next) return;
          event.preventDefault();
          next.focus();
        };
        buttons.push(button);
        children.push(button);
      }
    }
    heads.replaceChildren(...children);
  }
  function choose(row, column) {
    [layer, head] = [row, column];
    render();
  }

  function makeView(kind) {
    const figure = element("figure", "");
    const caption = element("figcaption", "");
    const canvas = element("canvas", "map", "", { role: "img", tabindex: "0" });
    const sheet = element("div", "sheet");
    sheet.append(canvas);
    const ends = [element("span", ""), element("span", "")];
    const ramp = element("span", "ramp");
    const scale = element("div", "scale", "", { "aria-hidden": "true" });
    scale.append(ends[0], ramp, ends[1]);
    figure.append(caption, sheet, scale);
    const view = { kind, figure, caption, canvas, ends, ramp, side: 0, left: 0, top: 0 };
    canvas.onpointermove = (event) => {
      const box = canvas.getBoundingClientRect();
      pointAt(
        Math.floor((event.clientY - box.top - view.top) / view.side),
        Math.floor((event.clientX - box.left - view.left) / view.side),
      );
    };
    canvas.onkeydown = (event) => {
      const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!by) return;
      event.preventDefault();
      const [query, key] = cell ?? [0, 0];
      if (cell) pointAt(query + by[0], key + by[1]);
      else pointAt(0, 0);
    };
    return view;
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
    slider.max = header.steps.length - 1;
    slider.value = place(other);
    output.textContent = `step ${other.toLocaleString("en")}`;
    slider.hidden = output.hidden = !both;
    root.classList.toggle("comparing", both);
    views.other.figure.hidden = views.difference.figure.hidden = !both;
    drawHeads();
    const now = map(place(step), layer, head);
    const then = map(place(other), layer, head);
    const title = `Layer ${layer + 1}, head ${head + 1}`;
    drawMap(views.shown, `${title}, step ${step.toLocaleString("en")}`, (at) => now[at] / LEVELS, 1);
    if (both) {
      drawMap(views.other, `The same head, step ${other.toLocaleString("en")}`, (at) => then[at] / LEVELS, 1);
      const words = `Step ${step.toLocaleString("en")} minus step ${other.toLocaleString("en")}`;
      drawMap(views.difference, words, (at) => (now[at] - then[at]) / LEVELS, largestChange(then));
    }
    read(now, both ? then : null);
  }

  /** The largest change of this head at any step from what is compared with, to keep the colours. */
  function largestChange(then) {
    let largest = LEAST * LEVELS;
    for (let at = 0; at < header.steps.length; at++) {
      map(at, layer, head).forEach((value, index) => {
        largest = Math.max(largest, Math.abs(value - then[index]));
      });
    }
    return largest / LEVELS;
  }

  function drawHeads() {
    const colors = colorTable(header.colors);
    const pixels = new ImageData(header.keys.length, header.queries.length);
    const target = new Uint32Array(pixels.data.buffer);
    buttons.forEach((button, index) => {
      const [row, column] = [Math.floor(index / header.heads), index % header.heads];
      const weights = map(place(step), row, column);
      weights.forEach((value, at) => (target[at] = colors[Math.round((value / LEVELS) * 255)]));
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
    return `largest weight ${(weights[at] / LEVELS).toFixed(3)}, from “${query}” to “${key}”`;
  }
  const tokensAt = (at) => [
    header.queries[Math.floor(at / header.keys.length)],
    header.keys[at % header.keys.length],
  ];

  function drawMap(view, title, number, limit) {
    const { queries, keys } = header;
    const style = getComputedStyle(root);
    const context = view.canvas.getContext("2d");
    const font = (side) => `${Math.max(9, Math.min(13, side - 1))}px ${style.fontFamily}`;
    context.font = font(LARGEST);
    const widest = (tokens) => Math.max(...tokens.map((token) => context.measureText(token).width));
    view.left = Math.min(LABEL, widest(queries) + 14);
    view.top = Math.min(LABEL, widest(keys) * 0.9 + 22);
    const across = comparing.checked && maps.clientWidth > 600 ? 3 : 1;
    const room = (maps.clientWidth - 20 * (across - 1)) / across - view.left - SLANT;
    const fits = Math.floor(Math.min(room / keys.length, Math.max(TALLEST / queries.length, 16)));
    view.side = Math.max(SMALLEST, Math.min(LARGEST, fits));
    const { side, left, top } = view;
    const fitted = fitCanvas(view.canvas, left + side * keys.length + SLANT, top + side * queries.length);
    fitted.font = font(side);
    drawTokens(fitted, { rows: queries, columns: keys, side, left, top, color: style.color });
    const diverging = view.kind === "diverging";
    const colors = colorTable(diverging ? header.differences : header.colors);
    let extreme = 0;
    for (let at = 0; at < size(); at++) {
      const value = number(at);
      if (Math.abs(value) > Math.abs(number(extreme))) extreme = at;
      const part = diverging ? (value / limit + 1) / 2 : value;
      fitted.fillStyle = `rgb(${channels(colors[Math.round(part * 255)])})`;
      const [row, column] = [Math.floor(at / keys.length), at % keys.length];
      fitted.fillRect(left + side * column, top + side * row, side - 1, side - 1);
    }
    if (cell) {
      // Black around white is seen on every colour.
      const [x, y] = [left + side * cell[1], top + side * cell[0]];
      fitted.strokeStyle = "#000";
      fitted.strokeRect(x - 1.5, y - 1.5, side + 2, side + 2);
      fitted.strokeStyle = "#fff";
      fitted.strokeRect(x - 0.5, y - 0.5, side, side);
    }
    view.caption.textContent = title;
    const [query, key] = tokensAt(extreme);
    view.canvas.ariaLabel =
      `${title}: largest ${diverging ? "difference" : "weight"} ` +
      `${written(number(extreme), diverging)}, from “${query}” to “${key}”`;
    view.ends[0].textContent = diverging ? written(-limit, true) : "0";
    view.ends[1].textContent = diverging ? written(limit, true) : "1";
    const stops = diverging ? header.differences : header.colors;
    view.ramp.style.background = `linear-gradient(to right, ${stops.join(",")})`;
  }

  function read(now, then) {
    if (!cell) {
      reading.textContent = "Queries run down, keys across. Point at a cell to read its weight.";
      return;
    }
    const at = cell[0] * header.keys.length + cell[1];
    const [query, key] = tokensAt(at);
    const weight = written(now[at] / LEVELS);
    let text = `“${query}” looks at “${key}”: ${weight} at step ${step.toLocaleString("en")}`;
    if (then) {
      // Of the numbers as they are written, so that they add up on screen.
      const before = written(then[at] / LEVELS);
      text += `, ${before} at step ${other.toLocaleString("en")}, difference ${written(weight - before, true)}`;
    }
    reading.textContent = `${text}.`;
  }

  return { take, render, stop: player.stop };
}

/** A number to three decimals, on demand with its sign. */
function written(number, signed = false) {
  const text = Math.abs(number).toFixed(3);
  const sign = Number(text) === 0 ? "" : number < 0 ? "\u2212" : signed ? "+" : "";
  return sign + text;
}
