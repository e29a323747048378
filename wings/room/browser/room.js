import { begin, buttonOf, element } from "../../../viz/canvas.js";

/**
 * @typedef {object} Header
 * @property {string} path of the room on this server
 * @property {string} key of the lecturer
 * @property {string} address that a phone opens
 * @property {string} code
 * @property {string} asks the question, if nothing else on the screen shows it
 * @property {string[]} options
 * @property {number} number of the question
 * @property {number} side how many squares a row of the QR code has; the array has 1 for each dark square, else 0
 */

const EVERY = 500; // milliseconds between two requests
const FEW = 4; // so many bars have room, also those of options that nobody has guessed
const LARGEST_SHARE = 100; // the length of the longest bar, in percent of the space for bars

/**
 * Show how to enter a room, how many of its phones have guessed, and, once the guesses are
 * closed, how often each option was guessed.
 * @param {import("../../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { header, array, root } = begin(mount);
  root.stop?.();
  const said = element("p", "count", "", { role: "status" });
  const close = buttonOf("control close-guesses", "Show the guesses", () => ask("close", { method: "POST" }));
  const keep = buttonOf("control", "CSV", () => saveCounts(header, latest));
  const [bars, buttons] = [element("div", "bars"), element("p", "buttons", [close, keep])];
  const enter = element("p", "enter", ["Open ", element("b", "", header.address), " or scan the code."]);
  const own = element("p", "asks", header.asks);
  const large = element("dialog", "large", [codeOf(header, array), element("p", "", header.address)]);
  const code = buttonOf("enlarge", [codeOf(header, array)], () => large.showModal(), { title: "Enlarge the code" });
  large.onclick = () => large.close();
  large.onkeydown = (event) => (event.preventDefault(), event.stopPropagation(), large.close()); // Escape must not leave the talk
  root.replaceChildren(code, element("div", "", [enter, own, said, buttons]), bars, large);
  let latest = { number: -1, counts: [], right: [], closed: false };
  let isOpen = true;

  async function ask(path, more = {}) {
    const headers = { "x-room-key": header.key };
    try {
      const answer = await fetch(`${header.path}/${path}`, { headers, cache: "no-store", ...more });
      const state = await answer.json();
      if (isOpen) show(answer.ok ? state : { ...latest, said: state.said });
    } catch {
      if (isOpen) show({ ...latest, said: "No connection to the room." });
    }
  }

  function show(state) {
    latest = state;
    said.textContent = state.said ?? `${state.guesses} of ${state.phones} ${state.phones === 1 ? "phone has" : "phones have"} guessed`;
    close.hidden = state.closed || !header.options.length;
    const areNew = bars.hidden;
    keep.hidden = bars.hidden = !state.closed || state.number !== header.number;
    if (!bars.hidden) bars.replaceChildren(...barsOf(header, state));
    if (areNew && !bars.hidden) bars.scrollIntoView({ block: "nearest" });
  }

  async function follow() {
    if (!isOpen) return;
    await ask("count");
    setTimeout(follow, EVERY);
  }
  follow();
  root.stop = () => (isOpen = false);
  return () => {
    root.stop();
    ask("leave", { method: "POST", keepalive: true }); // phones wait until the question is shown again
  };
}

/** Return a bar for every option that was guessed or is right, or for all if they are few, the most frequent first. */
function barsOf({ options }, { counts, right }) {
  const most = Math.max(1, ...counts);
  const places = options.map((_, place) => place).filter((place) => options.length <= FEW || counts[place] || right.includes(place));
  places.sort((one, other) => counts[other] - counts[one] || one - other);
  if (!places.length) return [element("p", "", "Nobody has guessed.")];
  return places.map((place) => {
    const bar = element("span", "bar", "", { style: `width: ${(LARGEST_SHARE * counts[place]) / most}%` });
    const name = element("span", "option", `${options[place]}${right.includes(place) ? " ✓" : ""}`, { title: options[place] });
    const className = right.includes(place) ? "guessed right" : "guessed";
    return element("div", className, [name, element("span", "room-for-bar", [bar]), element("span", "times", `${counts[place]}`)]);
  });
}

/** Return the QR code of the room's address, dark on white in every theme. */
function codeOf({ address, side }, modules) {
  const quiet = 4; // the width of the white margin that QR readers need, in squares
  const canvas = element("canvas", "code", "", { role: "img", "aria-label": `QR code of ${address}` });
  canvas.width = canvas.height = side + 2 * quiet;
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = "#000";
  modules.forEach((dark, at) => dark && context.fillRect(quiet + (at % side), quiet + Math.floor(at / side), 1, 1));
  return canvas;
}

/** Save how often each option was guessed as a CSV file. */
function saveCounts({ options, code, number }, { counts, right }) {
  const cell = (text) => `"${safe(text).replaceAll('"', '""')}"`;
  const rows = options.map((option, place) => [cell(option), counts[place], right.includes(place) ? 1 : 0].join(","));
  const text = ["option,guesses,right", ...rows].join("\r\n");
  const link = element("a", "", "", { download: `room ${code} question ${number}.csv` });
  link.href = URL.createObjectURL(new Blob([`\ufeff${text}\r\n`], { type: "text/csv" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Return a text such that a spreadsheet does not take it for a formula. */
function safe(text) {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
