import { isOnDark } from "../../viz/colors.js";

export const SENT = 100; // milliseconds after which the text of a box that was left is sent
const PATIENCE = 2_000; // milliseconds until a browser that does not answer is taken for a no

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

/** Wait until a text that was typed before is in the page's address. */
export function settled() {
  const app = /** @type {HTMLElement} */ (document.querySelector("[data-test-script-state]"));
  return new Promise((done) => {
    const look = () => app.dataset.testScriptState === "running" || (watch.disconnect(), done());
    const watch = new MutationObserver(look);
    watch.observe(app, { attributeFilter: ["data-test-script-state"] });
    setTimeout(look, SENT);
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
