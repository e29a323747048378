// What a test sees of a page, in pixels of the window and through shadow roots, whatever the
// browser's own way of measuring below CSS zoom.

const all = (selector, root = document) =>
  [...root.querySelectorAll("*")].flatMap((node) => [
    ...(node.matches(selector) ? [node] : []),
    ...(node.shadowRoot ? all(selector, node.shadowRoot) : []),
  ]);
const above = (node) => node.parentElement ?? node.getRootNode().host;

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
/** What is wrong with a slide: parts out of sight, cut, over one another, small or blurred. */
function faultsOfSlide(stage, footer) {
  const root = seen(".frame.now, .stApp")[0];
  const pictures = root.querySelector(stage);
  const [words, foot] = [seen(".slide .words, .slide h1"), seen(footer)].map((nodes) => nodes.map((node) => boxOf(node)));
  const top = Math.max(0, ...words.map(({ bottom }) => bottom));
  const bottom = Math.min(innerHeight, ...foot.map((box) => box.top));
  const faults = [];
  const look = (name, box, least, most, nodes) => {
    const outside = box.left < -1 || box.right > innerWidth + 1 || box.top < least - 1 || box.bottom > most + 1;
    if (outside) faults.push(`${name} is not in its place: ${boxText(box)} of ${least} to ${most}`);
    for (const clip of nodes.filter((node) => getComputedStyle(node).overflow !== "visible").map((node) => boxOf(node))) {
      const isCut = box.left < clip.left - 2 || box.right > clip.right + 2 || box.top < clip.top - 2 || box.bottom > clip.bottom + 2;
      if (isCut) faults.push(`${name} is cut: ${boxText(box)} by ${boxText(clip)}`);
    }
  };
  const [least, most] = [(part) => (within(part, pictures) ? top : 0), (part) => (within(part, pictures) ? bottom : innerHeight)];
  for (const part of all("*", root).filter(isSeen)) {
    const parents = parentsOf(part);
    for (const text of [...part.childNodes].filter((node) => node.nodeType === 3 && node.data.trim())) {
      const range = document.createRange();
      range.selectNodeContents(text);
      look(`“${text.data.trim()}”`, boxOf(range, part), least(part), most(part), parents);
      const size = parseFloat(getComputedStyle(part).fontSize) * scaleOf(part);
      if (size < SMALLEST - 0.05) faults.push(`“${text.data.trim()}” has ${size.toFixed(1)} px`);
    }
    if (!part.matches("canvas, img")) continue;
    look(part.outerHTML, boxOf(part), least(part), most(part), parents);
    if (part.matches("canvas") && Math.abs(part.width - boxOf(part).width * devicePixelRatio) > 2)
      faults.push(`${part.outerHTML} is blurred: shown ${Math.round(boxOf(part).width)} wide`);
  }
  if (pictures && !seen(".stPlotlyChart, .picture", "").length) faults.push("no picture");
  return faults;
}
const parentsOf = (node) => (node ? [...parentsOf(above(node)), node] : []);
const within = (node, holder) => holder !== null && parentsOf(node).includes(holder);
const boxText = ({ left, top, right, bottom }) => [left, top, right, bottom].map(Math.round).join(" ");
/** How much of an element's width and height its parts take, all together. */
function shareOf(holder, parts) {
  const outer = boxOf(all(holder)[0]);
  const boxes = all(parts, all(holder)[0]).map((node) => boxOf(node));
  const span = (from, to) => Math.max(...boxes.map((box) => box[to])) - Math.min(...boxes.map((box) => box[from]));
  return [span("left", "right") / outer.width, span("top", "bottom") / outer.height];
}
