const ROW = 26; // pixels of one token, as in the stylesheet
const FAINTEST = 0.004; // a thinner line could not be seen

/** Draw lines between two columns of tokens; pointing at or choosing a token leaves only its own. */
export default function draw({ data, parentElement }) {
  const { header, array } = unpack(data);
  const { queries, keys } = header;
  const weights = new Float32Array(array.buffer);
  const root = parentElement.querySelector(".attention-lines");
  const canvas = element("canvas", "", "", { "aria-hidden": "true" });
  let pointed = null; // { side, index } under the pointer or the focus
  let chosen = null; // the one clicked, which stays
  let width = 0;

  const column = (tokens, side) =>
    tokens.map((text, index) => {
      const button = element("button", `token ${side}`, "", {
        type: "button",
        title: text,
        "aria-pressed": "false",
      });
      const weight = element("span", "weight");
      const name = element("span", "name", text);
      button.append(...(side === "query" ? [weight, name] : [name, weight]));
      const point = (to) => {
        pointed = to;
        render();
      };
      button.onpointerenter = button.onfocus = () => point({ side, index });
      button.onpointerleave = button.onblur = () => point(null);
      button.onclick = () => {
        chosen = chosen?.side === side && chosen.index === index ? null : { side, index };
        render();
      };
      return button;
    });
  const buttons = { query: column(queries, "query"), key: column(keys, "key") };
  const columns = Object.entries(buttons).map(([side, tokens]) => {
    const made = element("div", "column", "", {
      style: `grid-row: 2; grid-column: ${side === "query" ? 1 : 3}`,
    });
    made.append(...tokens);
    return made;
  });
  const sheet = element("div", "sheet");
  sheet.append(
    element("div", "heading left", "query: looking"),
    element("div", "heading"),
    element("div", "heading", "key: looked at"),
    canvas,
    ...columns,
  );
  root.replaceChildren(sheet);

  function render() {
    const shown = pointed ?? chosen;
    const accent = getComputedStyle(root).getPropertyValue("--st-primary-color") || "#d1495b";
    const context = fitCanvas(canvas, width, ROW * Math.max(queries.length, keys.length));
    context.strokeStyle = accent;
    for (let query = 0; query < queries.length; query++) {
      if (shown?.side === "query" && shown.index !== query) continue;
      for (let key = 0; key < keys.length; key++) {
        if (shown?.side === "key" && shown.index !== key) continue;
        const weight = weights[query * keys.length + key];
        if (weight < FAINTEST) continue;
        const [from, to] = [ROW * (query + 0.5), ROW * (key + 0.5)];
        context.globalAlpha = Math.min(1, 0.06 + 0.94 * weight);
        context.lineWidth = 0.5 + 7 * weight;
        context.beginPath();
        context.moveTo(0, from);
        context.bezierCurveTo(width * 0.4, from, width * 0.6, to, width, to);
        context.stroke();
      }
    }
    for (const [side, tokens] of Object.entries(buttons)) {
      tokens.forEach((button, index) => {
        const opposite = shown && shown.side !== side;
        const [query, key] = side === "query" ? [index, shown?.index] : [shown?.index, index];
        const text = opposite ? weights[query * keys.length + key].toFixed(3) : "";
        button.querySelector(".weight").textContent = text;
        const pressed = chosen?.side === side && chosen.index === index;
        button.setAttribute("aria-pressed", String(pressed));
      });
    }
  }
  return onWidth(root, () => {
    width = Math.max(60, Math.floor(sheet.clientWidth * (3 / 7)));
    render();
  });
}
