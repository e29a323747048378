import { buttonOf, element, pack, unpack } from "../../../viz/canvas.js";
import { fitting } from "../fit.js";
import { all } from "../keyboard.js";
import { pageOf, plainTitle, turnButton } from "../turning.js";

/**
 * @typedef {object} PictureOfFile
 * @property {string} what the picture shows, for screen readers
 * @property {string} part the name of the script that draws it; empty for a still picture
 * @property {number} data the index of its bytes in the talk's data
 * @property {{ data: number, verdicts: string[] } | null} question a question asked before the picture is shown: its index in the talk's data, and what is said without a guess and after each guess
 * @property {boolean} waits true if the picture is shown only once all questions of its slide are answered
 * @property {string} still the data URL of a still picture; empty otherwise
 */

/**
 * @typedef {object} SlideOfFile
 * @property {string} title
 * @property {boolean} typed true if somebody typed the title, which may then have **bold** and *italic*; other titles may quote asterisks
 * @property {string} words may have **bold**, *italic* and line breaks
 * @property {string[]} question a question followed by its answers; empty if the slide has none
 * @property {string} notes only for the speaker
 * @property {number} size the size of its pictures, as a share of the largest size at which they fit
 * @property {PictureOfFile[]} pictures
 * @property {string} footer says what the pictures are about
 * @property {string} missing a sentence on missing pictures; empty if there are none
 * @property {number | null} map the index in the talk's data of an empty heatmap, which shows a clicked map of a grid enlarged; null if there is none
 * @property {Record<string, string>} scene the sentence, the head and the changes of the slide, as in a link
 */

const NOT_HERE =
  "This file only has what was computed when it was saved. Open the talk in Headlight to try this.";
const SELECTING = ["beam_tree", "head_effects"]; // pictures that mark the place that was clicked
const SILENT = ["attention_lines", "attention_text"]; // pictures that handle clicks themselves
const JOINED = "This map cannot be enlarged here: in this small picture, several weights share a dot.";

/**
 * Make a slide in a frame. Its pictures are drawn when the returned `draw` or `drawn` is called.
 * @param {SlideOfFile} slide
 * @param {number} number from 1
 * @param {{ mount: Function, bytesOf: (place: number) => Uint8Array, tell: (words: string) => void, ask: ((scene: Record<string, string>) => void) | null }} talk
 */
