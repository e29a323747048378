// Round numbers along an axis, and how they are written.

/** Round numbers between two others, about `count` of them. */
export function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const width = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let at = Math.ceil(low / width); at * width <= high * (1 + 1e-9); at++) found.push(at * width);
  return found;
}

/** A number in as few signs as tell it to four digits, with a true minus. */
export function short(number) {
  const rounded = Number(number.toPrecision(4));
  const text =
    rounded !== 0 && Math.abs(rounded) < 1e-4
      ? rounded.toExponential()
      : rounded.toLocaleString("en", { maximumSignificantDigits: 4 });
  return text.replace("-", "\u2212");
}

/** A dot on a canvas. */
export function dot(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}
