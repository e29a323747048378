import { AS_TRAINED, attend, visibilityAt } from "./attention.js";
import { ACTIVATIONS, layerNorm, linear, sumOf } from "./arithmetic.js";

/**
 * The attention weights of a run, by kind of attention and layer: (H, Q, K).
 * @typedef {Record<string, Float32Array[]>} Trace
 *
 * The keys and values that each decoder layer has computed so far, a row for each position.
 * @typedef {{ keys: Float32Array[], values: Float32Array[] }[]} Cache
 */

/**
 * Make a Transformer, as in model/transformer/transformer.py: `encode` and `decode` run it.
 * @param {import("./read_weights.js").Weights} weights
 */
export function transformerOf({ config, tensors }) {
  const { d_model: width, heads, norm_epsilon: epsilon } = config;
  const isPreNorm = config.norm === "pre";
  const activate = ACTIVATIONS[config.activation];
  const layer = (name) => ({ weight: tensors[`${name}.weight`], bias: tensors[`${name}.bias`] });
  const count = (length, make) => Array.from({ length }, (_, index) => make(index));
  const attentionOf = (kind, index, name, norm) => ({
    kind,
    index,
    norm: layer(`${norm}.norm`),
    ...Object.fromEntries(["query", "key", "value", "output"].map((part) => [part, layer(`${name}.${part}`)])),
  });
  const feedForwardOf = (name) => ({
    norm: layer(`${name}.feed_forward_residual.norm`),
    inner: layer(`${name}.feed_forward.inner`),
    output: layer(`${name}.feed_forward.output`),
  });
  const encoder = count(config.encoder_layers, (index) => {
    const name = `encoder.layers.${index}`;
    return {
      self: attentionOf("encoder", index, `${name}.attention`, `${name}.attention_residual`),
      feedForward: feedForwardOf(name),
    };
  });
  const decoder = count(config.decoder_layers, (index) => {
    const name = `decoder.layers.${index}`;
    const cross = () => attentionOf("cross", index, `${name}.cross_attention`, `${name}.cross_residual`);
    return {
      self: attentionOf("decoder", index, `${name}.self_attention`, `${name}.self_residual`),
      cross: config.encoder_layers ? cross() : null,
      feedForward: feedForwardOf(name),
    };
  });
  const source = tensors["encoder.embedding.tokens.weight"];
  const target = tensors["decoder.embedding.tokens.weight"] ?? source;
  const output = { weight: tensors["output.weight"] ?? target };

  function positionAt(side, position) {
    if (config.positions === "none") return null;
    if (config.positions === "learned") {
      const table = tensors[`${side}.embedding.positions.table`];
      return table.subarray(position * width, (position + 1) * width);
    }
    return Float32Array.from({ length: width }, (_, index) => {
      const angle = position * 10_000 ** (-(index - (index % 2)) / width);
      return index % 2 ? Math.cos(angle) : Math.sin(angle);
    });
  }
  /** Embed the ids at the positions from `start` on: (rows, width). */
  function embed(side, ids, start, edits) {
    const table = side === "encoder" ? source : target;
    const states = new Float32Array(ids.length * width);
    ids.forEach((id, row) => {
      const position = edits.positions.includes(side) ? null : positionAt(side, start + row);
      for (let index = 0; index < width; index++)
        states[row * width + index] = table[id * width + index] * Math.sqrt(width) + (position ? position[index] : 0);
    });
    return states;
  }
  /** Run a sublayer with its residual connection and its norm, in the order of the config. */
  function residual(states, rows, norm, sublayer) {
    if (isPreNorm) return sumOf(states, sublayer(layerNorm(states, rows, norm, epsilon)));
    return layerNorm(sumOf(states, sublayer(states)), rows, norm, epsilon);
  }
  const rowsOf = (matrix) => count(matrix.length / width, (row) => matrix.subarray(row * width, (row + 1) * width));
  const projected = ({ key, value }, states, rows) => ({
    keys: rowsOf(linear(states, rows, key)),
    values: rowsOf(linear(states, rows, value)),
  });

  function attention(site, states, rows, { keys, values }, first, edits, trace) {
    const { kind, index } = site;
    const visible = visibilityAt(edits, kind, index, kind === "decoder" && config.look_ahead_mask);
    const gate = (head) => edits.gates[`${kind}.${index}.${head}`] ?? 1;
    const { written, weights } = attend(linear(states, rows, site.query), keys, values, heads, { visible, gate, first });
    if (trace) (trace[kind] ??= [])[index] = weights;
    return linear(written, rows, site.output);
  }
  function feedForward({ norm, inner, output }, states, rows) {
    return residual(states, rows, norm, (inputs) => linear(linear(inputs, rows, inner).map(activate), rows, output));
  }

  return {
    config,
    /**
     * Encode source ids with the end token; return each cross-attention's keys and values, and the attention weights.
     * @param {number[]} ids empty for a model with only a decoder
     * @param {import("./attention.js").Edits} edits
     * @returns {{ memory: Cache, trace: Trace }}
     */
    encode(ids, edits = AS_TRAINED) {
      const trace = {};
      if (!encoder.length) return { memory: [], trace };
      const rows = ids.length;
      let states = embed("encoder", ids, 0, edits);
      for (const { self, feedForward: feed } of encoder) {
        states = residual(states, rows, self.norm, (inputs) =>
          attention(self, inputs, rows, projected(self, inputs, rows), 0, edits, trace),
        );
        states = feedForward(feed, states, rows);
      }
      const memory = isPreNorm ? layerNorm(states, rows, layer("encoder.norm"), epsilon) : states;
      return { memory: decoder.map(({ cross }) => projected(cross, memory, rows)), trace };
    },
    /**
     * Return the logits (V) of the token after some target ids.
     *
     * With a cache, `ids` are only the new positions, which begin at `start`, and the cache grows.
     * @param {number[]} ids
     * @param {Cache} memory the memory that `encode` returned
     * @param {number} start
     * @param {Cache | null} cache
     * @param {import("./attention.js").Edits} edits
     * @param {Trace | null} trace
     */
    decode(ids, memory, start = 0, cache = null, edits = AS_TRAINED, trace = null) {
      const rows = ids.length;
      let states = embed("decoder", ids, start, edits);
      decoder.forEach(({ self, cross, feedForward: feed }, index) => {
        states = residual(states, rows, self.norm, (inputs) => {
          const own = projected(self, inputs, rows);
          const known = cache?.[index];
          if (known) for (const part of ["keys", "values"]) own[part] = known[part] = [...known[part], ...own[part]];
          return attention(self, inputs, rows, own, start, edits, trace);
        });
        if (cross)
          states = residual(states, rows, cross.norm, (inputs) =>
            attention(cross, inputs, rows, memory[index], start, edits, trace),
          );
        states = feedForward(feed, states, rows);
      });
      const last = states.subarray((rows - 1) * width);
      return linear(isPreNorm ? layerNorm(last, 1, layer("decoder.norm"), epsilon) : last, 1, output);
    },
    /** Return an empty cache. @returns {Cache} */
    cache: () => count(config.decoder_layers, () => ({ keys: [], values: [] })),
  };
}
