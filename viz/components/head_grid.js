const TOP = 20; // pixels for the column labels
const LEFT = 24; // pixels for the row labels
const GAP = 5;
const FULL_HEIGHT = 210; // pixels that a few layers stretch to fill

/** Draw every map on one canvas, with a button over each. */
export default function draw({ data, parentElement, setTriggerValue }) {
  const { header, array } = unpack(data);
  const root = parentElement.querySelector(".head-grid");
  const { queries, keys, rows, columns, strongest } = header;
  const colors = colorTable(header.colors);
  const selected = header.selected ?? [0, 0];
  const focused = root.querySelector(".map:focus")?.dataset.index;

  const canvas = element("canvas", "", "", { "aria-hidden": "true" });
  const reading = element("p", "reading");
  const rowLabels = rows.map((text) => element("span", "label", text.replace("layer ", "L")));
  const columnLabels = columns.map((text) =>
    element("span", "label column", text.replace("head ", "")),
  );
  const buttons = strongest.map(([query, key, weight], index) => {
    const row = Math.floor(index / columns.length);
    const column = index % columns.length;
    const chosen = row === selected[0] && column === selected[1];
    const text =
      `${rows[row]}, ${columns[column]}: largest weight ${weight.toFixed(3)}, ` +
      `from “${queries[query]}” to “${keys[key]}”`;
    const button = element("button", "map", "", {
      type: "button",
      "aria-label": text,
      "aria-pressed": String(chosen && header.selected !== null),
      tabindex: chosen ? "0" : "-1",
      "data-index": index,
    });
    button.onclick = () => setTriggerValue("picked", [row, column]);
    button.onpointerenter = button.onfocus = () => (reading.textContent = text);
    button.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns.length, ArrowUp: -columns.length };
      const next = buttons[index + step[event.key]];
      if (!next) return;
      event.preventDefault();
      next.focus();
    };
    return button;
  });
  reading.textContent = buttons[selected[0] * columns.length + selected[1]].ariaLabel;
  root.replaceChildren(canvas, ...rowLabels, ...columnLabels, ...buttons, reading);
  if (focused !== undefined) buttons[focused]?.focus();

  const small = document.createElement("canvas");
  small.width = keys.length;
  small.height = queries.length;
  const pixels = new ImageData(keys.length, queries.length);
  const target = new Uint32Array(pixels.data.buffer);

  return onWidth(root, (width) => {
    const side = (width - LEFT - GAP * (columns.length - 1)) / columns.length;
    const ratio = Math.min(1.5, Math.max(0.6, queries.length / keys.length));
    const tall = Math.max(side * ratio, Math.min(side * 1.5, FULL_HEIGHT / rows.length));
    const context = fitCanvas(canvas, width, TOP + rows.length * (tall + GAP));
    const smallContext = small.getContext("2d");
    buttons.forEach((button, index) => {
      const x = LEFT + (index % columns.length) * (side + GAP);
      const y = TOP + Math.floor(index / columns.length) * (tall + GAP);
      const first = index * target.length;
      for (let at = 0; at < target.length; at++) target[at] = colors[array[first + at]];
      smallContext.putImageData(pixels, 0, 0);
      // Cells larger than a pixel stay sharp; smaller ones are averaged rather than dropped.
      context.imageSmoothingEnabled = side < keys.length;
      context.drawImage(small, x, y, side, tall);
      Object.assign(button.style, {
        left: `${x}px`,
        top: `${y}px`,
        width: `${side}px`,
        height: `${tall}px`,
      });
    });
    rowLabels.forEach((label, row) => {
      label.style.left = "0";
      label.style.top = `${TOP + row * (tall + GAP) + tall / 2 - 6}px`;
    });
    columnLabels.forEach((label, column) => {
      label.style.left = `${LEFT + column * (side + GAP)}px`;
      label.style.width = `${side}px`;
      label.style.top = "2px";
    });
  });
}
