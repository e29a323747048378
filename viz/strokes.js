// Draw shapes that several pictures share.

const SPACED = 1.1; // the distance between slanted tokens, as a multiple of the size of letters

/**
 * Write the tokens of a matrix: those of the rows on the left, those of the columns slanted above.
 *
 * The closer the columns are, the steeper their tokens are, so that they do not touch. `firstRow`
 * and `firstColumn` are where the first row and column begin, if the matrix is scrolled.
 */
export function drawTokens(context, given) {
  const { rows, columns, side, left, top, color, firstRow = top, firstColumn = left } = given;
  context.fillStyle = color;
  context.textBaseline = "middle";
  context.textAlign = "right";
  rows.forEach((token, row) => {
    context.fillText(token, left - 8, firstRow + side * (row + 0.5), left - 10);
  });
  context.textAlign = "left";
  const [letters] = /[\d.]+(?=px)/.exec(context.font);
  const slope = Math.max(Math.PI / 3, Math.asin(Math.min(1, (SPACED * Number(letters)) / side)));
  columns.forEach((token, column) => {
    context.save();
    context.translate(firstColumn + side * (column + 0.5), top - 8);
    context.rotate(-slope);
    context.fillText(token, 0, 0, top - 6);
    context.restore();
  });
}

/** Return the width in pixels of the widest text, in the font of a context. */
export function widestOf(context, texts) {
  return Math.max(...texts.map((text) => context.measureText(text).width));
}

/** Draw a line between two points on a canvas. */
export function line(context, from, to) {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}

/** Draw a blocked cell: grey, with a cross in its middle. */
export function cross(context, x, y, side, color) {
  context.globalAlpha = 0.15;
  context.fillStyle = color;
  context.fillRect(x, y, side, side);
  context.globalAlpha = 0.6;
  context.strokeStyle = color;
  context.lineWidth = 1;
  const [from, to] = [side * 0.35, side * 0.65];
  context.beginPath();
  context.moveTo(x + from, y + from);
  context.lineTo(x + to, y + to);
  context.moveTo(x + to, y + from);
  context.lineTo(x + from, y + to);
  context.stroke();
  context.globalAlpha = 1;
}

/** Draw a dot on a canvas. */
export function dot(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

/** Draw the outline of a circle on a canvas. */
export function ring(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
}
