import { begin, element, fitCanvas, isStaged, onWidth, roomOf } from "../../viz/canvas.js";

/**
 * @typedef {object} Header
 * @property {string} address
 * @property {number} side the number of modules (squares) in a row; the array has 1 for dark ones
 */

const QUIET = 4; // the white margin that scanners need around the code, in modules
const LARGEST = 420; // the largest width on a page, in pixels
const LEAST = 160; // the smallest width, in pixels
const ADDRESS = 44; // pixels for the address below the code on a slide

/**
 * Draw an address as a QR code, black on white in every theme, as large as there is room for.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const canvas = element("canvas", "", "", { role: "img", "aria-label": `QR code of ${header.address}` });
  const { host, pathname } = new URL(header.address);
  const written = isStaged(root) ? host + pathname.replace(/\/$/, "") : header.address;
  root.replaceChildren(canvas, element("p", "address", written));
  return onWidth(root, (width) => {
    const { height } = roomOf(root);
    const most = isStaged(root) ? height - ADDRESS : LARGEST;
    const all = header.side + 2 * QUIET;
    const wanted = Math.max(LEAST, Math.min(width, most)) / all;
    const module = isStaged(root) ? wanted : Math.max(1, Math.floor(wanted));
    const context = fitCanvas(canvas, module * all, module * all);
    context.fillStyle = "#fff";
    context.fillRect(0, 0, module * all, module * all);
    context.fillStyle = "#000";
    context.beginPath(); // one path, so that no line shows between two modules at any scale
    array.forEach((dark, at) => {
      if (!dark) return;
      const [row, column] = [Math.floor(at / header.side), at % header.side];
      const [left, top] = [module * (QUIET + column), module * (QUIET + row)];
      context.moveTo(left, top);
      context.lineTo(left + module, top);
      context.lineTo(left + module, top + module);
      context.lineTo(left, top + module);
    });
    context.fill();
  });
}
