import { element, unpack } from "../../../viz/canvas.js";
import { written } from "../../../viz/numbers.js";
import { all } from "../keyboard.js";
import { marked } from "../marked.js";
import { turnButton } from "../slide.js";
import { fitting, having } from "./live.js";

/**
 * @typedef {object} PictureOfFile
 * @property {string} what it shows
 * @property {string} part that draws it; empty for a still picture
 * @property {number} data its place among the data
 * @property {Record<string, number>} answers what takes its place, by what a click in it answers, as JSON
 * @property {{ data: number, verdicts: string[] } | null} question asked before it is shown: the place of what asks, and what is said of no guess and of each one
 * @property {string} still the address of a still picture, which the file holds; empty otherwise
 */

/**
 * @typedef {object} SlideOfFile
 * @property {string} title
 * @property {string} words **bold**, *italic* and line breaks are read
 * @property {string} notes for the speaker alone
 * @property {number} size share of the largest size at which its pictures fit
 * @property {PictureOfFile[]} pictures
 * @property {string} footer what the pictures are of
 * @property {string} missing a sentence on what is not there; empty if all is
 * @property {number | null} map the place of a map without weights, for one head of a grid
 * @property {WithoutHeads | null} heads what each head's absence does
 */

/**
 * @typedef {object} WithoutHeads
 * @property {number} board the place of a map of all heads
 * @property {number} trained the place of what is written with all of them
 * @property {Record<string, number>} off by a kind, a layer and a head, from 0: what is written without it
 * @property {string[]} untried heads, as they are named there, that nobody knows of
 * @property {{ words: string, written: number }[]} masks what is written with other masks
 */

const NOT_HERE =
  "This is not in the file, which holds what was computed when it was saved. Open the talk in Headlight to try it.";
const ONE_ALONE = "The file holds what each head alone does. Choose a single head.";
const SAME = "The model writes the same text.";
const UNTRIED = "What is written without this head is not in the file: there was no time for it.";
const OF_ALL_HEADS = ["switchboard", "head_scores"];
const SELECTING = ["beam_tree", "head_effects"]; // parts that mark what was clicked
const SILENT = ["attention_lines"]; // parts that keep what is clicked to themselves
const JOINED = "So many weights share a dot of this grid that a map of its own cannot be made of them here.";

/**
 * A slide in a frame, which draws its pictures when it is asked to.
 * @param {SlideOfFile} slide
 * @param {number} number from 1
 * @param {{ mount: Function, bytesOf: (place: number) => Uint8Array, tell: (words: string) => void }} talk
 */
