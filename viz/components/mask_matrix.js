const LARGEST = 30; // pixels of a cell's side
const SMALLEST = 13;
const LABEL = 92; // pixels for the tokens on either side
const SLANT = 28; // pixels that the last slanted token leans over the edge
const WORDS = [
  "blocked",
  "visible",
  "closed by you",
  "opened by you",
]; // in the order of BLOCKED, VISIBLE, CLOSED, OPENED
const [BLOCKED, VISIBLE, CLOSED, OPENED] = [0, 1, 2, 3];

/** Draw which keys each query may see; where editable, clicks, drags and keys change cells. */
export default function draw({ data, parentElement, setTriggerValue }) {
  const { header, array: states } = unpack(data);
  const { queries, keys, editable, label } = header;
  const root = parentElement.querySelector(".mask-matrix");
  if (root.stroke) {
    // A drag under way goes on; its end asks for a new drawing.
    root.pending = { data, parentElement, setTriggerValue };
    return;
  }
  const hadFocus = root.querySelector("canvas:focus") !== null;
  const canvas = element("canvas", editable ? "editable" : "", "", {
    role: editable ? "application" : "img",
    "aria-label": editable
      ? `${label}. Arrow keys move, space closes or opens the cell.`
      : `${label}: ${states.filter((state) => state === VISIBLE || state === OPENED).length} of ` +
        `${states.length} cells visible`,
    ...(editable && { tabindex: "0" }),
  });
  const reading = element("p", "reading", "", { "aria-live": "polite" });
  const sheet = element("div", "sheet");
  sheet.append(canvas);
  scrollable(sheet, "Mask");
  root.replaceChildren(sheet, reading);

  let side = LARGEST;
  let cursor = root.cursor ?? { query: 0, key: 0 };
  const mayBeSeen = (state) => state === VISIBLE || state === OPENED;
  const at = ({ query, key }) => query * keys.length + key;
  const inside = ({ query, key }) =>
    query >= 0 && query < queries.length && key >= 0 && key < keys.length;
  const read = (cell) =>
    (reading.textContent =
      `“${queries[cell.query]}” looking at “${keys[cell.key]}”: ${WORDS[states[at(cell)]]}`);

  function paint(cell) {
    const state = states[at(cell)];
    if (mayBeSeen(state) === root.stroke.opened) return;
    states[at(cell)] = root.stroke.opened
      ? state === CLOSED ? VISIBLE : OPENED
      : state === OPENED ? BLOCKED : CLOSED;
    root.stroke.cells.push([cell.query, cell.key]);
    render();
    read(cell);
  }
  function begin(cell) {
    root.stroke = { opened: !mayBeSeen(states[at(cell)]), cells: [] }; // of the drag under way
    paint(cell);
  }
  function finish() {
    const { stroke, pending } = root;
    root.stroke = root.pending = null;
    if (stroke?.cells.length) answerAll(root, setTriggerValue, stroke);
    else if (pending) draw(pending);
  }
  function cellUnder(event) {
    const { x, y } = pointerIn(canvas, event);
    return {
      query: Math.floor((y - LABEL) / side),
      key: Math.floor((x - LABEL) / side),
    };
  }

  canvas.onpointermove = (event) => {
    const cell = cellUnder(event);
    if (!inside(cell)) return;
    read(cell);
    if (root.stroke) paint(cell);
  };
  if (editable) {
    canvas.onpointerdown = (event) => {
      const cell = cellUnder(event);
      // A finger scrolls the page; it changes a cell by a tap, in onclick.
      if (event.pointerType === "touch" || event.button || !inside(cell)) return;
      event.preventDefault();
      canvas.setPointerCapture(event.pointerId);
      canvas.focus();
      moveTo(cell);
      begin(cell);
    };
    canvas.onpointerup = canvas.onpointercancel = finish;
    canvas.onclick = (event) => {
      const cell = cellUnder(event);
      if (event.pointerType !== "touch" || !inside(cell)) return;
      begin(cell);
      finish();
    };
    canvas.onkeydown = (event) => {
      const step = {
        ArrowUp: [-1, 0],
        ArrowDown: [1, 0],
        ArrowLeft: [0, -1],
        ArrowRight: [0, 1],
      }[event.key];
      if (step) moveTo({ query: cursor.query + step[0], key: cursor.key + step[1] });
      else if (event.key === " " || event.key === "Enter") {
        begin(cursor);
        finish();
      } else return;
      event.preventDefault();
      read(cursor);
    };
    canvas.onfocus = canvas.onblur = () => render();
  }
  function moveTo(cell) {
    if (!inside(cell)) return;
    root.cursor = cursor = cell;
    render();
  }

  function render() {
    const style = getComputedStyle(root);
    const text = style.color;
    const accent = style.getPropertyValue("--st-primary-color") || "#1f6f8b";
    const warning = style.getPropertyValue("--st-orange-text-color") || "#b45309";
    const width = LABEL + side * keys.length + SLANT;
    const context = fitCanvas(canvas, width, LABEL + side * queries.length);
    context.font = `${Math.min(13, side - 1)}px ${style.fontFamily}`;
    drawTokens(context, { rows: queries, columns: keys, side, left: LABEL, top: LABEL, color: text });
    states.forEach((state, index) => {
      const x = LABEL + side * (index % keys.length) + 1;
      const y = LABEL + side * Math.floor(index / keys.length) + 1;
      drawCell(context, state, x, y, side - 2, { text, accent, warning });
    });
    if (editable && canvas.matches(":focus")) {
      context.strokeStyle = text;
      context.lineWidth = 2;
      context.strokeRect(LABEL + side * cursor.key, LABEL + side * cursor.query, side, side);
    }
  }
  if (cursor && !inside(cursor)) cursor = { query: 0, key: 0 };
  if (hadFocus) canvas.focus();
  if (root.cursor) read(cursor);
  return onWidth(root, (width) => {
    side = Math.max(SMALLEST, Math.min(LARGEST, Math.floor((width - LABEL - SLANT) / keys.length)));
    render();
  });
}

/** A visible cell is filled, a blocked one struck through; a changed one has a ring of its own. */
function drawCell(context, state, x, y, size, { text, accent, warning }) {
  const visible = state === VISIBLE || state === OPENED;
  context.globalAlpha = visible ? 0.85 : 0.08;
  context.fillStyle = visible ? accent : text;
  context.fillRect(x, y, size, size);
  context.globalAlpha = visible ? 1 : 0.35;
  if (!visible) {
    context.strokeStyle = text;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x + size * 0.25, y + size * 0.75);
    context.lineTo(x + size * 0.75, y + size * 0.25);
    context.stroke();
  }
  context.globalAlpha = 1;
  if (state !== CLOSED && state !== OPENED) return;
  context.strokeStyle = warning;
  context.lineWidth = 3;
  context.strokeRect(x + 1.5, y + 1.5, size - 3, size - 3);
}
