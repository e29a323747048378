/** Write a text and its tokens. */
export default function draw({ data, parentElement }) {
  const { header } = unpack(data);
  const chips = element("div", "chips");
  for (const { text, joined, kind, changed } of header.chips) {
    // The pieces of one word stay together where a line breaks.
    if (!joined || !chips.lastChild) chips.append(element("span", "word"));
    chips.lastChild.append(element("span", `chip ${kind}${changed ? " changed" : ""}`, text));
  }
  const parts = [element("div", "label", header.label)];
  if (header.text) parts.push(element("p", "text", header.text));
  parentElement.querySelector(".token-strip").replaceChildren(...parts, chips);
}