export function slideOf(slide, number, { mount, bytesOf, tell }) {
  const alone = !slide.pictures.length && !slide.missing;
  const text = element("p", "words");
  text.append(...marked(slide.words));
  const page = element("div", alone ? "page alone" : "page");
  page.append(element("h1", "", slide.title), text);
  const section = element("section", "", "", { "aria-label": `Slide ${number}` });
  section.append(page);
  const stage = element("div", "stage");
  const middle = element("div", "middle");
  middle.append(stage);
  if (!alone) section.append(middle);
  if (slide.missing) section.append(element("p", "missing", slide.missing));
  const footer = element("p", "footer", slide.footer);
  if (slide.heads) footer.prepend(askButton());
  if (!alone) section.append(footer);
  const back = element("button", "control ask", "Back to what was written", { type: "button" });
  const panel = element("aside", "panel", "", { hidden: "", "aria-label": "More of this slide" });
  section.append(panel);
  const choose = element("button", "choose", "", {
    type: "button",
    hidden: "",
    "aria-label": `Slide ${number}: ${slide.title || "without a title"}`,
  });
  const frame = element("div", "frame waiting", "", { id: `slide-${number}` });
  frame.inert = true;
  frame.append(section, choose);
  let drawing = null;
  let fitted = null;

  function askButton() {
    const button = element("button", "control ask", "Without a head …", { type: "button" });
    button.onclick = () => showHeads();
    return button;
  }
  async function drawAll() {
    for (const picture of slide.pictures) {
      const holder = element("div", "on", "", { "aria-label": picture.what, role: "group" });
      stage.append(holder);
      if (picture.still) {
        holder.append(element("img", "", "", { src: picture.still, alt: picture.what }));
        continue;
      }
      const host = element("div");
      holder.append(host);
      put(host, picture.part, picture.data, picture);
      if (picture.question) askFirst(host, picture.question);
    }
    fitted = fitting(stage, slide.size);
    if (slide.pictures.length) await fitted.begin();
    frame.classList.remove("waiting");
  }
  /** Show a picture once somebody has guessed what it shows, or asks for the answer. */
  function askFirst(host, { data, verdicts }) {
    const asking = element("div", "asking");
    const say = (guess) => {
      const isOpen = guess === null;
      const place = isOpen ? host : middle; // the answer stands above all pictures
      if (asking.nextSibling !== place) place.before(asking);
      host.hidden = isOpen;
      mount(asking, "guess", having(bytesOf(data), { said: isOpen ? "" : verdicts[guess + 1] }), (next) => {
        say(next);
        fitted.fit();
      });
    };
    say(null);
  }
  function put(host, part, from, picture) {
    const isOther = typeof from === "number" && from !== picture.data;
    const answers = isOther ? {} : picture.answers;
    mount(host, part, from, (value, bytes) => answer(host, { ...picture, answers }, value, bytes));
    if (isOther) footer.prepend(back);
    else if (part === "decoding_player") back.remove();
    back.onclick = () => put(host, part, picture.data, picture);
  }
  /** What a click in a picture does, as far as the file can. */
  function answer(host, picture, value, bytes) {
    const { part } = picture;
    const other = picture.answers[JSON.stringify(value)];
    if (SILENT.includes(part)) return;
    if (other !== undefined) put(host, part, other, picture);
    else if (part === "head_grid") {
      put(host, part, having(bytes, { selected: value }), picture);
      showMap(value, bytes);
    } else if (OF_ALL_HEADS.includes(part) && slide.heads) showHeads(value);
    else if (part === "head_effects" && isOfRemovals(bytes)) showHeads(value);
    else if (SELECTING.includes(part)) put(host, part, having(bytes, { selected: value }), picture);
    else if (part !== "decoding_player" || value[1] !== null) tell(NOT_HERE);
  }

  /** Whether a map of all heads shows what each one's removal does, as that of the file. */
  function isOfRemovals(bytes) {
    const measure = (from) => unpack(from).header.measure;
    return slide.heads !== null && measure(bytes) === measure(bytesOf(slide.heads.board));
  }
  /** Open the panel with a heading; returns where it is filled. */
  function open(heading, kind) {
    const body = element("div", "body");
    panel.className = `panel ${kind}`;
    const bar = element("div", "bar");
    bar.append(element("h2", "", heading), turnButton("×", "Close", close));
    panel.replaceChildren(bar, body);
    panel.hidden = false;
    return body;
  }
  function close() {
    panel.hidden = true;
    panel.replaceChildren();
  }
  function hostIn(body) {
    return body.appendChild(element("div"));
  }
  /** One map of a grid in large. */
  function showMap([row, column], bytes) {
    const { header, array } = unpack(bytes);
    const { rows, columns, cells, strongest, queries, keys } = header;
    if (slide.map === null || cells[0] !== queries.length || cells[1] !== keys.length) return tell(JOINED);
    const index = row * columns.length + column;
    const levels = array.subarray(index * cells[0] * cells[1], (index + 1) * cells[0] * cells[1]);
    const largest = Math.max(1, ...levels); // levels may be of this map alone
    const weights = Float32Array.from(levels, (level) => (level / largest) * strongest[index][2]);
    const words = `${rows[row]}, ${columns[column]}`.replace(/^./, (letter) => letter.toUpperCase());
    // Beside the map that was clicked, so that its neighbours can be.
    const body = open(words, column < columns.length / 2 ? "of-map" : "of-map left");
    mount(hostIn(body), "heatmap", having(bytesOf(slide.map), {}, weights));
  }
  /** What the model writes without one head, or with other masks. */
  function showHeads(place = null) {
    if (place?.includes(null)) return tell(ONE_ALONE);
    const { board, trained, off, untried, masks } = slide.heads;
    const body = open("Without a head", "of-heads");
    const [left, right] = [element("div"), element("div")];
    body.append(left, right);
    const boardHost = hostIn(left);
    const drawBoard = (selected) =>
      mount(boardHost, "head_effects", having(bytesOf(board), { selected }), select);
    right.append(element("h3", "", "As trained"));
    mount(hostIn(right), "token_strip", trained);
    const heading = right.appendChild(element("h3", "", "Choose a head, or a mask"));
    const others = element("div", "masks");
    for (const mask of masks) {
      const button = element("button", "control", mask.words, { type: "button" });
      button.onclick = () => {
        drawBoard(null);
        write(`Changed: ${mask.words}`, mask.written);
      };
      others.append(button);
    }
    const result = hostIn(right);
    const note = right.appendChild(element("p", "note"));
    right.append(element("h3", "", "Other masks"), others);
    function write(words, from, more = "") {
      heading.textContent = words;
      mount(result, "token_strip", from);
      note.textContent = [from === trained ? SAME : "", more].filter(Boolean).join(" ");
    }
    function select(chosen) {
      drawBoard(chosen);
      const [name, layer, head] = chosen;
      const { label, effects } = unpack(bytesOf(board)).header.effects.find((kind) => kind.name === name);
      const words = `Without ${label.toLowerCase()}, layer ${layer + 1}, head ${head + 1}`;
      const nats = effects[layer][head];
      const change = `That makes the text as trained ${written(Math.abs(nats))} nats ${nats < 0 ? "less" : "more"} likely.`;
      if (untried.includes(chosen.join())) write(words, trained, `${UNTRIED} ${change}`);
      else write(words, off[chosen.join()] ?? trained, change);
    }
    if (place) select(place);
    else drawBoard(null);
  }

  return {
    frame,
    section,
    choose,
    close,
    /** Draw its pictures, once; resolves when they have taken their size. */
    drawn: () => (drawing ??= drawAll()),
    draw: () => void (drawing ??= drawAll()),
    /** Stop what plays on it. */
    rest: () => all(".transport .play[aria-label=Pause]", frame).forEach((button) => button.click()),
    /** Open what it has on heads; returns whether there is any. */
    ask() {
      if (!slide.heads) return false;
      if (panel.hidden) showHeads();
      else close();
      return true;
    },
  };
}
