import { opensTheFuture } from "./attention.js";
import { logSoftmax } from "./arithmetic.js";

// The ids of special tokens, as in model/tokens.py.
const PAD = 0;
export const UNKNOWN = 1;
export const START = 2;
export const END = 3;
const NEVER_WRITTEN = [PAD, UNKNOWN, START];
const CANDIDATES = 10; // how many of the likeliest next tokens are kept for each step

/**
 * A text that was considered at a step.
 * @typedef {object} Node
 * @property {number} parent the index of the text without its last token, among the nodes of the step before; -1 at the first step
 * @property {number} id the id of its last token
 * @property {number} total the log-probability of all its tokens
 * @property {number} logProbability the log-probability of its last token
 * @property {[number, number][]} candidates the likeliest ids in place of its last token, with their probabilities
 * @property {boolean} kept
 * @property {boolean} ended
 * @property {import("./transformer.js").Trace} rows the weights of the step that wrote its last token: (H, Q, K)
 * @property {number} start the position of the first query of `rows`
 * @property {number} queries the number of queries of `rows`
 *
 * The result of `write`.
 * @typedef {object} Decoding
 * @property {Node[]} path a node for each token of the text, with the end token if it came
 * @property {Node[][]} tree all nodes of every step, best first
 * @property {boolean} finished
 * @property {import("./transformer.js").Trace} encoder the weights of the encoder: (H, S, S)
 */

/**
 * Write a text, greedily or with a beam, as in model/decoding/search.py.
 * @param {ReturnType<typeof import("./transformer.js").transformerOf>} model
 * @param {ReturnType<ReturnType<typeof import("./transformer.js").transformerOf>["encode"]>} encoded
 * @param {{ beamSize?: number, longest?: number, forced?: number[], edits: import("./attention.js").Edits, begun?: number[] }} options `begun` holds the ids that are read before the first step
 * @returns {Decoding}
 */
export function write(model, { memory, trace: encoder }, { beamSize = 1, longest = 64, forced = [], edits, begun = [START] }) {
  const seesLater = opensTheFuture(edits) || !model.config.look_ahead_mask;
  const score = ({ total }, length) => total / Math.max(1, length);
  let prefixes = [{ ids: begun, start: 0, total: 0, index: -1, cache: seesLater ? null : model.cache() }];
  /** @type {Node[][]} */
  const tree = [];
  const ended = []; // the finished texts of all steps: each node and the length of its text
  for (let step = 0; step < longest && prefixes.length; step++) {
    const nodes = [];
    for (const prefix of prefixes) {
      const rows = {};
      const { start } = prefix;
      const read = prefix.ids.slice(start);
      const chances = logSoftmax(model.decode(read, memory, start, prefix.cache, edits, rows));
      for (const id of NEVER_WRITTEN) chances[id] = -Infinity;
      const best = bestOf(chances, Math.max(CANDIDATES, 2 * beamSize));
      const candidates = best.slice(0, CANDIDATES).map((id) => [id, Math.exp(chances[id])]);
      const next = step < forced.length ? [forced[step]] : best.slice(0, beamSize > 1 ? 2 * beamSize : 1);
      for (const id of next)
        nodes.push({
          parent: prefix.index,
          id,
          total: Math.fround(prefix.total + chances[id]),
          logProbability: chances[id],
          candidates,
          kept: false,
          ended: id === END,
          rows,
          start,
          queries: read.length,
          prefix,
        });
    }
    nodes.sort((one, other) => other.total - one.total);
    nodes.splice(beamSize > 1 ? 2 * beamSize : 1);
    const finished = nodes.slice(0, beamSize).filter((node) => node.ended);
    let live = nodes.filter((node) => !node.ended).slice(0, beamSize);
    for (const node of finished) ended.push({ node, length: step + 1 });
    if (beamSize > 1 && live.length) {
      const most = Math.max(score(live[0], step + 1), score(live[0], longest));
      if (ended.some(({ node, length }) => score(node, length) >= most)) live = [];
    }
    for (const node of [...finished, ...live]) node.kept = true;
    const taken = new Set();
    prefixes = live.map((node) => {
      const { prefix } = node;
      // The first text that continues a prefix takes the prefix's cache, the others copy it.
      const cache = taken.has(prefix) ? copied(prefix.cache) : prefix.cache;
      taken.add(prefix);
      const start = seesLater ? 0 : prefix.ids.length;
      return { ids: [...prefix.ids, node.id], start, total: node.total, index: nodes.indexOf(node), cache };
    });
    for (const node of nodes) delete node.prefix;
    tree.push(nodes);
  }
  const last = prefixes.map(({ index }) => ({ node: tree.at(-1)[index], length: tree.length }));
  const texts = [...ended, ...last];
  const { node, length } = texts.reduce((best, text) =>
    score(text.node, text.length) > score(best.node, best.length) ? text : best,
  );
  return { path: pathTo(tree, node, length), tree, finished: node.ended, encoder };
}

