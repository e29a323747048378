import { readWeights } from "./read_weights.js";
import { END, START, stepsOf, traceOf, write } from "./search.js";
import { tokenizerOf } from "./tokenizer.js";
import { transformerOf } from "./transformer.js";

/**
 * A run that the page requests.
 * @typedef {object} Request
 * @property {string} name the name by which the page recognises the answer
 * @property {string} text
 * @property {number} beamSize
 * @property {number[]} forced the ids with which the translation must begin
 * @property {string} typed a text that must follow the forced ids
 * @property {import("./attention.js").Edits} edits
 *
 * A run of the model.
 * @typedef {object} Run
 * @property {string} text
 * @property {import("./tokenizer.js").Token[]} tokens the written tokens, with the end token if it came
 * @property {number[]} chances the probability of each token
 * @property {boolean} finished
 * @property {string[]} texts the text before the first step, and after each step
 * @property {{ id: number, text: string, before: string, probability: number, chosen: boolean, drawn: null }[][]} bars
 * @property {import("./transformer.js").Trace} trace the weights of the whole text: (H, Q, K)
 * @property {import("./transformer.js").Trace} steps the weights of each step's newest query: (H, T, K)
 */

const LONGEST = 64; // the most tokens of a translation
const WRONG = "The translation cannot begin like this: it is too long, or has an unknown token.";
const NOTHING = "Type an English sentence.";
const tooLong = (length, most) => `This text has ${length} tokens, and the model reads at most ${most}. Shorten it.`;

/** Answer the messages of a page: first a file of weights, then requests one by one. */
export function listen(port) {
  let run;
  let last = { name: "", encoded: null };
  port.onmessage = ({ data }) => {
    try {
      if (data.weights) {
        const { config, ...rest } = readWeights(data.weights);
        run = runner(transformerOf({ config, ...rest }), tokenizerOf(rest.tokenizer), keep);
        port.postMessage({ config });
      } else port.postMessage({ name: data.name, request: data, ...run(data) });
    } catch (error) {
      port.postMessage({ name: data.name, error: error.message });
    }
  };
  /** Return the encoder's last result if a request gives it the same input as the last one, or else encode. */
  function keep(name, make) {
    if (last.name !== name) last = { name, encoded: make() };
    return last.encoded;
  }
}

/** Return a function that runs a model on a request. */
export function runner(model, tokenizer, keep) {
  const { heads, max_positions: positions } = model.config;
  const most = positions - 1;

  /** @param {Request} request */
  return ({ text, beamSize, forced: begun, typed, edits }) => {
    const tokens = tokenizer.encode(text);
    if (!tokens.length) throw new Error(NOTHING);
    if (tokens.length > most) throw new Error(tooLong(tokens.length, most));
    const forced = [...begun, ...tokenizer.encode(typed).map(({ id }) => id)];
    const longest = Math.min(LONGEST, most);
    if (forced.length > longest || forced.some((id) => !(id < model.config.target_vocab_size) || id <= START))
      throw new Error(WRONG);
    const source = [...tokens, tokenizer.special(END, tokens.at(-1).end)];
    const ids = source.map(({ id }) => id);
    const ofEncoder = [
      ids,
      edits.positions.includes("encoder"),
      Object.entries(edits.gates).filter(([name]) => name.startsWith("encoder")),
      edits.cells.filter(({ kind }) => kind === "encoder"),
    ];
    const encoded = keep(JSON.stringify(ofEncoder), () => model.encode(ids, edits));
    const decoding = write(model, encoded, { beamSize, forced, edits, longest });
    const { text: written, tokens: target } = tokenizer.decode(decoding.path.map(({ id }) => id));
    let before = "";
    const texts = [before];
    const bars = decoding.path.map((node) => {
      const bar = barsOf(node, before);
      texts.push((before = tokenizer.append(before, node.id).text));
      return bar;
    });
    return {
      source,
      forced,
      run: {
        text: written,
        tokens: target,
        chances: decoding.path.map(({ logProbability }) => Math.exp(logProbability)),
        finished: decoding.finished,
        texts,
        bars,
        trace: traceOf(decoding, heads),
        steps: stepsOf(decoding, heads),
      },
    };
  };

  /** Return the candidates of a step, each with the part of its word that is already written. */
  function barsOf({ id, candidates, logProbability }, before) {
    const word = before.slice(before.lastIndexOf(" ") + 1);
    const isAmong = candidates.some(([other]) => other === id);
    const all = isAmong ? candidates : [...candidates, [id, Math.exp(logProbability)]];
    return all.map(([other, probability]) => {
      const { token } = tokenizer.append(before, other);
      const goesOn = token.start === [...before].length && token.end > token.start;
      return { id: other, text: token.text, before: goesOn ? word : "", probability, chosen: other === id, drawn: null };
    });
  }
}
