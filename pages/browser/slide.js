import { begin, element } from "../../viz/canvas.js";
import { fitToScreen } from "./fit.js";
import { speaker } from "./speaker.js";
import { pageOf, takesKey, turnButton, turning } from "./turning.js";

/**
 * @typedef {object} Header
 * @property {string} title
 * @property {string} words **bold**, *italic* and line breaks are read
 * @property {number} number of the slide, from 1
 * @property {number} count
 * @property {number} asked the number of the turn that asked for it, from 1
 * @property {boolean} alone whether there are no pictures
 * @property {number} size share of the largest size at which its pictures fit
 * @property {string} notes only for the speaker
 * @property {{ title: string, pictures: string[] } | null} coming the next slide in the speaker's window
 * @property {Record<string, string>} controls by key: the selector of the control that it clicks
 * @property {{ name: string, words: string }[]} keys all that can be pressed, for the help sheet
 */

const AGAIN = 3000; // milliseconds after which a slide is asked for again

/**
 * Write a slide's words, turn slides by keys and buttons, and fit them to the screen.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { asked, ...slide } = header;
  root.forget?.();
  // The slide asked for last may be ahead of the one that has loaded.
  if (root.asks === undefined || asked > root.asks) root.asks = asked;
  if (root.asks === asked) root.wanted = undefined;
  let at = root.wanted || header.number;

  const notice = element("span", "notice", "", { role: "status" });
  const cover = element("div", "cover"); // takes the clicks when the talk is left
  cover.hidden = root.wanted !== 0;
  const turns = turning(root, {
    ...header,
    at: () => at,
    go,
    tell: (words) => (notice.textContent = words),
    speaker: (press) => speaker(header, press),
    escape: (place) => !takesKey(place, "Escape", root.points) && stop(),
  });
  turns.bar.prepend(notice);
  turns.bar.append(
    turnButton("✎", "Speaker's window", turns.openNotes),
    turnButton("×", "Leave the talk", stop),
  );
  root.replaceChildren(pageOf(header, header.alone), turns.bar, turns.black, cover, turns.help);
  turns.show();

  function go(to) {
    const next = Math.max(1, Math.min(header.count, to));
    if (next === at || root.wanted === 0) return;
    at = next;
    turns.show();
    want(next);
  }
  function stop() {
    cover.hidden = false;
    if (document.fullscreenElement) document.exitFullscreen();
    want(0);
    return true;
  }
  function want(slide) {
    root.wanted = slide;
    root.asks += 1;
    ask();
  }
  /** Ask for a slide, 0 for none, until it has loaded: an answer may be lost. */
  function ask() {
    clearTimeout(root.asking);
    answer([root.wanted, root.asks]);
    root.asking = setTimeout(askAgain, AGAIN);
  }
  /** A slide that is being drawn is not asked for again: that would begin to draw it anew. */
  function askAgain() {
    if (root.wanted === undefined || !root.isConnected) return;
    if (!document.querySelector("[data-test-script-state=running]")) return ask();
    root.asking = setTimeout(askAgain, AGAIN);
  }
  const stopFitting = fitToScreen(root, slide);
  root.forget = () => {
    turns.end();
    turns.told.end();
    stopFitting();
  };
  return () => {
    root.forget();
    turns.told.leave();
  };
}
