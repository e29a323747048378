import { begin, element } from "../../viz/canvas.js";
import { keepOnly, thumbnails } from "./thumbnail.js";

/**
 * @typedef {object} Header
 * @property {{ name: string, title: string, of: string, picture: string, thumbnail: string, opens: boolean }[]} slides
 * @property {number} edited place of the slide whose boxes are open, from 0; -1 for none
 * @property {number} opened place of the slide whose scene is open on its page, from 0; -1 for none
 * @property {string} kept under which the browser keeps small pictures
 * @property {string[]} known slides whose small pictures are still wanted
 */

const CHEVRONS = { up: "M4 10l4-4 4 4", down: "M4 6l4 4 4-4" };
const SVG = "http://www.w3.org/2000/svg";

/**
 * List slides, each with its small picture and what can be done with it.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { slides, edited, opened, kept, known } = header;
  keepOnly(kept, known);
  const images = thumbnails(kept);
  const focused = root.getRootNode().activeElement?.dataset;
  const [name, what] = [focused?.slide, focused?.does];
  root.list ??= root.appendChild(element("ol", "", "", { "aria-label": "Slides" }));
  root.list.replaceChildren(...slides.map(row));
  if (what) find(name, what)?.focus();
  if (root.edited !== edited) root.list.children[edited]?.scrollIntoView({ block: "nearest" });
  root.edited = edited;

  function find(slide, does) {
    return [...root.list.querySelectorAll("button")].find(
      ({ dataset }) => dataset.slide === slide && dataset.does === does,
    );
  }

  function row(slide, place) {
    const made = element("li", place === edited ? "edited" : "", "", { draggable: "true" });
    const ask = (does, more = {}) => answer({ does, slide: slide.name, ...more });
    const move = (to) => {
      if (to >= 0 && to < slides.length && to !== place) ask("move", { to });
    };
    const button = (does, text, label, act = () => ask(does)) => {
      const attributes = { type: "button", "aria-label": `${label}: slide ${place + 1}`, title: label };
      const one = element("button", `control ${does}`, text, attributes);
      Object.assign(one.dataset, { slide: slide.name, does });
      one.onclick = act;
      return one;
    };
    const select = button("edit", "", `Edit “${slide.title}”, ${slide.of}`);
    select.setAttribute("aria-pressed", String(place === edited));
    const title = element("span", "title", slide.title || "No title");
    select.append(element("span", "number", String(place + 1)), picture(slide), title);
    const up = button("up", "", "Move up", () => move(place - 1));
    const down = button("down", "", "Move down", () => move(place + 1));
    up.append(chevron("up"));
    down.append(chevron("down"));
    up.disabled = place === 0;
    down.disabled = place === slides.length - 1;
    const tools = element("div", "tools");
    if (slide.opens) {
      const open = button("open", "Open", "Open its scene, to change it");
      open.setAttribute("aria-pressed", String(place === opened));
      tools.append(open);
    }
    tools.append(
      button("present", "Present", "Present from here"),
      button("duplicate", "Duplicate", "Duplicate"),
      button("remove", "Remove", "Remove"),
      up,
      down,
    );
    made.append(select, tools);
    made.onkeydown = (event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step || !event.altKey) return;
      event.preventDefault();
      move(place + step);
    };
    made.ondragstart = (event) => {
      root.dragged = place;
      event.dataTransfer.setData("text/plain", slide.title);
      event.dataTransfer.effectAllowed = "move";
    };
    made.ondragend = () => {
      root.dragged = undefined;
      mark(null);
    };
    made.ondragover = (event) => {
      if (root.dragged === undefined) return; // a file, or something of another page
      event.preventDefault();
      mark(made, isBelow(event));
    };
    made.ondrop = (event) => {
      if (root.dragged === undefined) return;
      event.preventDefault();
      const [from, gap] = [root.dragged, place + Number(isBelow(event))];
      const to = gap > from ? gap - 1 : gap;
      mark(null);
      if (to !== from) answer({ does: "move", slide: slides[from].name, to });
    };
    const isBelow = (event) => {
      const box = made.getBoundingClientRect();
      return event.clientY > box.top + box.height / 2;
    };
    return made;
  }

  /** Show where a dragged slide would come to stand. */
  function mark(one, below = false) {
    for (const item of root.list.children) {
      item.classList.toggle("above", item === one && !below);
      item.classList.toggle("below", item === one && below);
    }
  }

  function picture({ thumbnail, picture: words }) {
    const frame = element("span", "frame");
    const image = images.get(thumbnail);
    if (image) frame.append(element("img", "", "", { src: image, alt: "", draggable: "false" }));
    else frame.append(element("span", "name", words));
    return frame;
  }
}

function chevron(way) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.appendChild(document.createElementNS(SVG, "path")).setAttribute("d", CHEVRONS[way]);
  return svg;
}
