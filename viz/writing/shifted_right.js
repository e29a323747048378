import { begin, element, icon, scrollable } from "../canvas.js";
import { written } from "../numbers.js";

/**
 * @typedef {object} Header
 * @property {string[]} read
 * @property {string[]} wanted
 * @property {string[]} favourites
 * @property {boolean[]} same whether the wanted token is the favourite
 */

const ARROW = "M3 2l7 7V4h3v9H4v-3h5L2 3z"; // down to the right

/**
 * Write the target, itself shifted right, and how likely the model finds each of its tokens.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const { read, wanted, favourites } = header;
  const values = new Float32Array(array.buffer);
  const probabilities = values.subarray(0, read.length);
  const highest = values.subarray(read.length);

  const body = element("table", "");
  const row = (name, className, cells) => {
    const made = element("tr", className);
    made.append(element("th", "", name, { scope: "row" }), ...cells);
    body.append(made);
  };
  row("is to write", "wanted", wanted.map((token) => element("td", "", token)));
  row(
    "reads",
    "read",
    read.map((token, place) => {
      const cell = element("td", "");
      if (place > 0) {
        const arrow = element("span", "arrow");
        arrow.append(icon(ARROW));
        cell.append(arrow);
      }
      cell.append(element("span", "", token));
      return cell;
    }),
  );
  row(
    "probability",
    "probability",
    wanted.map((token, place) => {
      const cell = element("td", "", "", { title: `“${token}”` });
      const column = element("span", "column");
      const fill = { style: `height: ${100 * probabilities[place]}%` };
      column.append(element("span", "fill", "", fill));
      cell.append(column, element("span", "", written(probabilities[place])));
      return cell;
    }),
  );
  row(
    "finds likeliest",
    "favourite",
    favourites.map((token, place) => {
      const other = !header.same[place];
      const cell = element("td", other ? "other" : "same");
      cell.append(
        element("span", "token", other ? token : "the same"),
        element("span", "", written(highest[place])),
      );
      return cell;
    }),
  );
  root.replaceChildren(body);
  scrollable(root, "The target, and itself shifted right");
}
