// The speaker's window, which stays open even if the talk's tab reloads. Tab and window exchange
// messages over a channel whose name only they know.

import { isUnseen } from "./thumbnail_frame.js";

const ID = "headlight-speaker"; // the key under which a tab keeps the name of its channel
const CLOCK = 500; // milliseconds between two updates of the clock

/**
 * The data of a slide that the speaker's window shows.
 * @typedef {object} Told
 * @property {string} title
 * @property {string} notes
 * @property {number} number
 * @property {number} count
 * @property {{ title: string, pictures: string[] } | null} coming the next slide
 * @property {string} [image] a small picture of the next slide
 */

/**
 * Show a slide in the speaker's window, if it is open, and receive the keys pressed there.
 * @param {Told} told
 * @param {(key: string) => void} press
 */
export function speaker(told, press) {
  const id = idOfTab();
  const channel = new BroadcastChannel(id);
  channel.onmessage = ({ data }) => {
    if (data.key) press(data.key);
    else if (data.asks) channel.postMessage({ told });
  };
  channel.postMessage({ told });
  return {
    open: () => openWindow(id, (page) => write(page, id)),
    end: () => channel.close(),
    /** Tell the window that no slide is shown any more. */
    leave() {
      const last = new BroadcastChannel(id);
      last.postMessage({ told: null });
      last.close();
    },
  };
}

/**
 * Make the speaker's window of a talk that is saved as a file: it needs no channel, because the page of
 * the talk does not reload.
 * @param {() => Told} tell returns the data of the slide that is shown
 * @param {(key: string) => void} press
 */
export function speakerOfFile(tell, press) {
  let channel;
  const send = () => channel?.onmessage({ data: { told: tell() } });
  return {
    send,
    open: () =>
      openWindow(ID, (page) => {
        channel = { postMessage: ({ key }) => (key ? press(key) : send()), onmessage: null };
        run(page, channel, CLOCK);
      }),
  };
}

/** Return the name of this tab's channel, which stays the same after a reload. */
function idOfTab() {
  if (isUnseen()) return `${ID}-unseen`;
  try {
    const id = sessionStorage.getItem(ID) ?? `${ID}-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
    sessionStorage.setItem(ID, id);
    return id;
  } catch {
    return ID;
  }
}

/** Open the speaker's window or bring it to the front; returns false if the browser blocks it. */
function openWindow(name, fill) {
  const opened = window.open("", name, "popup,width=900,height=620");
  if (!opened) return false;
  const page = opened.document;
  if (!page.querySelector("main")) {
    page.title = "Speaker: Headlight";
    page.documentElement.lang = "en";
    const sheet = new opened["CSSStyleSheet"]();
    sheet.replaceSync(STYLE);
    page.adoptedStyleSheets = [sheet];
    fill(page);
  }
  opened.focus();
  return true;
}

/** Give the window's document a script that keeps running when the talk's tab is reloaded. */
function write(page, id) {
  const script = page.createElement("script");
  const channel = `new BroadcastChannel(${JSON.stringify(id)})`;
  const code = `(${run})(document, ${channel}, ${CLOCK});`; // loaded as a file, since inline scripts may not run
  script.src = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  page.body.append(script);
}

/** Run the speaker's window. The function's source is copied there, so it uses nothing defined outside it. */
function run(page, channel, every) {
  const make = (tag, className, text = "") => {
    const made = page.createElement(tag);
    made.className = className;
    made.textContent = text;
    return made;
  };
  const button = (text, name, onclick) => {
    const made = make("button", "", text);
    made.title = made.ariaLabel = name;
    made.onclick = onclick;
    return made;
  };
  /** Return a text with **bold** and *italic* as nodes; this copied code cannot call the one in turning.js. */
  const marked = (text) => {
    const parts = text.split(/\*\*(?=\S)([^\n]*?\S)\*\*|\*(?=[^\s*])([^\n*]*?[^\s*])\*/);
    const nodes = parts.map((part, at) => (at % 3 && part ? make(at % 3 === 1 ? "strong" : "em", "", part) : part));
    return nodes.filter(Boolean);
  };
  const press = (key) => channel.postMessage({ key });
  let start = Date.now();
  let began = "opening";

  const clock = make("span", "clock");
  const passed = make("span", "passed");
  const number = make("span", "number");
  const bar = make("header", "");
  bar.append(
    clock,
    passed,
    button("Reset", "Restart the timer", reset),
    number,
    button("‹", "Previous slide", () => press("ArrowLeft")),
    button("›", "Next slide", () => press("ArrowRight")),
  );
  const title = make("h1", "");
  const notes = make("p", "notes");
  const coming = make("p", "coming");
  const image = make("img", "");
  image.alt = "";
  const main = make("main", "");
  main.translate = false;
  main.append(bar, title, notes, coming, image);
  page.body.append(main);

  function reset() {
    start = Date.now();
    began = "Reset";
    tick();
  }
  const two = (value) => String(value).padStart(2, "0");
  function tick() {
    const now = new Date();
    const seconds = Math.floor((now.getTime() - start) / 1000);
    clock.textContent = `${two(now.getHours())}:${two(now.getMinutes())}`;
    passed.textContent = `${two(Math.floor(seconds / 60))}:${two(seconds % 60)} since ${began}`;
  }
  channel.onmessage = ({ data }) => {
    if (!("told" in data)) return;
    const { told } = data;
    number.textContent = told ? `${told.number} of ${told.count}` : "";
    title.textContent = told ? told.title || "No title" : "No slide is shown";
    notes.replaceChildren(...marked(told ? told.notes || "No notes for this slide." : ""));
    const next = told?.coming;
    const pictures = next?.pictures.length ? ` (${next.pictures.join(", ")})` : "";
    coming.textContent = !told ? "" : next ? `Next: ${next.title}${pictures}` : "This is the last slide.";
    image.hidden = !told?.image;
    if (told?.image) image.src = told.image;
  };
  page.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.matches("button")) return;
    const keys = ["ArrowRight", "ArrowLeft", "PageDown", "PageUp", "Home", "End", " ", "b", ".", "n", "p"];
    if (!keys.includes(event.key)) return;
    event.preventDefault();
    press(event.key);
  });
  page.defaultView.setInterval(tick, every);
  tick();
  channel.postMessage({ asks: true });
}

const STYLE = `
:root { color-scheme: light dark; font: 18px system-ui, sans-serif; }
body { margin: 0; }
main { display: flex; flex-direction: column; min-height: 100vh; box-sizing: border-box; padding: 16px 24px; }
header { display: flex; flex-wrap: wrap; gap: 8px 18px; align-items: center; font-variant-numeric: tabular-nums; }
.clock, .passed { font-size: 26px; }
.clock { font-weight: 700; }
.number { margin-left: auto; }
button { min-width: 40px; min-height: 34px; font: inherit; }
h1 { margin: 18px 0 8px; font-size: 22px; overflow-wrap: anywhere; }
.notes { flex: 1; margin: 0; font-size: 24px; line-height: 1.4; white-space: pre-wrap; overflow-wrap: anywhere; }
img { align-self: start; height: min(32vh, 240px); margin-top: 8px; border: 1px solid; border-radius: 4px; }
[hidden] { display: none; }
.coming { margin: 16px 0 0; padding-top: 10px; border-top: 1px solid; opacity: 0.75; overflow-wrap: anywhere; }
`;
