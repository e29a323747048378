import { element } from "../../viz/canvas.js";
import { canvasOf, dataAddress, pngOf } from "./dots.js";
import { formatRow } from "./for_slides.js";
import { toSvg } from "./to_svg.js";

/**
 * The functions that a picture with several steps puts into its element as `moves`.
 * @typedef {object} Steps
 * @property {() => number} count
 * @property {() => number} place the step that is shown, from 0
 * @property {(place: number) => void} go shows another step
 * @property {() => number} speed the steps per second
 */

const WIDEST = 1280; // the largest width of a film, in dots
const RATE = 25; // frames per second, for the recorder
const SLOWEST_START = 2000; // milliseconds to wait for a recorder to start
const ENDS = 2; // the first and the last step are shown this many times as long as others: a recorder may start late
const MOST_STEPS = 240; // the most steps that are filmed; of more steps, evenly spaced ones are taken
const VIDEOS = { webm: "video/webm", mp4: "video/mp4;codecs=avc1" };
const NO_RECORDER = "This browser cannot record video here, so a film can only be saved as a GIF.";
const WORDS = {
  webm: "a film for browsers and slides in HTML",
  mp4: "a film for slides in PowerPoint and Keynote",
  gif: "a film for programs that only take pictures",
};

/**
 * Make the buttons that save a picture's steps as a film; returns their `element`, and `update`,
 * which shows them if the picture has several steps. `ask` sends the frames of a GIF to the app;
 * without it there is no button for a GIF.
 */
export function filmRow({ picture, header, ask, download }) {
  const progress = element("progress", "", "", { "aria-label": "The film", hidden: "" });
  const said = element("p", "name", "", { "aria-live": "polite" });
  const kinds = Object.keys(VIDEOS).filter((kind) => globalThis.MediaRecorder?.isTypeSupported(VIDEOS[kind]));
  const row = formatRow(ask ? [...kinds, "gif"] : kinds, {}, WORDS, film);
  const why = kinds.length || !ask ? [] : [element("p", "name", NO_RECORDER)];
  const content = [element("p", "", "Film of all steps"), row, ...why, progress, said];
  const root = element("div", "film", content, { role: "group", "aria-label": "Save as a film" });

  async function film(kind) {
    const drawn = picture();
    const buttons = [...row.children];
    buttons.forEach((button) => (button.disabled = true));
    progress.hidden = false;
    const tell = (share) => (progress.value = share);
    said.textContent = "";
    try {
      const frames = framesOf(drawn, header, tell);
      if (kind === "gif") ask(await inPieces(frames, drawn.moves.speed()));
      else download(await recorded(frames, VIDEOS[kind], drawn.moves.speed()), `${header.name}.${kind}`);
    } catch (error) {
      said.textContent = error.message;
    } finally {
      progress.hidden = true;
      buttons.forEach((button) => (button.disabled = false));
    }
  }

  return { element: root, update: () => (root.hidden = !(picture()?.moves?.count() > 1)) };
}

/** Yield a canvas of each step, all of one size; then show the step that was shown before. */
async function* framesOf(root, header, tell) {
  /** @type {() => Steps} */
  const moves = () => root.moves; // read at each use, because every drawing of the picture replaces it
  const [steps, before] = [moves().count(), moves().place()];
  const shown = Math.min(steps, MOST_STEPS);
  const at = (frame) => Math.round((frame * (steps - 1)) / Math.max(shown - 1, 1));
  const drawn = async (step, scale) => {
    if (!root.isConnected) throw new Error("The picture is no longer on the page.");
    moves().go(step);
    return canvasOf(toSvg(root, header.what, header.caption), scale);
  };
  root.filmed = true;
  try {
    const ends = [await drawn(0, 1), await drawn(steps - 1, 1)];
    const width = Math.max(...ends.map((end) => end.width));
    const height = Math.max(...ends.map((end) => end.height));
    const scale = Math.min(2, WIDEST / width);
    const even = (size) => 2 * Math.round((size * scale) / 2); // videos need even sizes
    for (let frame = 0; frame < shown; frame++) {
      const canvas = element("canvas", "", "", { width: even(width), height: even(height) });
      const context = canvas.getContext("2d");
      const picture = await drawn(at(frame), scale);
      context.drawImage(picture, 0, 0, 1, 1, 0, 0, canvas.width, canvas.height); // its background
      context.drawImage(picture, 0, 0);
      tell((frame + 1) / shown);
      yield canvas;
    }
  } finally {
    if (root.isConnected) moves().go(before);
    root.filmed = false;
  }
}

/** Return the video that the browser's recorder makes of canvases, `speed` of them per second. */
async function recorded(frames, type, speed) {
  const screen = element("canvas", "");
  const context = screen.getContext("2d"); // a canvas without a context cannot be recorded
  let recorder;
  const parts = [];
  let due = 0;
  for await (const frame of frames) {
    await until(due);
    if (!recorder) {
      [screen.width, screen.height] = [frame.width, frame.height];
      recorder = new MediaRecorder(screen.captureStream(RATE), { mimeType: type, videoBitsPerSecond: 4e6 });
      recorder.ondataavailable = ({ data }) => parts.push(data);
      const begun = new Promise((started) => (recorder.onstart = started));
      recorder.start();
      context.drawImage(frame, 0, 0); // starts the recorder, which may miss this drawing
      await Promise.race([begun, until(performance.now() + SLOWEST_START)]);
    }
    context.drawImage(frame, 0, 0);
    due = performance.now() + ((due ? 1 : ENDS) * 1000) / speed;
  }
  await until(due + ((ENDS - 1) * 1000) / speed);
  context.drawImage(screen, 0, 0); // drawn again, because the film would otherwise end at the previous drawing
  await until(performance.now() + 2000 / RATE);
  const done = new Promise((stopped) => (recorder.onstop = stopped));
  recorder.stop();
  await done;
  return new Blob(parts, { type: type.split(";")[0] });
}

/** Return the frames of a GIF as PNGs, for the app to join, and how many milliseconds each one is shown. */
async function inPieces(frames, speed) {
  const pieces = [];
  for await (const frame of frames) pieces.push(await dataAddress(await pngOf(frame)));
  return { format: "gif", frames: pieces, milliseconds: Math.round(1000 / speed), ends: ENDS };
}

function until(time) {
  return new Promise((done) => setTimeout(done, Math.max(0, time - performance.now())));
}
