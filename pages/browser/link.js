import { isOnDark } from "../../viz/colors.js";
import { isRunning, whenStateChanges } from "../streamlit_fixes/dom.js";

const PATIENCE = 2_000; // milliseconds for which a click waits for the browser or the app

/** Copy a text; returns false if the browser refuses, for example without https, or does not answer. */
export async function copied(text) {
  const late = new Promise((_, refuse) => setTimeout(refuse, PATIENCE));
  try {
    await Promise.race([navigator.clipboard.writeText(text), late]);
    return true;
  } catch {
    return false;
  }
}

let isSent = true; // true if the app has begun a run since the visitor last changed a box

/** Keep `isSent` up to date: watch changes of boxes, and runs of the app. */
export function watchBoxes() {
  const boxes = "input:not([role=combobox]), textarea";
  addEventListener("change", ({ target }) => target.matches(boxes) && (isSent = false), true);
  whenStateChanges(() => (isSent ||= isRunning()));
}

/** Return whether a text that was just typed may still be on its way to the app. */
export const isOnTheWay = () => !isSent;

/** Wait until the app has begun to use a text that was just typed, but no longer than PATIENCE. */
export const begun = () => until(() => isSent);

/** Wait until a text that was just typed is in the page's address, but no longer than PATIENCE. */
export const settled = () => until(() => isSent && !isRunning());

function until(holds) {
  return new Promise((done) => {
    const end = () => {
      stop();
      isSent = true;
      done();
    };
    const look = () => holds() && end();
    const stop = whenStateChanges(look);
    look();
    setTimeout(end, PATIENCE);
  });
}

/** Return the page's address, with the theme if it is not that of the system. */
export function sceneLink(root) {
  const link = new URL(location.href);
  const options = link.searchParams.getAll("embed_options").filter((name) => !/_theme$/.test(name));
  const dark = isOnDark(root);
  if (dark !== matchMedia("(prefers-color-scheme: dark)").matches) {
    options.push(dark ? "dark_theme" : "light_theme");
  }
  link.searchParams.delete("embed_options");
  options.forEach((name) => link.searchParams.append("embed_options", name));
  return link.href;
}