export function slideOf(slide, number, { mount, bytesOf, tell, ask: asked }) {
  const ask = Object.keys(slide.scene).length ? asked : null;
  const alone = !slide.pictures.length && !slide.missing;
  const stage = element("div", "stage");
  const middle = element("div", "middle", [stage]);
  const footer = element("p", "footer", slide.footer);
  if (ask && slide.pictures.length) footer.prepend(buttonOf("control ask", "Ask the model …", () => ask(slide.scene)));
  const panel = element("aside", "panel", "", { hidden: "", "aria-label": "More of this slide" });
  const missing = slide.missing ? [element("p", "missing", slide.missing)] : [];
  const below = alone ? [] : [middle, ...missing, footer];
  const section = element("section", "", [pageOf(slide, alone), ...below, panel], {
    "aria-label": `Slide ${number}`,
  });
  const name = `Slide ${number}: ${plainTitle(slide) || "without a title"}`;
  const choose = buttonOf("choose", "", null, { hidden: "", "aria-label": name });
  const frame = element("div", "frame waiting", [section, choose], { id: `slide-${number}` });
  frame.inert = true;
  const unanswered = new Set(); // the elements of questions without an answer
  const waiting = []; // the elements of pictures that wait for all answers
  let drawing = null;
  let fitted = null;
  let code = null;

  async function drawAll() {
    for (const picture of slide.pictures) {
      const named = { "aria-label": picture.what, role: "group", "data-part": picture.part };
      const holder = element("div", "on", "", named);
      if (picture.part === "qr_code" && slide.pictures.length > 1) {
        middle.after(holder);
        code = holder;
      } else stage.append(holder);
      if (picture.waits) waiting.push(holder);
      if (picture.still) {
        holder.append(element("img", "", "", { src: picture.still, alt: picture.what }));
        continue;
      }
      const host = hostIn(holder);
      put(host, picture.part, picture.data, picture);
      if (picture.question) askFirst(host, picture.question);
    }
    hideWaiting();
    fitted = fitting(stage, slide.size, code);
    if (slide.pictures.length) await fitted.begin();
    frame.classList.remove("waiting");
  }
  /** Show a picture only after somebody has guessed what it shows, or asked for the answer. */
  function askFirst(host, { data, verdicts }) {
    const asking = element("div", "asking");
    const say = (guess) => {
      const isOpen = guess === null;
      const place = isOpen ? host : middle; // the answer is shown above all pictures
      if (asking.nextSibling !== place) place.before(asking);
      host.hidden = isOpen;
      if (isOpen) unanswered.add(asking);
      else unanswered.delete(asking);
      hideWaiting();
      mount(asking, "guess", having(bytesOf(data), { said: isOpen ? "" : verdicts[guess + 1] }), (next) => {
        say(next);
        fitted.fit();
      });
    };
    say(null);
  }
  function hideWaiting() {
    for (const holder of waiting) holder.hidden = unanswered.size > 0;
  }
  function put(host, part, from, picture) {
    mount(host, part, from, (value, bytes) => answer(host, picture, value, bytes));
  }
  /** React to a click in a picture, as far as this is possible without a server. */
  function answer(host, picture, value, bytes) {
    const { part } = picture;
    if (SILENT.includes(part)) return;
    if (part === "head_grid") {
      put(host, part, having(bytes, { selected: value }), picture);
      showMap(value, bytes);
    } else if (SELECTING.includes(part)) put(host, part, having(bytes, { selected: value }), picture);
    else if (part === "decoding_player" && value[1] === null) return;
    else if (ask) ask(slide.scene);
    else tell(NOT_HERE);
  }

  /** Open the panel with a heading; returns the element to fill. */
  function open(heading, kind) {
    const body = element("div", "body");
    panel.className = `panel ${kind}`;
    const bar = [element("h2", "", heading), turnButton("×", "Close", close)];
    panel.replaceChildren(element("div", "bar", bar), body);
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
  /** Show a map of a grid, enlarged, in the panel. */
  function showMap([row, column], bytes) {
    const { header, array } = unpack(bytes);
    const { rows, columns, cells, strongest, queries, keys } = header;
    if (slide.map === null || cells[0] !== queries.length || cells[1] !== keys.length) return tell(JOINED);
    const index = row * columns.length + column;
    const levels = array.subarray(index * cells[0] * cells[1], (index + 1) * cells[0] * cells[1]);
    const largest = Math.max(1, ...levels); // the byte that means the map's largest weight
    const weights = Float32Array.from(levels, (level) => (level / largest) * strongest[index][2]);
    const words = `${rows[row]}, ${columns[column]}`.replace(/^./, (letter) => letter.toUpperCase());
    // The panel is on the side opposite the clicked map, so that the maps next to it can be clicked.
    const body = open(words, column < columns.length / 2 ? "of-map" : "of-map left");
    mount(hostIn(body), "heatmap", having(bytesOf(slide.map), {}, weights));
  }
  return {
    frame,
    section,
    choose,
    close,
    /** Draw the pictures at the first call; the promise resolves when they have their final sizes. */
    drawn: () => (drawing ??= drawAll()),
    draw: () => void (drawing ??= drawAll()),
    /** Pause the pictures that are playing on the slide. */
    rest: () => all(".transport .play[aria-label=Pause]", frame).forEach((button) => button.click()),
  };
}

/** Return a picture's bytes with changes in its header, and with another array if one is given. */
function having(bytes, changes, numbers = undefined) {
  const { header, array } = unpack(bytes);
  return pack({ ...header, ...changes }, numbers ?? array);
}
