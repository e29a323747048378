import { begin, element } from "../../../viz/canvas.js";
import { isRunning } from "../../../pages/streamlit_fixes/dom.js";
import { fitToScreen } from "../../../pages/browser/fit.js";
import { speaker } from "../../../pages/browser/speaker.js";
import { thumbnails } from "./thumbnail.js";
import { pageOf, plainTitle, takesKey, turnButton, turning } from "../../../pages/browser/turning.js";

/**
 * @typedef {object} Header
 * @property {string} title
 * @property {boolean} typed true if a person typed the title: only then asterisks in it are formatting
 * @property {string} words the slide's words, in which **bold**, *italic* and line breaks are formatting
 * @property {string[]} question a question followed by its answers; empty if the slide has none
 * @property {number} number the number of the slide, from 1
 * @property {number} count the number of slides
 * @property {number} asked the number of the last request to turn that the app has carried out
 * @property {boolean} alone true if there are no pictures
 * @property {number} size the size of the pictures, as a share of the largest size that fits
 * @property {string} notes notes that only the speaker sees
 * @property {{ title: string, typed: boolean, pictures: string[], thumbnail: string } | null} coming the next slide, for the speaker's window
 * @property {boolean} live true if the slide's page can be opened with the slide's choices
 * @property {string} kept the name under which the browser keeps thumbnails
 * @property {Record<string, string>} controls by key: the CSS selector of the control that the key clicks
 * @property {{ name: string, words: string }[]} keys all keys, for the help sheet
 */

const LIVE = -1; // sent in place of a slide's number to open the slide's page with the slide's choices
const AGAIN = 3000; // milliseconds after which a request for a slide is sent again

// `wanted` is the requested slide that has not loaded: its number, 0 to leave the talk, or LIVE. `asks`
// counts the requests. Both are kept in the module, because the page may replace the element.
const turn = { wanted: undefined, asks: undefined, timer: 0, root: undefined, answer: undefined };

/**
 * Write a slide's words, turn slides by keys and buttons, and fit the slide to the screen.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { asked, ...slide } = header;
  root.forget?.();
  // Show the slide that was requested last, even if the app has only drawn an earlier one so far.
  if (turn.asks === undefined || asked > turn.asks) turn.asks = asked;
  if (turn.asks === asked) turn.wanted = undefined;
  Object.assign(turn, { root, answer });
  if (turn.wanted !== undefined) askLater();
  let at = turn.wanted > 0 ? turn.wanted : header.number;

  const notice = element("span", "notice", "", { role: "status" });
  const cover = element("div", "cover"); // catches clicks while the talk is being left
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
    document.activeElement?.blur(); // otherwise the page that comes next would have a focus ring around it
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

/** Return the data of a slide and of the next one that the speaker's window shows. */
function speakerSees(header) {
  const { coming, kept } = header;
  return {
    ...header,
    title: plainTitle(header),
    coming: coming && { ...coming, title: plainTitle(coming) },
    image: thumbnails(kept).get(coming?.thumbnail),
  };
}

/** Return whether this window has sent the request to leave the slides for a page. */
function isLeft() {
  return turn.wanted <= 0;
}

function want(slide) {
  turn.wanted = slide;
  turn.asks += 1;
  ask();
}

/** Send the request for a slide, and repeat it until the slide has loaded, because a message may be lost. */
function ask() {
  turn.answer([turn.wanted, turn.asks]);
  askLater();
}

function askLater() {
  clearTimeout(turn.timer);
  turn.timer = setTimeout(askAgain, AGAIN);
}

/** Send the request again, but not while the app is drawing, because that would make the app start over. */
function askAgain() {
  if (turn.wanted === undefined || !turn.root.isConnected) return;
  if (isRunning()) askLater();
  else ask();
}
