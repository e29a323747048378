import { arrowOf, begin, element } from "../canvas.js";
import { follow } from "./head_grid.js";

/**
 * @typedef {object} Header
 * @property {string[][]} stacks the kinds of attention in a layer of each stack, in order
 * @property {Record<string, number>} layers how many there are of each kind
 * @property {Record<string, string>} labels what each kind is called
 * @property {string} kind the one that is shown
 * @property {number | null} layer the one that is shown, from 0; null for all of the kind
 * @property {boolean} linked whether a `selected_map` says which layer is shown
 */

const TALL = 56; // pixels of a stack of few layers
const LEAST = 5; // pixels of a layer of many

/**
 * Draw the stacks as columns of buttons, the first layer on top; a click answers with a block.
 * @param {import("../canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { stacks, layers, labels, kind, layer, linked } = header;
  const blocks = stacks.map((kinds, stack) =>
    Array.from({ length: layers[kinds[0]] }, (_, number) =>
      kinds.map((one) => {
        const name = `${labels[one]}, layer ${number + 1}`;
        const shape = { type: "button", title: name, "aria-label": name, "data-kind": one };
        const button = element("button", "block", "", shape);
        button.onclick = () => answer([one, number]);
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

  /** Up and down a stack, and across to the block of the other one that stands as high. */
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
  select(layer); // until more is known
  return linked ? follow(root) : undefined;
}

function columnOf(stack, kinds) {
  const column = element("span", "stack");
  column.append(...stack.map(({ button }) => button));
  const made = element("span", "side");
  made.append(element("span", "name", kinds.includes("encoder") ? "encoder" : "decoder"), column);
  return made;
}
