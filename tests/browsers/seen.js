// What a test sees of a page, in pixels of the window and through shadow roots, whatever the
// browser's own way of measuring below CSS zoom.

const all = (selector, root = document) => [
  ...(root.shadowRoot ? all(selector, root.shadowRoot) : []),
  ...[...root.querySelectorAll("*")].flatMap((node) => [
    ...(node.matches(selector) ? [node] : []),
    ...(node.shadowRoot ? all(selector, node.shadowRoot) : []),
  ]),
];
const above = (node) => node.parentElement ?? node.getRootNode().host;

const parentsOf = (node) => (node ? [...parentsOf(above(node)), node] : []);

/** Whether this browser measures boxes below CSS zoom in the zoomed element's own pixels. */
const isLocal = (() => {
  const probe = document.createElement("div");
  probe.style = "position: absolute; width: 10px; zoom: 2";
  document.body.append(probe);
  const { width } = probe.getBoundingClientRect();
  probe.remove();
  return width === 10;
})();
function zoomOf(node) {
  if (!isLocal || !node) return 1;
  return (parseFloat(getComputedStyle(node).zoom) || 1) * zoomOf(above(node));
}
/** The box of an element, or of text in an element. */
function boxOf(node, within = node) {
  const [box, zoom] = [node.getBoundingClientRect(), zoomOf(within)];
  const [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom].map((side) => side * zoom);
  return { left, top, right, bottom, width: right - left, height: bottom - top };
}
/** How much larger than its own pixels an element is shown. */
const scaleOf = (node) => (node.offsetWidth > 40 ? boxOf(node).width / node.offsetWidth : scaleOf(above(node)));

function isSeen(node) {
  const { width, height } = node.getBoundingClientRect();
  return width > 1 && height > 1 && node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
}
const nameOf = (node) => node.getAttribute("aria-label") ?? node.innerText ?? "";
/** Elements in sight, by a selector and words in their name. */
const seen = (selector, words = "") => all(selector).filter((node) => isSeen(node) && nameOf(node).includes(words));
/** Whether a part of the live page has written words. */
const hasWritten = (part, words) => seen(part).some((node) => all(".token-strip", node).some((strip) => strip.innerText.includes(words)));
const hasFocus = (selector) => seen(selector).some((node) => node.getRootNode().activeElement === node);
const wordsOf = (selector) => seen(selector).map((node) => node.innerText);

