// The colours of pictures: those of the page's theme, and scales that give numbers their colours.

/** Return the value that a colour of canvas.css, such as "accent", has at an element. */
export function themeColor(root, name) {
  return getComputedStyle(root).getPropertyValue(`--${name}`);
}

/**
 * A scale: evenly spaced hex colours. A scale for numbers below and above 0 has a version for a light
 * background and one for a dark background.
 * @typedef {string[] | { light: string[], dark: string[] }} Scale
 */

/**
 * Return the colours of a scale that suit the background of an element.
 * @param {Scale} scale
 * @returns {string[]}
 */
export function scaleOn(root, scale) {
  if (Array.isArray(scale)) return scale;
  return isOnDark(root) ? scale.dark : scale.light;
}

/** Return whether the background of an element is so dark that white letters are easier to read. */
export function isOnDark(root) {
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = themeColor(root, "paper"); // a context turns any colour into a hex colour
  const paper = new Uint8Array(colorTable([context.fillStyle, context.fillStyle]).buffer);
  return inkOn(paper[0], paper[1], paper[2]) === "#fff";
}

/** Return 256 RGBA colours, each a 32-bit number, interpolated between the colours of a scale. */
export function colorTable(scale) {
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

/** Return the red, green and blue of a colour from a `colorTable`. */
export function channels(color) {
  return [color & 255, (color >> 8) & 255, (color >> 16) & 255];
}

/** Return black or white, whichever is easier to read on a colour: WCAG 2, relative luminance. */
export function inkOn(red, green, blue) {
  const [r, g, b] = [red, green, blue].map((value) => {
    const share = value / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}
