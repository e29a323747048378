import { begin, element } from "../../viz/canvas.js";

/**
 * @typedef {object} Header
 * @property {string} title
 * @property {string} words
 * @property {number} number of the slide, from 1
 * @property {number} count
 * @property {string} style CSS for the page as long as the slide is shown
 * @property {boolean} passing whether to ask for it again if it is still there after a while
 */

const STAGE = { width: 1280, height: 720 }; // pixels that slides are laid out for
const SMALLEST = 0.7; // of that, on a phone, where slides may scroll
const STEPS = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1 };
const SETTLED = 300; // milliseconds after which pictures have taken their size
const PATIENCE = 8000; // milliseconds that a slide asked for may take to come
const DRESSED = 1500; // milliseconds that the page stays as it is between two slides
const SHRINK = 0.95;
const FITS = [1, 0.5]; // largest and smallest size of pictures that do not fit at their own

/**
 * Write a slide's words, turn slides by keys and buttons, and fit them to the screen.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, root, answer } = begin(mount);
  const { title, words, number, count } = header;
  const style = document.documentElement.style;
  const main = document.querySelector("[data-testid=stMain]");
  root.forget?.();
  window.headlightDeafen?.();
  dress(header.style); // last: forgetting the slide before undresses the page
  let gone = false; // keys are heard until the next slide listens
  let at = number; // runs ahead of the page while the next slide is on its way

  const back = turnButton("‹", "Previous slide", () => go(at - 1));
  const on = turnButton("›", "Next slide", () => go(at + 1));
  const leave = turnButton("×", "Leave the talk", stop);
  const counter = element("span", "counter", "", { "aria-live": "polite" });
  const turn = element("div", "turn", "", { role: "group", "aria-label": "Slides" });
  turn.append(back, counter, on, leave);
  const black = element("div", "black");
  black.hidden = true;
  black.onclick = () => (black.hidden = true);
  root.replaceChildren(element("h1", "", title), element("p", "words", words), turn, black);
  show();
  // What was asked for while the page changed did not arrive, and is asked for again.
  const { wanted = number, until } = window.headlightSlide ?? {};
  window.headlightSlide = undefined;
  if (wanted !== number && performance.now() < until) {
    if (wanted) go(wanted);
    else stop();
  }

  function go(to) {
    const next = Math.max(1, Math.min(count, to));
    if (next === at) return;
    at = next;
    show();
    ask(at);
  }
  function stop() {
    dress("");
    window.headlightDeafen();
    ask(0);
    // What is done next is on the page, and may be to present again.
    const forget = () => (window.headlightSlide = undefined);
    for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, forget, { once: true, capture: true });
  }
  /** Ask for a slide, or for the page without one. */
  function ask(wanted) {
    window.headlightSlide = { wanted, until: performance.now() + PATIENCE };
    if (!gone) answer(wanted);
  }
  function show() {
    counter.textContent = `${at} / ${count}`;
    back.disabled = at === 1;
    on.disabled = at === count;
  }

  function onKey(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const place = event.composedPath()[0];
    if (takesKey(place, key)) return;
    if (key === "b" || key === "B" || key === ".") black.hidden = !black.hidden;
    else if (key === "Escape" && !black.hidden) black.hidden = true;
    else if (key === "Escape") stop();
    else if (key in STEPS) go(at + STEPS[key]);
    else if (key === "Home") go(1);
    else if (key === "End") go(count);
    else return;
    event.preventDefault();
  }

  /** Going on to another page leaves two entries of one slide; going back passes the first over. */
  function onPop() {
    if (new URLSearchParams(location.search).get("talk") !== String(number)) return;
    history.back();
  }

  function scale() {
    const fitting = Math.min(innerWidth / STAGE.width, innerHeight / STAGE.height);
    style.setProperty("--slide-scale", Math.max(SMALLEST, fitting));
    check();
  }
  let waiting = null;
  function check() {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const fit = Number(style.getPropertyValue("--slide-fit") || 1);
      if (document.querySelector("[data-test-script-state=running]")) return check();
      const overflows = main.scrollHeight > main.clientHeight + 1;
      if (!overflows || innerWidth < STAGE.width / 2 || fit * SHRINK < FITS[1]) return;
      style.setProperty("--slide-fit", fit * SHRINK);
      check();
    }, SETTLED);
  }
  if (root.number !== number) style.setProperty("--slide-fit", FITS[0]);
  root.number = number;
  const observer = new ResizeObserver(check);
  observer.observe(main.firstElementChild);
  addEventListener("resize", scale);
  addEventListener("popstate", onPop);
  document.addEventListener("keydown", onKey);
  window.headlightDeafen = () => document.removeEventListener("keydown", onKey);
  scale();
  const passing =
    header.passing && setTimeout(() => answer(number), DRESSED);
  root.forget = () => {
    gone = true;
    undress();
    clearTimeout(passing);
    clearTimeout(waiting);
    observer.disconnect();
    removeEventListener("resize", scale);
    removeEventListener("popstate", onPop);
  };
  return root.forget;
}

/** Put a style on the whole page. */
function dress(style) {
  clearTimeout(window.headlightUndress);
  const name = "headlight-slide";
  const worn = document.getElementById(name) ?? element("style", "", "", { id: name });
  worn.textContent = style;
  document.head.append(worn);
}

/** Take it off and hear no more keys, but not while the next slide is on its way. */
function undress() {
  clearTimeout(window.headlightUndress);
  window.headlightUndress = setTimeout(() => {
    dress("");
    window.headlightDeafen();
  }, DRESSED);
}

function turnButton(text, name, onclick) {
  const button = element("button", "", text, { type: "button", "aria-label": name, title: name });
  button.onclick = onclick;
  return button;
}

/** Whether what has the focus needs a key for itself: any in a text box, some in a button. */
function takesKey(place, key) {
  if (place.isContentEditable || place.matches?.("textarea, select")) return true;
  if (place.matches?.("input")) return place.type !== "range" || !key.startsWith("Page");
  return key === " " && place.matches?.("button, [role=button], summary, [tabindex='0']");
}
