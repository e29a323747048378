import { isOnDark } from "../../viz/colors.js";

/** Copy a text; false if the browser does not let the page: no permission, or no https. */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
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
