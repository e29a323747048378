const DECIMALS = 3; // of a number that is read, the same everywhere

/** A number to some decimals with a true minus, with a plus too if it is signed; 0 has no sign. */
export function written(number, signed = false, digits = DECIMALS) {
  const text = Math.abs(number).toFixed(digits);
  const sign = Number(text) === 0 ? "" : number < 0 ? "\u2212" : signed ? "+" : "";
  return sign + text;
}