/** The middle of an element, which is scrolled into the window. */
function placeOf(selector, words = "", at = 0) {
  const node = seen(selector, words).at(at);
  if (!node) return null;
  let box = boxOf(node);
  if (box.top < 0 || box.bottom > innerHeight) node.scrollIntoView({ block: "center", behavior: "instant" });
  box = boxOf(node);
  return [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
}
/** Look whether a click reaches an element. */
function awaitClick(selector, words, at) {
  window.isClicked = false;
  seen(selector, words).at(at).addEventListener("click", () => (window.isClicked = true), { capture: true, once: true });
}
/** Whether it has reached it, or has opened another page here. */
const isClicked = () => window.isClicked !== false;
/** The innermost element at a point of the window. */
function hit(x, y, root = document) {
  const node = root.elementFromPoint(x, y);
  return node?.shadowRoot && node.shadowRoot !== root ? (hit(x, y, node.shadowRoot) ?? node) : node;
}

/** Whether words stand somewhere on the page. */
const says = (words) => [document.body, ...all(".picture")].some((node) => node.innerText.includes(words));
/** Where in the window a cell of a map is, from the sides that its canvas tells. */
function cellOf(selector, row, column, at = 0) {
  const canvas = seen(selector).at(at);
  const box = boxOf(canvas);
  if (box.top < 0 || box.bottom > innerHeight) canvas.scrollIntoView({ block: "center", behavior: "instant" });
  const { left, top, side } = canvas.dataset;
  const [scale, { left: x, top: y }] = [scaleOf(canvas), boxOf(canvas)];
  return [x + scale * (Number(left) + side * (column + 0.5)), y + scale * (Number(top) + side * (row + 0.5))];
}
/** What is read out of the picture of an element. */
const readingOf = (selector, at = 0) =>
  seen(selector).at(at).getRootNode().querySelector(".reading").innerText.trim();
/** What is wrong with a page of the app, whatever it shows. */
function faultsOfPage() {
  const main = document.querySelector("[data-testid=stMain]");
  const root = document.documentElement;
  return [
    ...seen("[data-testid=stException], [data-testid=stAlertContentError]").map((node) => node.innerText),
    ...(root.scrollWidth > innerWidth || main.scrollWidth > main.clientWidth ? ["wider than the window"] : []),
    ...(main.scrollHeight > main.clientHeight && main.offsetWidth - main.clientWidth < 5 ? ["no scroll bar"] : []),
  ];
}

const SMALLEST = 12; // pixels of a letter on a slide
/** What is wrong with a slide: parts out of their place, cut, small or blurred. */
function faultsOfSlide(stage, footer) {
  const root = seen(".frame.now, .stApp")[0];
  const pictures = root.querySelector(stage);
  const [words, foot] = [".slide .words, .slide h1", footer].map((selector) => seen(selector).map((node) => boxOf(node)));
  const top = Math.max(0, ...words.map((box) => box.bottom));
  const bottom = Math.min(innerHeight, ...foot.map((box) => box.top));
  const screen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const room = { ...screen, top, bottom };
  const isWithin = (box, outer, spare) =>
    box.left >= outer.left - spare && box.right <= outer.right + spare && box.top >= outer.top - spare && box.bottom <= outer.bottom + spare;

  return all("*", root).filter(isSeen).flatMap((part) => {
    const parents = parentsOf(part);
    const scale = scaleOf(part);
    const clips = parents.filter((node) => getComputedStyle(node).overflow !== "visible").map((node) => boxOf(node));
    const place = pictures && parents.includes(pictures) ? room : screen;
    const size = parseFloat(getComputedStyle(part).fontSize) * scale;
    const spare = Math.max(3 * scale, size / 5); // of rounded pixels, or around letters
    const texts = [...part.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const faultsIn = (name, box) => {
      if (!isWithin(box, place, 1)) return [`${name} is at ${sides(box)}, out of ${sides(place)}`];
      const clip = clips.find((each) => !isWithin(box, each, spare));
      return clip ? [`${name} is at ${sides(box)}, cut by ${sides(clip)}`] : [];
    };
    const faults = texts.flatMap((text) => {
      const range = document.createRange();
      range.selectNodeContents(text);
      const name = `“${text.data.trim()}”`;
      return [...faultsIn(name, boxOf(range, part)), ...(size < SMALLEST - 0.05 ? [`${name} has ${size.toFixed(1)} px`] : [])];
    });
    if (!part.matches("canvas, img")) return faults;
    const [name, box] = [part.ariaLabel || `a picture ${part.className}`, boxOf(part)];
    const isBlurred = part.matches("canvas") && Math.abs(part.width - box.width * devicePixelRatio) > 2;
    return [...faultsIn(name, box), ...(isBlurred ? [`${name} has ${part.width} dots for ${box.width.toFixed()} px`] : [])];
  });
}
const sides = ({ left, top, right, bottom }) => [left, top, right, bottom].map(Math.round).join(" ");
/** How much of an element's width and height its parts take, all together. */
function shareOf(holder, parts) {
  const outer = boxOf(all(holder)[0]);
  const boxes = all(parts, all(holder)[0]).map((node) => boxOf(node));
  const span = (from, to) => Math.max(...boxes.map((box) => box[to])) - Math.min(...boxes.map((box) => box[from]));
  return [span("left", "right") / outer.width, span("top", "bottom") / outer.height];
}
