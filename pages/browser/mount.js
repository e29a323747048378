import { drawMenuOf } from "./save_menu.js";

const drawn = new WeakMap(); // by the element that holds a part: what was drawn in it last

/** Draw a picture, and the menu that saves it if there is one.
 *
 * The bytes are those of the picture, of its menu, and the number of the latter. A file that was
 * asked for comes with the menu, and leaves the picture as the visitor has it.
 * @param {(part: any) => (() => void) | void} draw
 */
export function mount(draw, part) {
  const { parentElement } = part;
  const { picture, menu } = split(part.data);
  const before = drawn.get(parentElement);
  const now = { picture, menu, undo: before?.undo, saving: before?.saving };
  drawn.set(parentElement, now);
  const onlyMenu = before && equal(before.picture, picture) && !equal(before.menu, menu);
  if (!onlyMenu) now.undo = draw({ ...part, data: picture });
  if (menu.length) now.saving = drawMenuOf(part, menu, now.saving);
  else if (now.saving) {
    now.saving.remove();
    now.saving = undefined;
  }
  return () => {
    if (drawn.get(parentElement) !== now) return; // a later drawing has taken over
    drawn.delete(parentElement);
    now.undo?.();
  };
}

function split(bytes) {
  const end = bytes.length - 4;
  const start = end - new DataView(bytes.buffer, bytes.byteOffset + end, 4).getUint32(0, true);
  return { picture: bytes.subarray(0, start), menu: bytes.subarray(start, end) };
}

function equal(one, other) {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}
