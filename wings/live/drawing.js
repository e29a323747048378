import { element, pack } from "../../viz/canvas.js";
import { visibilityAt } from "./attention.js";

export const KINDS = { encoder: "Encoder", decoder: "Decoder", cross: "Cross-attention" };
const BEFORE = "As trained";
const AFTER = "With changes";
const ENDED = "The end token: it stops here.";
const STOPPED = "Stopped at its longest length.";
const MANY = 22; // a map of more tokens than this may have smaller letters
const LEVELS = 255; // the grid of all heads stores weights as whole numbers from 0 to this

/**
 * Make the pictures of the live page: `texts` and `maps` hold their elements, `draw` draws them.
 * @param {ReturnType<typeof import("../../pages/browser/deck/mounting.js").mounting>} mount
 * @param {Record<string, any>} templates the header of each picture
 * @param {{ pick: (place: [number, number]) => void, close: (cell: import("./attention.js").Cell) => void, force: (ids: number[], typed?: string) => void }} acts
 */
export function drawing(mount, templates, acts) {
  const hosts = Object.fromEntries(["source", "before", "after", "grid", "map", "player"].map((name) => [name, element("div", name)]));
  const { source, before, after, grid, map, player } = hosts;
  const put = (host, part, changes, array = undefined, answer = undefined) =>
    mount(host, part, pack({ ...templates[part], ...changes }, array), answer);

  /** Draw the worker's run of the trained model, and its run with changes if there are any. */
  function draw(state, trained, changed, config) {
    const { kind, layer, head } = state;
    const { run, source: read, request, forced } = changed ?? trained;
    const stepped = kind === "encoder" ? 0 : layer; // the layer of the decoder that is shown step by step
    titles[0].textContent = `${KINDS[kind]}: all heads`;
    titles[1].textContent = `${KINDS[kind]}, layer ${layer + 1}, head ${head + 1}`;
    titles[2].textContent = `Step by step: decoder and cross-attention, layer ${stepped + 1}, head ${head + 1}`;
    put(source, "token_strip", { label: "Tokens", text: "", chips: chipsOf(read), explained: false });
    put(before, "token_strip", stripOf(BEFORE, trained.run, changed?.run));
    after.hidden = !changed;
    if (changed) put(after, "token_strip", stripOf(AFTER, changed.run, trained.run));

    const sources = read.map(({ text }) => text);
    const targets = ["<start>", ...run.tokens.slice(0, -1).map(({ text }) => text)];
    const writing = targets.map((token, at) => `${token} → ${run.tokens[at].text}`);
    const queries = kind === "encoder" ? sources : writing;
    const keys = kind === "decoder" ? targets : sources;
    const isOff = (at) => request.edits.gates[`${kind}.${Math.floor(at / config.heads)}.${at % config.heads}`] === 0;
    put(grid, "head_grid", gridOf(run.trace[kind], queries, keys, config.heads, [layer, head], isOff), levelsOf(run.trace[kind]), acts.pick);
    map.parentElement.classList.toggle("long", Math.max(queries.length, keys.length) > MANY);
    const visible = visibilityAt(request.edits, kind, layer, kind === "decoder" && config.look_ahead_mask);
    const weights = mapOf(run.trace[kind][layer], queries.length * keys.length, head);
    const cells = visible
      ? weights.map((weight, at) => (visible(head, Math.floor(at / keys.length), at % keys.length) ? weight : NaN))
      : weights;
    put(map, "heatmap", { rows: queries, columns: keys }, cells, ([query, key]) =>
      acts.close({ kind, layer: null, head: null, query, key, open: Number.isNaN(cells[query * keys.length + key]) }),
    );
    const { bars, texts, tokens, steps } = run;
    const own = mapOf(steps.decoder[stepped], bars.length ** 2, head);
    const cross = mapOf(steps.cross[stepped], bars.length * sources.length, head);
    const seen = own.map((_, at) => Number(at % bars.length <= Math.floor(at / bars.length)));
    const start = Math.max(0, Math.min(forced.length, bars.length) - 1);
    const told = { start, read: targets, source: sources, texts, bars, ending: run.finished ? ENDED : STOPPED };
    put(player, "decoding_player", told, joined(own, cross, seen), ([step, choice]) => {
      const written = tokens.slice(0, step).map(({ id }) => id);
      if (typeof choice === "number") acts.force([...written, bars[step][choice].id]);
      else if (typeof choice === "string") acts.force(written, choice);
    });
  }
  const titles = [grid, map, player].map(() => element("h2"));
  const sections = [grid, map, player].map((host, at) => element("div", `of-${host.className}`, [titles[at], host]));
  const texts = element("div", "texts", [source, before, after]);
  return { texts, maps: element("div", "maps", sections), draw };
}

/** Return the header of a picture of a text's tokens; tokens that the `other` text lacks or has elsewhere are marked. */
function stripOf(label, { text, tokens, chances }, other) {
  const chips = chipsOf(tokens, chances);
  if (other) {
    const isNew = withoutMatch(...[tokens, other.tokens].map((each) => each.map(({ id }) => id)));
    chips.forEach((chip, at) => (chip.changed = isNew[at]));
  }
  return { label, text, chips, explained: false };
}

/** Return for each id whether it is outside the longest common subsequence of ids and others. */
function withoutMatch(ids, others) {
  const longest = Array.from({ length: ids.length + 1 }, () => new Uint16Array(others.length + 1));
  for (let at = ids.length - 1; at >= 0; at--) {
    for (let other = others.length - 1; other >= 0; other--) {
      const skipping = Math.max(longest[at + 1][other], longest[at][other + 1]);
      longest[at][other] = ids[at] === others[other] ? longest[at + 1][other + 1] + 1 : skipping;
    }
  }
  let other = 0;
  return ids.map((id, at) => {
    while (other < others.length && id !== others[other] && longest[at][other + 1] >= longest[at + 1][other]) other++;
    const isNew = id !== others[other];
    if (!isNew) other++;
    return isNew;
  });
}

function chipsOf(tokens, chances = null) {
  return tokens.map(({ text, start, end }, at) => ({
    text,
    joined: at > 0 && end > start && start === tokens[at - 1].end && end > 0,
    kind: end > start ? "piece" : "special",
    changed: false,
    segment: null,
    probability: chances ? chances[at] : null,
  }));
}

/** Return the header of the grid with the maps of all heads of one kind of attention. */
function gridOf(layers, queries, keys, heads, selected, isOff) {
  const size = queries.length * keys.length;
  const strongest = layers.flatMap((weights) =>
    Array.from({ length: heads }, (_, head) => {
      const values = mapOf(weights, size, head);
      const largest = values.reduce((best, value, at) => (value > values[best] ? at : best), 0);
      return [Math.floor(largest / keys.length), largest % keys.length, Number(values[largest].toFixed(4))];
    }),
  );
  const rows = layers.map((_, layer) => `layer ${layer + 1}`);
  const columns = Array.from({ length: heads }, (_, head) => `head ${head + 1}`);
  const off = [...strongest.keys()].filter(isOff);
  return { queries, keys, cells: [queries.length, keys.length], rows, columns, selected, off, strongest };
}

function levelsOf(layers) {
  return Uint8Array.from(layers.flatMap((weights) => [...weights]), (weight) => Math.round(weight * LEVELS));
}

function mapOf(weights, size, head) {
  return weights.subarray(head * size, (head + 1) * size);
}

function joined(...arrays) {
  return Float32Array.from(arrays.flatMap((array) => [...array]));
}
