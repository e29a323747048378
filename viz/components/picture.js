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

/** Size a canvas to its place on screen, sharp on any display; returns its 2D context. */
function fitCanvas(canvas, width, height) {
  const ratio = (window.devicePixelRatio || 1) * zoomOf(canvas);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

/** Call `render(width)` now and whenever the root's width changes, for this drawing only. */
function onWidth(root, render) {
  root.observer?.disconnect();
  let last = 0;
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
