import { begin } from "../canvas.js";
import { link } from "./head_grid.js";

/**
 * @typedef {object} Header
 * @property {[number, number] | null} place a layer and a column, from 0
 */

let latest; // the newest drawing: the grids show the map that it selects

/**
 * Tell the linked grids which map is selected, and send the map that is clicked in them.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, answer } = begin(mount);
  const drawing = (latest = {});
  link(header.place, answer);
  return () => {
    if (latest === drawing) link();
  };
}
