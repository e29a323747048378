"""A browser's translator, as it changes a page: § stands before each translated text."""

# Chrome and Edge put two elements in place of a text, others may move it into them, and Safari
# puts another text there. A part with translate="no" stays as it is.
WAYS = ("in elements", "moved into elements", "another text")
TRANSLATE = """way => {
  const kept = "[translate=no], .notranslate, script, style, noscript, textarea, font";
  const texts = [];
  const gather = (node) => {
    if (node.nodeType === Node.TEXT_NODE && node.data.trim()) texts.push(node);
    if (node.matches?.(kept)) return;
    [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes].forEach(gather);
  };
  if (!document.documentElement.matches(kept)) gather(document.body);
  for (const text of texts) {
    const words = `§${text.data.replace(/^§/, "")}`;
    const [outer, inner] = ["font", "font"].map((name) => document.createElement(name));
    outer.append(inner);
    if (way === "another text") {
      if (text.data.startsWith("§")) continue;
      const [parent, next] = [text.parentNode, text.nextSibling];
      text.remove();
      if (next) next.before(words);
      else parent.append(words);
    } else if (way === "in elements") {
      inner.append(words);
      outer.original = text;
      text.before(outer);
      text.remove();
    } else {
      text.replaceWith(outer);
      text.data = words;
      inner.append(text);
    }
  }
}"""
ORIGINAL = """() => document.querySelectorAll("font").forEach((node) => {
  if (node.original) node.replaceWith(node.original);
})"""
# What each element of the page says itself, without what is only for its pictures.
SAID = """() => {
  const said = [];
  const own = (node) => {
    let words = "";
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) words += child.data;
      else if (child.localName === "font") words += own(child);
      else if (child.nodeType === Node.ELEMENT_NODE) words += "·";
    }
    return words;
  };
  // What counts the letters is seen only while one types. The canvas of a table holds the columns
  // that are in sight, which are wider if they were measured before their font had come.
  const left = "style, font, font *, [data-testid=InputInstructions] *, canvas *";
  for (const node of document.querySelectorAll(`:is([data-testid=stMain], main) :not(${left})`)) {
    const words = own(node).replaceAll("§", "").trim();
    if (/[^·]/.test(words)) said.push(words);
  }
  return said;
}"""
TRANSLATED = """() => {
  const texts = (node) => node.nodeType === Node.TEXT_NODE
    ? [node.data]
    : [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes].flatMap(texts);
  return texts(document.body).filter((text) => text.includes("§"));
}"""


def translate(page, way=WAYS[0]):
    """Translate what a page shows."""
    page.evaluate(TRANSLATE, way)


def show_original(page):
    """Undo a translation of the first way, as Chrome does on request."""
    page.evaluate(ORIGINAL)


def said(page):
    """What the page says in its own words, as before any translation, element by element."""
    return page.evaluate(SAID)


def translated(page):
    """The texts that were translated, in pictures too."""
    return page.evaluate(TRANSLATED)
