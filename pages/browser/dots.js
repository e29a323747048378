import { element } from "../../viz/canvas.js";

/** Draw an SVG, with the page's fonts, on a canvas with `scale` dots for each pixel. */
export async function canvasOf(svg, scale) {
  await embedFonts(svg);
  const image = await imageOf(svg);
  const [width, height] = [image.width, image.height].map((side) => Math.round(side * scale));
  const canvas = element("canvas", "", "", { width, height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** Return a canvas as the blob of a PNG. */
export async function pngOf(canvas) {
  const made = await new Promise((done) => canvas.toBlob(done));
  if (!made) throw new Error("The picture is too large for a PNG. Save it as an SVG.");
  return made;
}

/** Return an SVG as an image, which can only use fonts that the SVG contains. */
export async function imageOf(svg) {
  const text = new XMLSerializer().serializeToString(svg);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image(Number(svg.getAttribute("width")), Number(svg.getAttribute("height")));
    image.src = address;
    await image.decode();
    return image;
  } finally {
    URL.revokeObjectURL(address);
  }
}

const fontFiles = new Map(); // loaded font files, by address: each image of a film needs them again

/** Put the fonts of the page that an SVG uses into the SVG. */
export async function embedFonts(svg) {
  const fonts = svg.appendChild(document.createElementNS(svg.namespaceURI, "style"));
  fonts.textContent = await fontFaces(svg);
}

/** Return the CSS rules of the fonts that an SVG uses. They contain the fonts, as images load no files. */
async function fontFaces(svg) {
  const named = svg.outerHTML;
  const rules = [...document.styleSheets].flatMap((sheet) => {
    try {
      return [...sheet.cssRules].filter((rule) => rule instanceof CSSFontFaceRule);
    } catch {
      return []; // a stylesheet of another host, which scripts may not read
    }
  });
  const faces = rules
    .filter((rule) => named.includes(rule.style.getPropertyValue("font-family").replaceAll('"', "")))
    .map(async (rule) => {
      const [whole, address] = rule.style.getPropertyValue("src").match(/url\("?([^")]+)"?\)/) ?? [];
      if (!address) return "";
      try {
        const { href } = new URL(address, rule.parentStyleSheet.href ?? document.baseURI);
        if (!fontFiles.has(href)) fontFiles.set(href, await dataAddress(await (await fetch(href)).blob()));
        return rule.cssText.replace(whole, `url(${fontFiles.get(href)})`);
      } catch {
        return ""; // if a font cannot be loaded, the browser uses another one
      }
    });
  return (await Promise.all(faces)).join("\n");
}

/** Return a blob as a data URL. */
export function dataAddress(blob) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = failed;
    reader.readAsDataURL(blob);
  });
}

/** Have the browser save a file. */
export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = element("a", "", "", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
