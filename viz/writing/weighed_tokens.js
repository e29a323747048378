import { element, icon, scrollable } from "../canvas.js";
import { channels, inkOn } from "../colors.js";
import { written } from "../numbers.js";

const CROSS = "M4 5l1-1 3 3 3-3 1 1-3 3 3 3-1 1-3-3-3 3-1-1 3-3z";

/**
 * Tokens, each over a cell of its own, in lines as text is.
 * @param {string} label
 * @param {string[]} tokens
 * @param {(place: number) => HTMLElement} cell
 * @param {(place: number) => string} [state] the token's further classes
 */
export function weighedTokens(label, tokens, cell, state = () => "") {
  const list = element("div", "weighed-tokens");
  tokens.forEach((token, place) => {
    const made = element("div", `token ${state(place)}`);
    made.append(element("span", "name", token, { title: token }), cell(place));
    list.append(made);
  });
  return scrollable(list, label);
}

/** A weight in its colour, of a table for weights from 0 to 1; a click takes it apart. */
export function weightCell(weight, colors, pick) {
  const cell = element("div", "weight");
  const title = "Click to see how it comes about";
  const button = element("button", "", written(weight), { type: "button", title });
  button.onclick = pick;
  cell.append(button);
  const [red, green, blue] = channels(colors[Math.round(Math.min(1, weight) * 255)]);
  cell.style.background = `rgb(${red},${green},${blue})`;
  cell.style.color = inkOn(red, green, blue);
  return cell;
}

/** In place of the weight of what may not be looked at. */
export function closedCell() {
  const cell = element("div", "closed", "", { title: "closed by the mask" });
  cell.append(icon(CROSS));
  return cell;
}

/** In place of the weight of what is not written yet. */
export function comingCell() {
  return element("div", "coming", "\u00a0", { title: "not written yet" });
}
