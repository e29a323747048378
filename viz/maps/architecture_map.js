import { begin, buttonOf, element } from "../canvas.js";
import { arrowOf } from "../pointing.js";
import { follow } from "./head_grid.js";

/**
 * @typedef {object} Header
 * @property {string[][]} stacks the kinds of attention in a layer of each stack, in order
 * @property {Record<string, number>} layers the number of layers of each kind
 * @property {Record<string, string>} labels the name of each kind
 * @property {string} kind the kind of the marked block
 * @property {number | null} layer the layer of the marked block, from 0; null marks all of the kind
 * @property {boolean} linked true if the picture `selected_map` on the same page sets the marked layer
 */

const TALL = 56; // the least height of a stack in pixels
const LEAST = 5; // the least height of a block in pixels

/**
 * Draw the stacks as columns of buttons, the first layer on top; a click sends the block's kind and
 * layer.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { stacks, layers, labels, kind, layer, linked } = header;
  const blocks = stacks.map((kinds, stack) =>
    Array.from({ length: layers[kinds[0]] }, (_, number) =>
      kinds.map((one) => {
        const name = `${labels[one]}, layer ${number + 1}`;
        const named = { title: name, "aria-label": name, "data-kind": one };
        const button = buttonOf("block", "", () => answer([one, number]), named);
        button.onkeydown = (event) => move(event, button, stack);
        return { button, kind: one, layer: number };
      }),
    ).flat(),
  );
  const focused = root.querySelector(".block:focus")?.title;
  const high = Math.max(TALL, LEAST * Math.max(...blocks.map((stack) => stack.length)));
  root.style.setProperty("--high", `${high}px`);
  root.replaceChildren(
    ...blocks.flatMap((stack, number) => [
      ...(number ? [element("span", "memory", "", { "aria-hidden": "true" })] : []),
      columnOf(stack, stacks[number]),
    ]),
  );

  function select(shown) {
    for (const { button, kind: one, layer: number } of blocks.flat()) {
      const pressed = one === kind && (shown === null || number === shown);
      button.ariaPressed = String(pressed);
      button.tabIndex = -1;
      if (button.title === focused) button.focus();
    }
    const first = root.querySelector('[aria-pressed="true"]') ?? blocks[0][0].button;
    first.tabIndex = 0;
  }

  /** Move the focus up or down in a stack, or to the block at the same height of the other stack. */
  function move(event, from, stack) {
    const arrow = arrowOf(event);
    if (!arrow) return;
    event.preventDefault();
    const at = blocks[stack].findIndex(({ button }) => button === from);
    const other = blocks[stack + arrow.across] ?? [];
    const across = Math.floor(((at + 0.5) / blocks[stack].length) * other.length);
    const next = arrow.across ? other[across] : blocks[stack][at + arrow.down];
    next?.button.focus();
  }

  root.select = (place) => select(place && place[0]);
  select(layer); // marks this layer until the page's `selected_map` calls `root.select`
  return linked ? follow(root) : undefined;
}

function columnOf(stack, kinds) {
  const column = element("span", "stack", stack.map(({ button }) => button));
  const name = element("span", "name", kinds.includes("encoder") ? "encoder" : "decoder");
  return element("span", "side", [name, column]);
}
