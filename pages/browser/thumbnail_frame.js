import { element } from "../../viz/canvas.js";

const LONGEST = 120_000; // the most milliseconds until a slide's small picture is there

const missed = new Set(); // slides whose small pictures did not come in time

/**
 * Make missing small pictures of slides, one after the other, in a hidden frame that shows the slide.
 * @param {any} root the element that contains the frame
 * @param {{ thumbnail: string }[]} slides
 * @param {Map<string, string>} images the small pictures that exist
 * @param {() => void} again called when a picture does not come in time
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

/** Return whether this page is in the hidden frame: there it must not change the talk or send messages. */
export function isUnseen() {
  return window.frameElement?.className === "unseen";
}
