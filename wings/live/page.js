import { buttonOf, element } from "../../viz/canvas.js";
import { mounting } from "../../pages/browser/deck/mounting.js";
import { canShow } from "../../pages/browser/needs.js";
import { addressOf, stateOf } from "./address.js";
import { AS_TRAINED } from "./attention.js";
import { KINDS, drawing } from "./drawing.js";
import { loadWeights } from "./load_weights.js";

/**
 * The data that the document holds as JSON.
 * @typedef {object} Header
 * @property {string} sentence the sentence with which the page opens
 * @property {string[]} examples
 * @property {Record<string, any>} templates the header of each picture
 * @property {Record<string, string>} labels the labels of the pictures for screen readers
 * @property {string} worker the code of the worker
 * @property {{ file: string, script: string }} weights the addresses of the weights, see `loadWeights`
 */

const SIDES = { encoder: "Positions of the source", decoder: "Positions of the target" };
const OPENS_WITH = { kind: "cross", layer: 0, head: 3, beamSize: 1, forced: [], typed: "", edits: AS_TRAINED };
const NO_WORKER = "This browser has no workers, in which the model runs. Open the page in a newer browser.";
const NOT_LOADED = "The weights could not be loaded. Reload the page.";
const SAME = "The translation stays the same.";
const OTHER = "The translation changes.";
const IN_BYTES = "The vocabulary has no piece for some of these characters: they are read as bytes.";
const CUT = "The translation stopped at its longest length.";
const PAUSE = 400; // milliseconds after the last letter typed before the text is translated

/**
 * Show the page that the document describes; the address holds its state.
 * @param {Record<string, import("../../pages/browser/deck/mounting.js").PartOfFile>} parts
 * @param {Record<string, string>} styles
 */
export function show(parts, styles) {
  if (!canShow()) return;
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const keep = (address) => history.replaceState(null, "", address);
  const { go } = live(document.getElementById("app"), parts, styles, location.hash, keep);
  addEventListener("hashchange", () => go(location.hash));
}

/**
 * Show the translator in an element; the returned `go` shows the state of another address.
 * @param {HTMLElement} app
 * @param {Record<string, import("../../pages/browser/deck/mounting.js").PartOfFile>} parts
 * @param {Record<string, string>} styles
 * @param {string} address the state with which it opens
 * @param {(address: string) => void} keep receives the address of each new state
 */
