// Turn text into tokens and back, as in model/tokenizer.py. Positions count characters as in Python.

import { UNKNOWN } from "./search.js";

const SPACE = "▁"; // the vocabulary's letter for the space before a word
const VISIBLE_SPACE = "␣";
const SPECIAL = ["<pad>", "<unk>", "<start>", "<end>"];
const BYTE = /^<0x([0-9A-F]{2})>$/;
const UNFINISHED = 0x10ff00; // a byte of an incomplete character is kept as the letter with this number plus the byte
const WHITE = /^\p{White_Space}$/u;
// Each letter in both cases, because only this part of the pattern ignores case; ſ counts as an s.
const ELIDED_WORDS = "[cCdDjJlLmMnNsSſtT]|[qQ][uU]|[lL][oO][rR][sSſ][qQ][uU]|[jJ][uU][sSſ][qQ][uU]|[pP][uU][iI][sSſ][qQ][uU]|[qQ][uU][oO][iI][qQ][uU]";
const ELIDED = new RegExp(`(?<!\\p{L})(?:${ELIDED_WORDS})'$`, "u");
const PIECES = new RegExp(
  `${SPACE}?(?<![\\p{L}\\p{M}])(?:${ELIDED_WORDS})'(?=\\p{L})` +
    `|${SPACE}?[\\p{L}\\p{M}]+(?:'[\\p{L}\\p{M}]+)*` +
    `|${SPACE}?\\p{N}` +
    `|${SPACE}?[^\\p{White_Space}\\p{L}\\p{M}\\p{N}${SPACE}]+`,
  "gu",
);

/**
 * A token: its id, its text on the screen, and its characters in the text, from `start` to before `end`.
 * @typedef {{ id: number, text: string, start: number, end: number }} Token
 *
 * A normalized character, and the characters of the typed text that it replaces.
 * @typedef {{ letter: string, start: number, end: number }} Letter
 */

/** @param {{ vocabulary: string[], merges: [number, number][] | null, bytes: boolean, whole: boolean }} rules */
export function tokenizerOf({ vocabulary, merges, bytes, whole }) {
  const ids = new Map(vocabulary.map((piece, id) => [piece, id]));
  const ranks = new Map(merges?.map(([first, second], rank) => [`${first} ${second}`, rank]));
  const byteOf = (piece) => (bytes && BYTE.test(piece) ? parseInt(piece.slice(3, 5), 16) : -1);
  const isElided = (id) => bytes && ELIDED.test(vocabulary[id].replace(SPACE, ""));

  /**
   * Split a text into tokens, without special tokens.
   * @param {string} text
   * @returns {Token[]}
   */
  function encode(text) {
    const typed = [...text];
    if (!merges) return typed.map((letter, at) => tokenOf(ids.get(letter) ?? UNKNOWN, typed, at, at + 1));
    const split = wordsOf(normalized(typed)).flatMap(piecesOf);
    const pieces = wholeAfterElided(split);
    /** @type {Token[]} */
    const tokens = [];
    pieces.forEach(({ id, start, end }, at) => {
      const following = pieces[at + 1]?.start ?? typed.length;
      const piece = vocabulary[id];
      // The space before the first word was added and not typed: it gets an empty place in the text.
      if (piece === SPACE && !(end > start && typed.slice(start, end).every((letter) => WHITE.test(letter)))) end = start;
      while (start < end && end < following && !WHITE.test(typed[end])) end++;
      if (byteOf(piece) < 0) return tokens.push(tokenOf(id, typed, start, end));
      tokens.push({ id, text: piece, start, end });
      spreadOverBytes(tokens, start, end);
    });
    return tokens;
  }

  /** Return the pieces of a word: the word itself if `whole` and in the vocabulary, else the result of the merges. */
  function piecesOf(word) {
    const name = word.map(({ letter }) => letter).join("");
    const { start, end } = { start: word[0].start, end: word.at(-1).end };
    if (whole && ids.has(name)) return [{ id: ids.get(name), text: name, start, end, word }];
    let parts = word.flatMap(({ letter, start, end }) => {
      if (ids.has(letter)) return [{ id: ids.get(letter), text: letter, start, end, word }];
      if (!bytes) return [{ id: UNKNOWN, text: letter, start, end, word }];
      const spelled = [...new TextEncoder().encode(letter)].map(hexadecimal);
      return spelled.map((piece) => ({ id: ids.get(piece), text: piece, start, end, word }));
    });
    while (true) {
      const rankAt = (at) => ranks.get(`${parts[at].id} ${parts[at + 1].id}`) ?? Infinity;
      let best = -1;
      let least = Infinity;
      for (let at = 0; at + 1 < parts.length; at++) if (rankAt(at) < least) least = rankAt((best = at));
      if (best < 0) return parts;
      const [first, second] = [parts[best], parts[best + 1]];
      const text = first.text + second.text;
      const joined = { id: ids.get(text), text, start: first.start, end: second.end, word };
      parts = [...parts.slice(0, best), joined, ...parts.slice(best + 2)];
    }
  }
  /** After an elided word, as in l'eau, replace the next word's pieces by the word's single piece that begins with a space, if there is one. */
  function wholeAfterElided(split) {
    const pieces = [];
    for (let first = 0; first < split.length; ) {
      let last = first + 1;
      if (first && isElided(split[first - 1].id)) while (split[last]?.word === split[first].word) last++;
      const name = SPACE + split.slice(first, last).map(({ text }) => text).join("");
      const isWhole = last - first > 1 && ids.has(name);
      if (!isWhole) last = first + 1;
      const { id, start } = split[first];
      pieces.push({ id: isWhole ? ids.get(name) : id, start, end: split[last - 1].end });
      first = last;
    }
    return pieces;
  }

  /**
   * Return the text of ids, and the token of each id with its place in the text.
   * @param {number[]} written
   * @returns {{ text: string, tokens: Token[] }}
   */
  function decode(written) {
    let text = "";
    /** @type {Token[]} */
    const tokens = [];
    for (const id of written) {
      const next = append(text, id);
      text = next.text;
      if (byteOf(vocabulary[id]) >= 0) spreadOverBytes(tokens, next.token.start, next.token.end);
      tokens.push(next.token);
    }
    return { text, tokens };
  }
  /** Return the text with one more id, and that id's token. */
  function append(text, id) {
    const before = [...text];
    if (id < SPECIAL.length) return { text, token: special(id, before.length) };
    let piece = vocabulary[id];
    if (byteOf(piece) >= 0) {
      const longer = appendByte(before, byteOf(piece));
      const end = longer.length;
      return { text: longer.join(""), token: { id, text: piece, start: end - 1, end } };
    }
    if (!text || (bytes && text.endsWith("'") && ELIDED.test(text))) piece = piece.replace(/^▁/, "");
    const longer = [...text + piece.replaceAll(SPACE, " ")];
    return { text: longer.join(""), token: tokenOf(id, longer, before.length, longer.length) };
  }
  return { encode, decode, append, special };
}

