// Point at the parts of a picture: with a mouse, with the tap of a finger, or with keys.

import { scaleOf } from "./canvas.js";

export const TOUCHED = matchMedia("(hover: none)").matches;
export const POINT_AT = TOUCHED ? "Tap" : "Point at";

const ARROWS = new Map([
  ["ArrowUp", { down: -1, across: 0 }],
  ["ArrowDown", { down: 1, across: 0 }],
  ["ArrowLeft", { down: 0, across: -1 }],
  ["ArrowRight", { down: 0, across: 1 }],
]);

/** Return the direction of an arrow key, and undefined for other keys. */
export function arrowOf(event) {
  return ARROWS.get(event.key);
}

/** Move the focus by an arrow key between buttons in rows of `columns` buttons each. */
export function moveFocus(event, buttons, columns = 0) {
  const arrow = arrowOf(event);
  if (!arrow) return;
  const at = buttons.indexOf(event.target);
  const next = buttons[at + arrow.down * columns + arrow.across];
  if (!next || next === event.target) return;
  event.preventDefault();
  next.focus();
}

/** Call `explain` when an element gets the pointer or the focus, and `leave` when it loses this.
 *
 * An element that appears under a pointer at rest, as on the next slide, is not pointed at. When
 * the pointer leaves, the element that has the keyboard's focus is explained again.
 */
export function onPointing(part, explain, leave = () => {}) {
  let isIn = false;
  part.onpointermove = () => {
    if (!isIn) explain();
    isIn = true;
  };
  part.onpointerleave = () => {
    isIn = false;
    leave();
    const focused = part.getRootNode().activeElement;
    if (focused?.matches(":focus-visible")) focused.onfocus?.();
  };
  part.onfocus = explain;
  part.onblur = leave;
}

/** Return the place of a pointer in an element, in pixels before any enlargement. */
export function pointerIn(shown, event) {
  const box = shown.getBoundingClientRect();
  const scale = scaleOf(shown);
  return { x: (event.clientX - box.left) / scale, y: (event.clientY - box.top) / scale };
}
