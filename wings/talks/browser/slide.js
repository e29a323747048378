import { begin, element } from "../../../viz/canvas.js";
import { isRunning } from "../../../pages/streamlit_fixes/dom.js";
import { fitToScreen } from "../../../pages/browser/fit.js";
import { speaker } from "../../../pages/browser/speaker.js";
import { thumbnails } from "./thumbnail.js";
import { pageOf, plainTitle, takesKey, turnButton, turning } from "../../../pages/browser/turning.js";

/**
 * @typedef {object} Header
 * @property {string} title
 * @property {boolean} typed whether marks are read in the title: one that a page gave may quote asterisks
 * @property {string} words **bold**, *italic* and line breaks are read
 * @property {number} number of the slide, from 1
 * @property {number} count
 * @property {number} asked the number of the turn that asked for it, from 1
 * @property {boolean} alone whether there are no pictures
 * @property {number} size share of the largest size at which its pictures fit
 * @property {string} notes only for the speaker
 * @property {{ title: string, typed: boolean, pictures: string[], thumbnail: string } | null} coming the next slide in the speaker's window
 * @property {boolean} live whether its scene can be opened on its page
 * @property {string} kept name under which the browser keeps thumbnails
 * @property {Record<string, string>} controls by key: the selector of the control that it clicks
 * @property {{ name: string, words: string }[]} keys all that can be pressed, for the help sheet
 */

const LIVE = -1; // in place of a slide's number: its scene, on its page
const AGAIN = 3000; // milliseconds after which a slide is asked for again

// The slide that was asked for and has not loaded, 0 for none, or LIVE; the number of the last turn; and
// the newest way to ask. It is not kept on an element, which the page may replace in between.
const turn = { wanted: undefined, asks: undefined, timer: 0, root: undefined, answer: undefined };

/**
 * Write a slide's words, turn slides by keys and buttons, and fit them to the screen.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { asked, ...slide } = header;
  root.forget?.();
  // The slide asked for last may be ahead of the one that has loaded.
  if (turn.asks === undefined || asked > turn.asks) turn.asks = asked;
  if (turn.asks === asked) turn.wanted = undefined;
  Object.assign(turn, { root, answer });
  if (turn.wanted !== undefined) askLater();
  let at = turn.wanted > 0 ? turn.wanted : header.number;

  const notice = element("span", "notice", "", { role: "status" });
  const cover = element("div", "cover"); // takes the clicks when the talk is left
  cover.hidden = !isLeft();
  const turns = turning(root, {
    ...header,
    at: () => at,
    go,
    acts: { x: header.live ? goLive : () => false },
    tell: (words) => (notice.textContent = words),
    speaker: (press) => speaker(speakerSees(header), press),
    escape: (place) => !takesKey(place, "Escape", root.points) && stop(),
  });
  turns.bar.prepend(notice);
  if (header.live) turns.bar.append(turnButton("Live", "Open this scene live (x)", goLive));
  turns.bar.append(
    turnButton("✎", "Speaker's window", turns.openNotes),
    turnButton("×", "Leave the talk", stop),
  );
  root.replaceChildren(pageOf(header, header.alone), turns.bar, turns.black, cover, turns.help);
  turns.show();

  function go(to) {
    const next = Math.max(1, Math.min(header.count, to));
    if (next === at || isLeft()) return;
    at = next;
    turns.show();
    want(next);
  }
  function stop() {
    if (document.fullscreenElement) document.exitFullscreen();
    leaveFor(0);
    return true;
  }
  function goLive() {
    if (!isLeft()) leaveFor(LIVE);
  }
  function leaveFor(place) {
    cover.hidden = false;
    document.activeElement?.blur(); // the page that comes has no ring around all of it
    want(place);
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

/** What the speaker's window shows of a slide. */
function speakerSees(header) {
  const { coming, kept } = header;
  return {
    ...header,
    title: plainTitle(header),
    coming: coming && { ...coming, title: plainTitle(coming) },
    image: thumbnails(kept).get(coming?.thumbnail),
  };
}

/** Whether the page has been asked for that comes when the slides are left. */
function isLeft() {
  return turn.wanted <= 0;
}

function want(slide) {
  turn.wanted = slide;
  turn.asks += 1;
  ask();
}

/** Ask for a slide, 0 for none, until it has loaded: an answer may be lost. */
function ask() {
  turn.answer([turn.wanted, turn.asks]);
  askLater();
}

function askLater() {
  clearTimeout(turn.timer);
  turn.timer = setTimeout(askAgain, AGAIN);
}

/** A slide that is being drawn is not asked for again: that would begin to draw it anew. */
function askAgain() {
  if (turn.wanted === undefined || !turn.root.isConnected) return;
  if (isRunning()) askLater();
  else ask();
}
