import { DECK_KEYS } from "./deck_keys.js";

/**
 * Define an HTML element that draws a picture from its `data` in base64, above the element's text as its caption.
 *
 * While the picture has the focus, it keeps all keys from the page around it, except the keys that
 * a deck of slides needs. Escape takes the focus away.
 */
export function define(name, { draw, markup, style }) {
  if (customElements.get(name)) return;
  class Picture extends HTMLElement {
    connectedCallback() {
      if (this.shadowRoot) return; // the element was only moved
      const root = this.attachShadow({ mode: "open" });
      root.innerHTML = `<style>${style}</style>${markup}<p class="caption"><slot></slot></p>`;
      const data = Uint8Array.from(atob(this.getAttribute("data")), (letter) => letter.charCodeAt(0));
      draw({ data, parentElement: root, setTriggerValue() {} });
      this.addEventListener("keydown", (event) => {
        if (DECK_KEYS.includes(event.key)) return;
        event.stopPropagation();
        if (event.key === "Escape" && !event.defaultPrevented) root.activeElement?.blur();
      });
    }
  }
  customElements.define(name, Picture);
}
