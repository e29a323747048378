// Scaled dot-product attention with a visitor's edits, as in model/transformer/attention.py.

/**
 * A visitor's changes. Layers, heads, queries and keys count from 0; null means all of them.
 * @typedef {object} Edits
 * @property {Record<string, number>} gates the factors of heads, by kind, layer and head, as "cross.0.3"
 * @property {Cell[]} cells the pairs of query and key that are opened or closed; if a pair is in it twice, the later one counts
 * @property {string[]} off the masks that are off: "look-ahead" or none
 * @property {string[]} positions the sides, "encoder" and "decoder", whose positions are off
 *
 * @typedef {{ kind: string, layer: number | null, head: number | null, query: number, key: number, open: boolean }} Cell
 */

/** @type {Edits} */
export const AS_TRAINED = { gates: {}, cells: [], off: [], positions: [] };

/** Return whether edits let a position see a later one; a cache would then be wrong. */
export function opensTheFuture({ cells, off }) {
  return off.includes("look-ahead") || cells.some(({ kind, query, key, open }) => open && kind === "decoder" && key > query);
}

/**
 * Return a function of head, query and key that is true if the query sees the key; null if queries see all keys.
 * @param {Edits} edits
 * @param {boolean} looksAhead true if this kind of attention has a look-ahead mask
 */
export function visibilityAt(edits, kind, layer, looksAhead) {
  const isCausal = looksAhead && !edits.off.includes("look-ahead");
  /** @type {Map<string, Cell[]>} */
  const cells = new Map();
  for (const cell of edits.cells) {
    if (cell.kind !== kind || (cell.layer ?? layer) !== layer) continue;
    const name = `${cell.query},${cell.key}`;
    cells.set(name, [...(cells.get(name) ?? []), cell]);
  }
  if (!isCausal && !cells.size) return null;
  return (head, query, key) => {
    const last = cells.size && cells.get(`${query},${key}`)?.findLast((cell) => (cell.head ?? head) === head);
    return last ? last.open : !isCausal || key <= query;
  };
}

/**
 * Return the output of every head for some queries (Q, H * D), and the weights (H, Q, K).
 *
 * A query that sees no key has weights of 0.
 * @param {Float32Array} query the queries of all heads (Q, H * D)
 * @param {Float32Array[]} keys K keys of all heads, each (H * D)
 * @param {Float32Array[]} values
 * @param {number} heads
 * @param {{ visible: ((head: number, query: number, key: number) => boolean) | null, gate: (head: number) => number, first: number }} edit `first` is the position of the first query
 */
export function attend(query, keys, values, heads, { visible, gate, first }) {
  const all = keys[0].length;
  const width = all / heads;
  const queries = query.length / all;
  const scale = 1 / Math.sqrt(width);
  const weights = new Float32Array(heads * queries * keys.length);
  const written = new Float32Array(query.length);
  for (let head = 0; head < heads; head++) {
    const from = head * width;
    const share = gate(head);
    for (let row = 0; row < queries; row++) {
      const line = weights.subarray((head * queries + row) * keys.length, (head * queries + row + 1) * keys.length);
      const at = row * all + from;
      let largest = -Infinity;
      for (let key = 0; key < keys.length; key++) {
        let score = -Infinity;
        if (!visible || visible(head, first + row, key)) {
          const other = keys[key];
          score = 0;
          for (let index = 0; index < width; index++) score += query[at + index] * other[from + index];
          score *= scale;
        }
        line[key] = score;
        if (score > largest) largest = score;
      }
      if (largest === -Infinity) {
        line.fill(0);
        continue;
      }
      let sum = 0;
      for (let key = 0; key < line.length; key++) sum += line[key] = Math.exp(line[key] - largest);
      for (let key = 0; key < line.length; key++) {
        const weight = (line[key] /= sum) * share;
        const value = values[key];
        for (let index = 0; index < width; index++) written[at + index] += weight * value[from + index];
      }
    }
  }
  return { written, weights };
}