/** Return the token of a special id, which has no characters in the text. */
function special(id, position = 0) {
  return { id, text: SPECIAL[id], start: position, end: position };
}

/** Return the token of some characters; its text leaves out the space before a word. */
function tokenOf(id, letters, start, end) {
  const written = letters.slice(start, end);
  const first = written.findIndex((letter) => !WHITE.test(letter));
  if (first < 0) return { id, text: VISIBLE_SPACE, start, end };
  return { id, text: written.slice(first).join(""), start: start + first, end };
}

/** If the last tokens are the bytes of one character, give each the character's place in the text. */
function spreadOverBytes(tokens, start, end) {
  for (let at = tokens.length - 1; at >= 0; at--) {
    const token = tokens[at];
    if (token.id < SPECIAL.length) {
      const first = Math.min(token.start, start); // a special token has no characters in the text
      tokens[at] = { ...token, start: first, end: first };
    } else if (BYTE.test(token.text) && token.end > start) tokens[at] = { ...token, start, end };
    else break;
  }
}

/** Return letters with one more byte, which completes a character or stays as a byte until later. */
function appendByte(letters, byte) {
  for (const held of [3, 2, 1, 0]) {
    const numbers = letters.slice(Math.max(0, letters.length - held)).map((letter) => letter.codePointAt(0) - UNFINISHED);
    if (numbers.length !== held || !numbers.every((number) => number >= 0 && number < 256)) continue;
    try {
      const whole = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.of(...numbers, byte));
      return [...letters.slice(0, letters.length - held), whole];
    } catch {
      continue;
    }
  }
  return [...letters, String.fromCodePoint(UNFINISHED + byte)];
}

/** Return the name of a byte in the vocabulary, such as <0x0A>. */
function hexadecimal(byte) {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
}

/**
 * Normalize a text: compose letters, make apostrophes plain and spaces single, and begin with a space.
 * @param {string[]} typed characters
 * @returns {Letter[]}
 */
function normalized(typed) {
  /** @type {Letter[]} */
  const letters = [];
  for (const { letter, start, end } of composed(typed)) {
    if (WHITE.test(letter) || letter === SPACE) {
      if (!letters.length) continue;
      const isMore = letters.at(-1).letter === SPACE;
      if (isMore) letters.pop();
      letters.push({ letter: SPACE, start, end });
    } else letters.push({ letter: /[’ʼ]/.test(letter) ? "'" : letter, start, end });
  }
  if (letters.at(-1)?.letter === SPACE) letters.pop();
  const [first] = letters;
  return first ? [{ letter: SPACE, start: first.start, end: first.end }, ...letters] : [];
}

const COMPOSES = /^[\p{M}ᅡ-ᅵᆨ-ᇂ]$/u; // a character that forms one letter with the one before it

/** Return the letters of a text in composed form (NFC), each with the place of its first character.
 * @returns {Letter[]}
 */
function composed(typed) {
  const letters = [];
  for (let from = 0; from < typed.length; ) {
    let to = from + 1;
    while (to < typed.length && COMPOSES.test(typed[to])) to++;
    let at = from;
    let left = 0; // parts of the present character (NFD) that no letter has taken yet
    for (const letter of typed.slice(from, to).join("").normalize("NFC")) {
      if (left <= 0) left += partsOf(typed[at]);
      letters.push({ letter, start: at, end: at + 1 });
      left -= partsOf(letter);
      while (left < 0 && at + 1 < to) left += partsOf(typed[++at]);
      if (left === 0) at = Math.min(at + 1, to - 1);
    }
    from = to;
  }
  return letters;
}

function partsOf(letter) {
  return [...letter.normalize("NFD")].length;
}

/** Split a text into words: the matches of PIECES, and the texts between them.
 * @param {Letter[]} letters
 * @returns {Letter[][]}
 */
function wordsOf(letters) {
  const indices = letters.flatMap(({ letter }, index) => Array(letter.length).fill(index));
  const text = letters.map(({ letter }) => letter).join("");
  const words = [];
  let last = 0;
  for (const match of text.matchAll(PIECES)) {
    if (match.index > last) words.push(letters.slice(indices[last], indices[match.index]));
    last = match.index + match[0].length;
    words.push(letters.slice(indices[match.index], indices[last - 1] + 1));
  }
  if (last < text.length) words.push(letters.slice(indices[last]));
  return words;
}
