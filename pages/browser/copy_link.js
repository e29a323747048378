import { begin, element } from "../../viz/canvas.js";
import { themeColor } from "../../viz/colors.js";

/**
 * @typedef {object} Header
 */

const LABEL = "Copy link";
const SHOWN = 2000; // milliseconds that "Copied" stays

/**
 * A button that copies the page's link, or shows it to be copied by hand.
 * @param {import("../../viz/canvas.js").Mount<Header>} mount
 */
export function draw(mount) {
  const { root } = begin(mount);
  if (root.firstChild) return; // what it says stays while the page runs again
  const button = element("button", "", LABEL, { type: "button", "aria-live": "polite" });
  root.replaceChildren(button);
  button.onclick = async () => {
    const link = sceneLink(root);
    root.replaceChildren(button);
    if (await copied(link)) {
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = LABEL), SHOWN);
      return;
    }
    const box = element("input", "", "", { readonly: "", "aria-label": "The link" });
    box.value = link;
    root.append(box, element("p", "", "Press Ctrl or ⌘ and C to copy it."));
    box.focus();
    box.select();
  };
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // no permission, or a page without https
  }
}

/** The page's address; a theme that the system does not have is named in it. */
function sceneLink(root) {
  const link = new URL(location.href);
  const options = link.searchParams.getAll("embed_options").filter((name) => !/_theme$/.test(name));
  const dark = isDark(themeColor(root, "paper"));
  if (dark !== matchMedia("(prefers-color-scheme: dark)").matches) {
    options.push(dark ? "dark_theme" : "light_theme");
  }
  link.searchParams.delete("embed_options");
  options.forEach((name) => link.searchParams.append("embed_options", name));
  return link.href;
}

function isDark(color) {
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
  return red * 0.299 + green * 0.587 + blue * 0.114 < 128;
}
