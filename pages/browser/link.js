import { isOnDark } from "../../viz/colors.js";
import { isRunning, whenStateChanges } from "../streamlit_fixes/dom.js";

const PATIENCE = 2_000; // milliseconds for which a click waits for the browser or the app

/** Copy a text; false if the browser does not let the page: no permission, no https, or no answer. */
export async function copied(text) {
  const late = new Promise((_, refuse) => setTimeout(refuse, PATIENCE));
  try {
    await Promise.race([navigator.clipboard.writeText(text), late]);
    return true;
  } catch {
    return false;
  }
}

let isSent = true; // whether the app has begun a run since the visitor last changed a box

/** Note when boxes are changed, and when the app answers. */
export function watchBoxes() {
  addEventListener("change", ({ target }) => target.matches("input, textarea") && (isSent = false), true);
  whenStateChanges(() => (isSent ||= isRunning()));
}

/** Wait until a text that was typed before is in the page's address, for as long as a click waits. */
export function settled() {
  return new Promise((done) => {
    const end = () => {
      stop();
      isSent = true;
      done();
    };
    const look = () => isSent && !isRunning() && end();
    const stop = whenStateChanges(look);
    look();
    setTimeout(end, PATIENCE);
  });
}

/** The page's address; a theme that the system does not have is named in it. */
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
