// How numbers are written, and round ones along an axis.

const DECIMALS = 3; // of a displayed number, everywhere the same

/**
 * A number to some decimals with a true minus. A positive one reads as 0 only if it is 0; a signed
 * one has a plus, and if it is negative neither does it.
 */
export function written(number, signed = false, digits = DECIMALS) {
  const text = Math.abs(number).toFixed(digits);
  if (Number(text) === 0) return number > 0 || (signed && number < 0) ? `<${(10 ** -digits).toFixed(digits)}` : text;
  return (number < 0 ? "\u2212" : signed ? "+" : "") + text;
}

/** How much a number grew, from both as they are written, so that they add up on screen. */
export function difference(before, after) {
  const [first, second] = [before, after].map((number) => Number(number.toFixed(DECIMALS)));
  return written(second - first, true);
}

/** Round numbers between two others, about `count` of them. */
export function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const width = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const values = [];
  for (let at = Math.ceil(low / width); at * width <= high * (1 + 1e-9); at++) values.push(at * width);
  return values;
}

/** A number in as few characters as show four digits, with a true minus. */
export function short(number) {
  const rounded = Number(number.toPrecision(4));
  const text =
    rounded !== 0 && Math.abs(rounded) < 1e-4
      ? rounded.toExponential()
      : rounded.toLocaleString("en", { maximumSignificantDigits: 4 });
  return text.replace("-", "\u2212");
}
