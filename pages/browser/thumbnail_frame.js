import { element } from "../../viz/canvas.js";

const LONGEST = 120_000; // milliseconds that a slide may take

const missed = new Set(); // slides whose small pictures do not come

/**
 * Have missing small pictures made, one after the other: a frame that nobody sees shows the slides.
 * @param {any} root the element that holds the frame
 * @param {{ thumbnail: string }[]} slides
 * @param {Map<string, string>} images the small pictures that exist
 * @param {() => void} again called when one does not come
 */
export function drawMissing(root, slides, images, again) {
  const isMissing = ({ thumbnail }) => thumbnail && !images.has(thumbnail) && !missed.has(thumbnail);
  const place = slides.findIndex(isMissing);
  const of = slides[place]?.thumbnail;
  if (of === root.drawing) return;
  root.drawing = of;
  clearTimeout(root.waiting);
  root.frame?.remove();
  if (!of) return;
  const src = `./?talk=${place + 1}&ready_talk=own`;
  root.frame = element("iframe", "unseen", "", { src, inert: "", tabindex: "-1", "aria-hidden": "true" });
  root.append(root.frame);
  root.waiting = setTimeout(() => {
    missed.add(of);
    again();
  }, LONGEST);
}

/** Whether this page is such a frame: it shows slides, and neither changes the talk nor tells of them. */
export function isUnseen() {
  return window.frameElement?.className === "unseen";
}
