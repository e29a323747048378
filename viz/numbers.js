// Write numbers as text, and choose the round numbers along an axis.

const DECIMALS = 3; // decimals of a number on the screen, the same everywhere

/**
 * Return a number as text with a minus sign (U+2212) and `digits` decimals. A positive number that
 * would round to 0 is written as "<0.001". A `signed` number has a plus above 0, and is written as
 * "<0.001" also if a negative one would round to 0.
 */
export function written(number, signed = false, digits = DECIMALS) {
  const text = Math.abs(number).toFixed(digits);
  if (Number(text) === 0) return number > 0 || (signed && number < 0) ? `<${(10 ** -digits).toFixed(digits)}` : text;
  return (number < 0 ? "\u2212" : signed ? "+" : "") + text;
}

/** Return the difference of two numbers, both rounded as on the screen, so that it fits the numbers shown. */
export function difference(before, after) {
  const [first, second] = [before, after].map((number) => Number(number.toFixed(DECIMALS)));
  return written(second - first, true);
}

/** Return about `count` evenly spaced round numbers between `low` and `high`. */
export function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const width = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const values = [];
  for (let at = Math.ceil(low / width); at * width <= high * (1 + 1e-9); at++) values.push(at * width);
  return values;
}

/** Return a number as text with at most four significant digits. */
export function short(number) {
  const rounded = Number(number.toPrecision(4));
  const text =
    rounded !== 0 && Math.abs(rounded) < 1e-4
      ? rounded.toExponential()
      : rounded.toLocaleString("en", { maximumSignificantDigits: 4 });
  return text.replace("-", "\u2212");
}
