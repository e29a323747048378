// Everything that scripts use of Streamlit's DOM. Only the classes of keys, .st-key-NAME, are public.

const RUN = "data-test-script-state";
const CONNECTION = "data-test-connection-state";

/** @type {(selector: string) => HTMLElement | null} */
const first = (selector) => document.querySelector(selector);

/** @type {(target: Element, selector: string) => HTMLElement | null} */
const around = (target, selector) => target.closest(selector);

const app = () => first(".stApp");

/** Return the element that has the colours of the page, also on a page without Streamlit. */
export const paper = () => app() ?? document.body;
export const main = () => first(".stMain");
export const content = () => first(".stMainBlockContainer");
export const isRunning = () => app()?.getAttribute(RUN) === "running";
export const isConnected = () => app()?.getAttribute(CONNECTION) === "CONNECTED";

/** Return whether the page is blank: an error removed the app, or a finished run drew nothing. */
export function isBlank() {
  const isDone = isConnected() && app().getAttribute(RUN) === "notRunning";
  return !app() || (isDone && !first(".stMain .stElementContainer"));
}

/** Call a function whenever a run begins or ends, or the connection is lost or back; returns a function that stops this. */
export function whenStateChanges(call) {
  const watch = new MutationObserver(call);
  watch.observe(document.body, { subtree: true, attributeFilter: [RUN, CONNECTION] });
  return () => watch.disconnect();
}

export const openDialog = () => first(".stDialog:not([hidden])");
export const pageLink = (target) => around(target, ".stPageLink a");
export const sidebarLink = (target) => around(target, ".stSidebar a");
export const closesSidebar = () => first("[data-testid=stSidebarCollapseButton] button");

/** Return the most characters that a text box takes. */
export function mostCharacters(box) {
  const counted = around(box, ".stTextInput, .stTextArea")?.querySelector("[data-testid=InputInstructions]");
  return Number(/\/(\d+)$/.exec(counted?.textContent)?.[1] ?? Infinity);
}

export const BUTTONS = ".stButton, .stDownloadButton, .stMenuButton, .stLinkButton, .stFileUploader";
export const CHOICES =
  ".stTextInput, .stTextArea, .stNumberInput, .stSelectbox, .stMultiSelect, .stSlider, .stCheckbox, " +
  ".stRadio, .stButtonGroup, .stDateInput";
export const openPopover = () => first("[data-testid=stPopoverButton][aria-expanded=true]");
export const popoverBody = () => first("[data-testid=stPopoverBody]");

export const CHARTS = ".stPlotlyChart, .stVegaLiteChart"; // charts that other libraries draw
/** The elements with tokens and numbers, which a browser's translator should not change. */
export const NAMES_AND_NUMBERS =
  `.stBidiComponent, .stText, .stMetric, .stCode, .stDataFrame, ${CHARTS}, .katex, code, ` +
  ".stMultiSelect span[title], [role=listbox], [data-testid^=stSliderT]";
