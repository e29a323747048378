import { answering, begin, buttonOf, element, icon, unpack } from "../../viz/canvas.js";
import { paper } from "../streamlit_fixes/dom.js";
import { canvasOf, download, embedFonts, pngOf } from "./dots.js";
import { figureRow, printed, scaleTo, widen, withDots } from "./figure.js";
import { filmRow } from "./film.js";
import { addressOf, formatRow, frameOf, slideCopies } from "./for_slides.js";
import { toSvg } from "./to_svg.js";

/**
 * @typedef {object} Header
 * @property {string} name the name of the files, without an ending
 * @property {string} caption
 * @property {string} what names the picture for screen readers
 * @property {string[]} formats
 * @property {string[]} made_here formats that are made in the browser
 * @property {string[]} copies ways of copying the picture for slides, see for_slides.js
 * @property {string} key the picture's key in addresses
 * @property {string | null} of the CSS selector of a chart; null for a picture
 * @property {{ format: string, number: number }} [file] a file that was requested; its bytes are in the array
 */

const LABELS = { pdf: "PDF (print)" };
const WORDS = {
  png: "the picture as dots, in the size chosen below",
  svg: "the picture as lines and texts, sharp at any size",
  pdf: "the picture as lines and texts, by the browser's print dialog: choose “Save as PDF” there",
  html: "a web page with only this picture, which needs no network",
  csv: "the numbers, for spreadsheets",
  npz: "the numbers, for numpy",
  json: "the scene, which a talk can load",
};
const COLORS = ["ink", "paper", "accent", "warm", "red", "green", "blue"]; // the names of the colours in canvas.css
const CHARTS = ".svg-container, .vega-embed"; // the charts of Plotly and of Vega
const ICON = "M8 1v9M4.5 7 8 10.5 11.5 7M2 11v3h12v-3";

/**
 * Draw the menu of a chart that another library draws; `drawMenuOf` draws the menu of a picture.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  const chart = () => document.querySelector(header.of)?.querySelector(CHARTS);
  drawMenu(root, { header, array }, mount.setTriggerValue, chart);
}

/** Draw the menu of a picture into the picture's element; returns the element of the menu. */
export function drawMenuOf({ parentElement, setTriggerValue }, bytes, drawn) {
  const root = drawn ?? parentElement.appendChild(element("div", "save-menu"));
  drawMenu(root, unpack(bytes), setTriggerValue, () => parentElement.querySelector(".picture"));
  return root;
}

/** Draw a button with a menu that saves a picture; the app makes the formats not in `made_here`. */
function drawMenu(root, { header, array }, setTriggerValue, picture) {
  if (header.file && header.file.number !== root.number) {
    root.number = header.file.number;
    const { format } = header.file;
    if (root.copying) root.give(new TextDecoder().decode(array));
    else download(new Blob(format === "html" ? [array, colorsOf(root)] : [array]), `${header.name}.${format}`);
  }
  const words = JSON.stringify([header.name, header.caption, header.formats]);
  root.ask = answering(root, setTriggerValue, "wanted");
  if (root.words === words) return;
  root.words = words;

  const opener = buttonOf("control open", [icon(ICON), "Save"], () => show(choices.hidden), {
    "aria-label": `Save: ${header.what}`,
    "aria-expanded": "false",
  });
  const said = element("p", "name", `${header.name}.*`, { "aria-live": "polite" });
  const copies = slideCopies(header.copies, copy);
  const film = filmRow({ picture, header, ask: (asked) => root.ask(asked), download });
  const formats = formatRow(header.formats, LABELS, WORDS, async (format) => {
    try {
      await save(format);
      show(false);
    } catch (error) {
      said.textContent = error.message;
    }
  });
  const figure = figureRow();
  figure.element.hidden = !header.made_here.includes("png");
  const content = [formats, figure.element, film.element, copies.element, element("p", "caption", header.caption), said];
  const choices = element("div", "choices", content, { role: "group", "aria-label": "Save as" });
  const show = (open) => {
    const { activeElement, host } = root.getRootNode();
    const back = !open && choices.contains(activeElement);
    choices.hidden = !open;
    if (open) film.update();
    if (open) figure.update();
    if (open) choices.scrollIntoView({ block: "nearest" });
    opener.ariaExpanded = String(open);
    root.classList.toggle("open", open);
    host.style.zIndex = open ? "50" : ""; // puts an open menu above the pictures below it
    if (back) opener.focus();
  };
  root.onkeydown = (event) => {
    if (event.key === "Escape") show(false);
    event.stopPropagation(); // letters typed here must not act as shortcuts of the page
  };
  root.onfocusout = (event) => {
    if (event.relatedTarget && !root.contains(event.relatedTarget)) show(false);
  };
  show(false);
  root.replaceChildren(opener, choices);

  root.give = (text) => {
    const frame = () => frameOf(text + colorsOf(root), header.what, there().offsetHeight);
    copies.give(root.copying === "frame" ? frame() : text);
    root.copying = "";
  };

  async function save(format) {
    root.copying = "";
    if (!header.made_here.includes(format)) return root.ask(format);
    if (format === "html") return download(new Blob([page()], { type: "text/html" }), `${header.name}.html`);
    const { text, scale, mm } = figure.chosen();
    const svg = toSvg(there(), header.what, { caption: header.caption, title: header.what, none: "" }[text], true);
    if (format === "png") {
      const png = await pngOf(await canvasOf(svg, mm ? scaleTo(svg, mm) : scale));
      return download(mm ? await withDots(png) : png, `${header.name}.png`);
    }
    if (format === "pdf") {
      await embedFonts(svg);
      return printed(svg, mm, header.name);
    }
    if (mm) widen(svg, mm);
    download(new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" }), `${header.name}.svg`);
  }

  function copy(name) {
    if (name === "address") return copies.give(addressOf(root, header.key));
    root.copying = name;
    if (name === "component") return root.ask(name);
    if (!header.of) return root.ask("html");
    // A chart is copied as a still picture, because its library is too large to paste.
    root.give(page());
  }

  function there() {
    const shown = picture();
    if (!shown) throw new Error("The picture is no longer on the page.");
    return shown;
  }

  function page() {
    return pageOf(new XMLSerializer().serializeToString(toSvg(there(), header.what, header.caption)), header.what);
  }
}

/** Return a <style> element with the colours of this page's pictures, for a saved page. */
function colorsOf(root) {
  const style = getComputedStyle(root);
  const colors = COLORS.map((name) => `--${name}: ${style.getPropertyValue(`--${name}`)};`);
  return `<style>:root{${colors.join("")}}</style>`;
}

/** Return the HTML of a page that shows an SVG. */
function pageOf(svg, title) {
  const page = document.implementation.createHTMLDocument(title);
  const charset = page.createElement("meta");
  charset.setAttribute("charset", "utf-8");
  page.head.prepend(charset);
  page.body.style.cssText = `margin: 24px; background: ${getComputedStyle(paper()).backgroundColor}`;
  page.body.append(page.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true));
  return `<!doctype html>${page.documentElement.outerHTML}`;
}
