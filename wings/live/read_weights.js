// Read the file of weights that `page.py` writes: safetensors, with the config and the tokenizer.

const CUT = "The file of weights is cut short. Load it again.";
const NOT_WEIGHTS = "This is not a file of weights.";
const HEADER = 8; // how many bytes at the start of the file hold the length of its header
const METADATA = "__metadata__";

/**
 * @typedef {object} Weights
 * @property {any} config the options of a TransformerConfig
 * @property {any} tokenizer the rules that `tokenizerOf` takes
 * @property {Record<string, Float32Array>} tensors the tensors by name; a matrix is stored row by row
 */

/**
 * Read a file of weights; throw an Error with a sentence if it cannot be read.
 * @param {Uint8Array} bytes
 * @returns {Weights}
 */
export function readWeights(bytes) {
  if (bytes.length < HEADER) throw new Error(CUT);
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset, HEADER).getBigUint64(0, true));
  const start = HEADER + length;
  if (!(length < 2 ** 27)) throw new Error(NOT_WEIGHTS);
  if (start > bytes.length) throw new Error(CUT);
  let [entries, config, tokenizer] = [{}, null, null];
  try {
    const { [METADATA]: metadata, ...rest } = JSON.parse(new TextDecoder().decode(bytes.subarray(HEADER, start)));
    entries = rest;
    ({ config, tokenizer } = JSON.parse(metadata.headlight));
  } catch {
    throw new Error(NOT_WEIGHTS);
  }
  /** @type {Record<string, Float32Array>} */
  const tensors = {};
  for (const [name, { dtype, data_offsets: [from, to] }] of Object.entries(entries)) {
    if (dtype !== "F16") throw new Error(NOT_WEIGHTS);
    if (start + to > bytes.length) throw new Error(CUT);
    tensors[name] = floats(new Uint16Array(bytes.slice(start + from, start + to).buffer));
  }
  return { config, tokenizer, tensors };
}

/** @param {Uint16Array} halves */
function floats(halves) {
  const result = new Float32Array(halves.length);
  for (let at = 0; at < result.length; at++) result[at] = HALVES[halves[at]];
  return result;
}

/** The value of each float16 (IEEE 754), indexed by its 16 bits. */
const HALVES = Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
});
