// What every browser part shares. A part's own file follows and exports `draw`.

/** Read a picture: the length of a JSON header, the header, and the bytes of an array. */
function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return { header, array: bytes.slice(4 + length) };
}

/** Make an element with a class, a text and attributes; a text is never read as markup. */
function element(tag, className, text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const LOAD = Math.random(); // tells the clicks of this page from those before a reload
const RECENT = 5000; // milliseconds
let clicks = 0;

/** Answer with the clicks of the last seconds: of two quick ones Streamlit may forget the first. */
function answerAll(root, setTriggerValue, value) {
  const time = performance.now();
  const recent = (root.answers ?? []).filter((answer) => time - answer.time < RECENT);
  root.answers = [...recent, { time, number: ++clicks, value }];
  const answers = root.answers.map((answer) => [answer.number, answer.value]);
  setTriggerValue("picked", { load: LOAD, answers });
}

/** 256 RGBA colours, one 32-bit number each, between the evenly spaced hex colours of a scale. */
function colorTable(scale) {
  const stops = scale.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const table = new Uint8ClampedArray(256 * 4);
  for (let level = 0; level < 256; level++) {
    const place = (level / 255) * (stops.length - 1);
    const before = Math.min(Math.floor(place), stops.length - 2);
    for (let channel = 0; channel < 3; channel++) {
      const [from, to] = [stops[before][channel], stops[before + 1][channel]];
      table[level * 4 + channel] = from + (to - from) * (place - before);
    }
    table[level * 4 + 3] = 255;
  }
  return new Uint32Array(table.buffer);
}

/** Red, green and blue of a colour from such a table. */
function channels(color) {
  return [color & 255, (color >> 8) & 255, (color >> 16) & 255];
}

/** Black or white, whichever can be read better on a colour: WCAG 2, relative luminance. */
function inkOn(red, green, blue) {
  const [r, g, b] = [red, green, blue].map((value) => {
    const share = value / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}

/** Let a part that scrolls be reached, and so scrolled, by keyboard. */
function scrollable(part, label) {
  part.watch?.disconnect();
  part.watch = new ResizeObserver(() => {
    const scrolls =
      part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight;
    part.toggleAttribute("tabindex", scrolls);
    if (scrolls) part.tabIndex = 0;
  });
  part.watch.observe(part);
  part.setAttribute("role", "group");
  part.setAttribute("aria-label", label);
  return part;
}

/** How much larger than its own pixels an element is shown, as by the zoom of a slide. */
function zoomOf(shown) {
  return shown.currentCSSZoom ?? 1;
}

/** Where in an element, in its own pixels, a pointer is. */
function pointerIn(shown, event) {
  const box = shown.getBoundingClientRect();
  const zoom = zoomOf(shown);
  return { x: (event.clientX - box.left) / zoom, y: (event.clientY - box.top) / zoom };
}

let listen = null; // while a picture is saved: makes a context that notes what is drawn

/** Size a canvas to its place on screen, sharp on any display; returns its 2D context. */
function fitCanvas(canvas, width, height) {
  const ratio = (window.devicePixelRatio || 1) * zoomOf(canvas);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = listen?.(canvas) ?? canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

/** Call `render(width)` now and whenever the root's width changes, for this drawing only.
 *
 * `root.redraw(listener)` draws once more, on the contexts that the listener makes.
 */
function onWidth(root, render) {
  root.observer?.disconnect();
  let last = 0;
  root.redraw = (listener) => {
    listen = listener;
    try {
      if (last) render(last);
    } finally {
      listen = null;
    }
  };
  root.observer = new ResizeObserver(() => {
    const width = Math.floor(root.clientWidth);
    if (width && width !== last) render((last = width));
  });
  root.observer.observe(root);
  return () => root.observer.disconnect();
}

/** Write the tokens of a matrix: of its rows on the left, of its columns slanted above. */
function drawTokens(context, { rows, columns, side, left, top, color }) {
  context.fillStyle = color;
  context.textBaseline = "middle";
  context.textAlign = "right";
  rows.forEach((token, row) => {
    context.fillText(token, left - 8, top + side * (row + 0.5), left - 10);
  });
  context.textAlign = "left";
  columns.forEach((token, column) => {
    context.save();
    context.translate(left + side * (column + 0.5), top - 8);
    context.rotate(-Math.PI / 3);
    context.fillText(token, 0, 0, top - 6);
    context.restore();
  });
}

const SPEEDS = [0.5, 1, 2, 4, 8]; // steps a second

/** Buttons, a slider and a clock that move between steps.
 *
 * `count()` and `place()` tell how many steps there are and which one is shown, `words()` says so,
 * and `go(place)` shows another. Whether it plays and how fast stays on the root, for the drawings to come.
 */
function transport(root, { count, place, words, go, last = "Last step" }) {
  const buttons = {};
  for (const [name, sign, label, act] of [
    ["first", "|◀", "First step", () => move(0)],
    ["back", "◀", "Step back", () => move(place() - 1)],
    ["play", "", "", () => (root.playing ? pause() : play())],
    ["forward", "▶", "Step forward", () => move(place() + 1)],
    ["last", "▶|", last, () => move(count() - 1)],
  ]) {
    const attributes = { type: "button", "aria-label": label, "data-name": name };
    buttons[name] = element("button", `control ${name}`, sign, attributes);
    buttons[name].onclick = act;
  }
  const slider = element("input", "slider", "", {
    type: "range",
    min: 0,
    "aria-label": "Step",
    "data-name": "slider",
  });
  slider.oninput = () => move(Number(slider.value));
  root.speed ??= 1;
  const speed = element("select", "control speed", "", { "aria-label": "Speed", "data-name": "speed" });
  speed.append(...SPEEDS.map((value) => element("option", "", `${value} a second`, { value })));
  speed.value = root.speed;
  speed.onchange = () => {
    root.speed = Number(speed.value);
    if (root.playing) resume();
  };
  const counter = element("span", "counter");
  const controls = element("div", "transport");
  controls.append(...Object.values(buttons), slider, counter, speed);

  function move(to) {
    pause();
    go(Math.max(0, Math.min(count() - 1, to)));
  }
  function play() {
    root.playing = true;
    if (place() === count() - 1) go(0);
    resume();
  }
  function resume() {
    stop();
    if (root.playing) root.clock = setInterval(tick, 1000 / root.speed);
    update();
  }
  function tick() {
    if (!root.isConnected) stop();
    else if (place() < count() - 1) go(place() + 1);
    else pause();
  }
  function pause() {
    root.playing = false;
    stop();
    update();
  }
  function stop() {
    clearInterval(root.clock);
    root.clock = null;
  }
  function update() {
    buttons.play.textContent = root.playing ? "⏸ Pause" : "▶ Play";
    buttons.play.ariaLabel = root.playing ? "Pause" : "Play";
    buttons.first.disabled = buttons.back.disabled = place() === 0;
    buttons.forward.disabled = buttons.last.disabled = place() === count() - 1;
    slider.max = count() - 1;
    slider.value = place();
    counter.textContent = words();
  }
  return { controls, update, pause, resume, stop };
}
