import { DECK_KEYS } from "./deck_keys.js";

/**
 * Define an element that draws a part from its `data`, in base64, with its own text as caption.
 *
 * Arrows and all other keys stay with the picture while it has the focus, which Escape removes;
 * the deck's keys are for the page around it.
 */
export function define(name, { draw, markup, style }) {
  if (customElements.get(name)) return;
  class Picture extends HTMLElement {
    connectedCallback() {
      if (this.shadowRoot) return; // it was moved
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
