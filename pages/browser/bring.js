import { sheetsOf } from "../../viz/canvas.js";
import { themeColor } from "../../viz/colors.js";
import { canShow } from "./needs.js";
import { tend } from "./page.js";
import { drawMenuOf } from "./save_menu.js";

const drawn = new WeakMap(); // for the element around each part: a record of its last drawing

/** Define `window[name]`, the function that draws a part of a page, and begin to watch the page.
 * @param {string} name
 * @param {Record<string, { draw: (part: any) => (() => void) | void, sheets: string[], isOfAModel: boolean }>} parts
 * @param {Record<string, string>} styles
 */
export function bring(name, parts, styles) {
  if (!canShow()) return;
  const sheetOf = sheetsOf(styles);
  window[name] = (key, part) => {
    part.parentElement.adoptedStyleSheets = parts[key].sheets.map(sheetOf);
    return mount(parts[key].draw, part, parts[key].isOfAModel);
  };
  dispatchEvent(new Event(name));
  tend();
}

/** Draw a picture, and its save menu if it has one.
 *
 * `part.data` holds the bytes of the picture, the bytes of its menu, and the menu's length. If only
 * the menu has changed, for example because a requested file has come, the picture is not drawn
 * again. A picture of a model is also kept if neither its bytes nor its background has changed,
 * unless it has sent a value to the server: then it is drawn again, as the server sent it.
 * @param {(part: any) => (() => void) | void} draw
 * @param {boolean} isOfAModel true for a picture of a model, false for another part of a page
 */
function mount(draw, part, isOfAModel) {
  const { parentElement } = part;
  const { picture, menu } = split(part.data);
  const before = drawn.get(parentElement);
  const root = parentElement.querySelector(".picture");
  const paper = isOfAModel && themeColor(root, "paper"); // the background colour, which differs between the themes
  const now = { picture, menu, root, paper, part, answered: false, undo: before?.undo, saving: before?.saving };
  drawn.set(parentElement, now);
  const isSame = before?.root === root && equal(before.picture, picture);
  const stays = isSame && isOfAModel && !before.answered && before.paper === paper;
  const onlyMenu = isSame && !equal(before.menu, menu);
  if (!stays && !onlyMenu) now.undo = draw({ ...part, data: picture, ...answers(parentElement) });
  if (menu.length) now.saving = drawMenuOf(part, menu, now.saving);
  else if (now.saving) {
    now.saving.remove();
    now.saving = undefined;
  }
  return () => {
    if (drawn.get(parentElement) !== now) return; // a later drawing has replaced this one
    drawn.delete(parentElement);
    now.undo?.();
  };
}

/** Return the functions by which a picture sends values to the server, through its newest `part`. */
function answers(parentElement) {
  const by = (way) => (name, value) => {
    const now = drawn.get(parentElement);
    if (!now) return; // the picture has left the page
    now.answered = true;
    now.part[way](name, value);
  };
  return { setTriggerValue: by("setTriggerValue"), setStateValue: by("setStateValue") };
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
