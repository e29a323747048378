import { buttonOf, element } from "../../viz/canvas.js";
import { DECK_KEYS, passKeysOn } from "../../viz/deck_keys.js";
import { copied, sceneLink } from "./link.js";

const LABELS = {
  frame: "Frame",
  component: "Component",
  address: "Address",
};
const WORDS = {
  frame: "an iframe with the picture, for reveal.js, Quarto, Slidev and any other page; needs no network",
  component: "a line of HTML with a custom element, for a page that lets scripts run; needs no network",
  address: "the address at which this app shows only this picture, with everything you can click, for an iframe",
};
const FOR_WHICH =
  "Frame: for reveal.js, Quarto and Slidev. Component: for a web page with scripts. Address: for an iframe, while this app runs. For PowerPoint, save a PNG or SVG.";
const COPIED = "Copied: paste it into the HTML of a slide.";
const BY_HAND = "Press Ctrl or ⌘ and C to copy it.";
const WAITING = "…";
const PATIENCE = 15_000; // milliseconds after which the menu says that the app has not answered
const NO_ANSWER = "The app has not answered yet. Try again, or reload the page.";
const ROOM = 90; // pixels of a frame's height for the caption
const TALLEST = 560; // the largest height of a frame in pixels, so that it fits under a slide's title

/** Make a row with a button for each format, with its label and its description. */
export function formatRow(formats, labels, words, pick) {
  const buttons = formats.map((format) =>
    buttonOf("control format", labels[format] ?? format.toUpperCase(), () => pick(format), { title: words[format] }),
  );
  return element("div", "formats", buttons);
}

/**
 * Make the buttons that copy a picture for slides made elsewhere; returns their `element`, and
 * `give`, which copies a text or, if the browser refuses, shows it to be copied by hand.
 */
export function slideCopies(names, copy) {
  const said = element("p", "name", "", { "aria-live": "polite" });
  const box = element("textarea", "", "", { readonly: "", rows: 3, "aria-label": "To be copied", hidden: "" });
  const pick = (name) => {
    said.textContent = WAITING;
    setTimeout(() => said.textContent === WAITING && (said.textContent = NO_ANSWER), PATIENCE);
    box.hidden = true;
    try {
      copy(name);
    } catch (error) {
      said.textContent = error.message;
    }
  };
  const row = formatRow(names, LABELS, WORDS, pick);
  const content = [element("p", "", "Copy for slides"), row, element("p", "for-which", FOR_WHICH), said, box];
  const root = element("div", "copies", content, { role: "group", "aria-label": "Copy for slides" });
  async function give(text) {
    const done = await copied(text);
    said.textContent = done ? COPIED : BY_HAND;
    box.hidden = done;
    if (done) return;
    box.value = text;
    box.focus();
    box.select();
  }
  return { element: root, give };
}

/** Return the HTML of an iframe that contains a page, and passes the keys that turn slides on to the deck. */
export function frameOf(page, title, height) {
  const frame = element("iframe", "", "", { title, loading: "lazy", style: "border:0;width:100%" });
  frame.setAttribute("height", String(Math.min(Math.ceil(height) + ROOM, TALLEST)));
  const script = `(${passKeysOn})(${JSON.stringify(DECK_KEYS)});(${fitInFrame})()`;
  frame.setAttribute("srcdoc", `${page}<script>${script}</script>`);
  return frame.outerHTML;
}

/**
 * Keep a picture small enough for its frame. This is one function, because its source text is put
 * into the frame.
 *
 * A picture that gets less high when it gets narrower is made narrower, and its letters keep their
 * size. Other pictures are scaled.
 */
function fitInFrame() {
  const edge = 24; // pixels
  const tries = 4;
  const frames = 3; // a picture has its new size after this many frames were drawn
  const enough = 0.995; // a picture fits if it has this share of the room that it needs, since sizes are rounded
  /** @type {HTMLElement | null} */
  const picture = document.querySelector("#picture, body > svg");
  let isFitting = false;
  document.body.style.display = "flow-root"; // makes the body's height include the margins of its content
  async function fit() {
    if (isFitting) return;
    isFitting = true;
    await drawn();
    await fitted();
    isFitting = false;
  }
  async function drawn() {
    for (let frame = 0; frame < frames; frame++) await new Promise(requestAnimationFrame);
  }
  async function fitted() {
    const box = () => picture.getBoundingClientRect();
    const room = () => (innerHeight - edge - box().top) / box().height;
    const set = (width, scale) => {
      Object.assign(picture.style, { width: `${width}px`, transform: `scale(${scale})`, transformOrigin: "0 0" });
      picture.style.marginBottom = `${box().height * (1 - 1 / scale)}px`; // removes the empty room below a picture that was scaled down
      return drawn();
    };
    if (room() >= enough) return;
    let width = parseFloat(getComputedStyle(picture).width);
    await set(width, 1);
    for (let again = 0; picture.id && room() < 1 && again < tries; again++) {
      const before = room();
      await set(width * before, 1);
      if (room() <= before) break;
      width *= before;
    }
    await set(width, 1);
    if (room() < 1) await set(width, room());
  }
  addEventListener("resize", fit);
  new ResizeObserver(fit).observe(picture);
}

/** Return the address at which this app shows only the picture that has this key. */
export function addressOf(root, key) {
  const link = new URL(sceneLink(root));
  link.searchParams.set("embed", "true");
  link.searchParams.set("alone", key);
  return link.href;
}