function copied(cache) {
  return cache && cache.map(({ keys, values }) => ({ keys, values }));
}

/** Return the nodes that lead from the first step to a node. */
function pathTo(tree, node, length) {
  const path = [node];
  for (let step = length - 2; step >= 0; step--) path.unshift(tree[step][path[0].parent]);
  return path;
}

/** Return the indices of the `count` largest values, the largest first. */
function bestOf(values, count) {
  const best = [];
  for (let index = 0; index < values.length; index++) {
    if (best.length === count && values[index] <= values[best[count - 1]]) continue;
    let at = best.length;
    while (at > 0 && values[best[at - 1]] < values[index]) at--;
    best.splice(at, 0, index);
    if (best.length > count) best.pop();
  }
  return best;
}

/**
 * Return the weights of a written text, by kind and layer: (H, Q, K).
 *
 * With a cache, each step has only the rows of its new positions; without one, the last step has all rows.
 * @param {Decoding} decoding
 * @param {number} heads
 * @returns {import("./transformer.js").Trace}
 */
export function traceOf({ path, encoder }, heads) {
  const last = path.at(-1);
  const steps = last.start ? path : [last];
  const queries = last.start + last.queries;
  const trace = { ...encoder };
  for (const [kind, layers] of Object.entries(last.rows)) {
    const keys = kind === "decoder" ? queries : layers[0].length / heads / last.queries;
    trace[kind] = layers.map((_, layer) => {
      const weights = new Float32Array(heads * queries * keys);
      for (const step of steps) {
        const seen = kind === "decoder" ? step.start + step.queries : keys;
        for (let row = 0; row < heads * step.queries; row++) {
          const query = Math.floor(row / step.queries) * queries + step.start + (row % step.queries);
          weights.set(step.rows[kind][layer].subarray(row * seen, (row + 1) * seen), query * keys);
        }
      }
      return weights;
    });
  }
  return trace;
}

/**
 * Return the weights with which each step wrote its token, by kind and layer: (H, T, K). Keys of later steps have 0.
 * @param {Decoding} decoding
 * @param {number} heads
 * @returns {import("./transformer.js").Trace}
 */
export function stepsOf({ path }, heads) {
  const newest = path.map(({ rows, start, queries, ...node }) => ({
    ...node,
    start: start + queries - 1,
    queries: 1,
    rows: Object.fromEntries(
      Object.entries(rows).map(([kind, layers]) => [kind, layers.map((weights) => lastOf(weights, heads, queries))]),
    ),
  }));
  return traceOf({ path: newest, encoder: {} }, heads);
}

/** Return the last query's row of each head: (H, Q, K) -> (H, K). */
function lastOf(weights, heads, queries) {
  const keys = weights.length / heads / queries;
  const result = new Float32Array(heads * keys);
  for (let head = 0; head < heads; head++) {
    const row = head * queries + queries - 1;
    result.set(weights.subarray(row * keys, (row + 1) * keys), head * keys);
  }
  return result;
}