export function live(app, parts, styles, address, keep) {
  /** @type {Header} */
  const header = JSON.parse(document.getElementById("live").textContent);
  let state = stateOf(address, { sentence: header.sentence, ...OPENS_WITH });
  let config = null; // the model's config, once it is loaded
  let trained = { name: "", run: null, source: null }; // the worker's last answer without edits
  let changed = null; // the worker's last answer with edits
  let waiting = []; // requests that the worker has not begun; a newer choice replaces them
  let isBusy = false;

  const box = element("input", "sentence", "", { type: "text", "aria-label": "English sentence", maxlength: 2000 });
  const examples = header.examples.map((text) => buttonOf("control", text, () => ask((box.value = text))));
  const said = element("p", "said", "Loading the model …", { role: "status" });
  const bar = element("progress", "", "", { "aria-label": "Loading the model" });
  const controls = element("div", "controls");
  const pictures = drawing(mounting(parts, styles, header.labels), header.templates, {
    pick: ([layer, head]) => update({ layer, head }),
    close: (cell) => edit({ cells: [...state.edits.cells, cell] }),
    force: (forced, typed = "") => update({ forced, typed }),
  });
  app.append(box, element("div", "examples", examples, { translate: "no" }), bar, said, pictures.texts, controls, pictures.maps);
  box.value = state.sentence;
  let typing = 0;
  box.oninput = () => {
    clearTimeout(typing);
    typing = setTimeout(() => ask(box.value), PAUSE);
  };
  box.onchange = () => ask(box.value);
  const worker = window.Worker && new Worker(URL.createObjectURL(new Blob([header.worker], { type: "text/javascript" })));
  function begin() {
    worker.onmessage = ({ data }) => hear(data);
    const progress = (share) => (share === null ? bar.removeAttribute("value") : (bar.value = share));
    loadWeights(header.weights, progress).then(
      (weights) => worker.postMessage({ weights }, [weights.buffer]),
      () => say(NOT_LOADED),
    );
  }
  function go(other) {
    if (other === addressOf(state)) return;
    state = within(stateOf(other, { sentence: header.sentence, ...OPENS_WITH }));
    box.value = state.sentence;
    run();
  }
  function say(...words) {
    said.textContent = words.filter(Boolean).join(" ");
    bar.hidden = true;
  }
  /** Translate another sentence, and drop the beginning that the visitor chose for the last translation. */
  function ask(sentence) {
    if (sentence !== state.sentence) update({ sentence, forced: [], typed: "" });
  }
  function edit(changes) {
    update({ edits: { ...state.edits, ...changes } });
  }
  function update(changes) {
    state = within({ ...state, ...changes });
    run();
  }
  /** Return the state; a layer or head that the model lacks is replaced by the last one. */
  function within(wanted) {
    if (!config) return wanted;
    const layers = wanted.kind === "encoder" ? config.encoder_layers : config.decoder_layers;
    return { ...wanted, layer: Math.min(wanted.layer, layers - 1), head: Math.min(wanted.head, config.heads - 1) };
  }
  function isChanged() {
    return state.forced.length > 0 || state.typed !== "" || JSON.stringify(state.edits) !== JSON.stringify(AS_TRAINED);
  }

  /** Request the runs whose results are not known yet from the worker; if all are known, draw at once. */
  function run() {
    keep(addressOf(state));
    if (!config) return;
    const { sentence: text, beamSize, forced, typed, edits } = state;
    const plain = { text, beamSize, forced: [], typed: "", edits: AS_TRAINED };
    const wanted = [plain, ...(isChanged() ? [{ ...plain, forced, typed, edits }] : [])];
    const known = [trained.name, changed?.name];
    waiting = wanted.map((request) => ({ ...request, name: JSON.stringify(request) })).filter(({ name }) => !known.includes(name));
    if (!isChanged()) changed = null;
    if (!waiting.length) drawAll();
    send();
  }
  function send() {
    if (isBusy || !waiting.length) return;
    isBusy = true;
    worker.postMessage(waiting.shift());
  }
  function hear(answer) {
    isBusy = false;
    if (answer.config) {
      config = answer.config;
      state = within(state);
      return run();
    }
    if (answer.error) say(answer.error);
    else if (isPlain(answer.request)) trained = answer;
    else {
      changed = answer;
      state = { ...state, forced: answer.forced, typed: "" };
      changed.name = JSON.stringify({ ...answer.request, forced: answer.forced, typed: "", name: undefined });
      keep(addressOf(state));
    }
    if (!answer.error && !waiting.length) drawAll();
    send();
  }
  function isPlain({ forced, typed, edits }) {
    return !forced.length && !typed && JSON.stringify(edits) === JSON.stringify(AS_TRAINED);
  }

  function drawAll() {
    const now = changed ?? trained;
    const isSame = changed && changed.run.text === trained.run.text;
    say(
      changed && (isSame ? SAME : OTHER),
      now.source.some(({ text }) => text.startsWith("<0x")) && IN_BYTES,
      !now.run.finished && CUT,
    );
    drawControls();
    pictures.draw(state, trained, changed, config);
  }
  function drawControls() {
    const { kind, layer, head, edits } = state;
    const name = `${kind}.${layer}.${head}`;
    const isOff = edits.gates[name] === 0;
    const press = (words, isOn, act) => buttonOf("control", words, act, { "aria-pressed": String(isOn) });
    const without = (list, one) => (list.includes(one) ? list.filter((other) => other !== one) : [...list, one]);
    const buttons = () => [...controls.querySelectorAll("button")];
    const focused = buttons().findIndex((button) => button === document.activeElement);
    controls.replaceChildren(
      ...Object.entries(KINDS).map(([other, words]) => press(words, other === kind, () => update({ kind: other }))),
      element("b", "", `Layer ${layer + 1}, head ${head + 1}`),
      buttonOf("control", isOff ? "Switch this head on" : "Switch this head off", () => {
        const { [name]: _, ...others } = edits.gates;
        edit({ gates: isOff ? others : { ...others, [name]: 0 } });
      }),
      press("Look-ahead mask", !edits.off.length, () => edit({ off: without(edits.off, "look-ahead") })),
      ...Object.entries(SIDES).map(([side, words]) =>
        press(words, !edits.positions.includes(side), () => edit({ positions: without(edits.positions, side) })),
      ),
      press("Beam of 4", state.beamSize > 1, () => update({ beamSize: state.beamSize > 1 ? 1 : 4 })),
      ...(isChanged() ? [buttonOf("control undo", "Undo all", () => update({ forced: [], typed: "", edits: AS_TRAINED }))] : []),
    );
    buttons()[focused]?.focus();
  }

  if (worker) begin();
  else say(NO_WORKER);
  return { go };
}
