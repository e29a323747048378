// Makes each action of a visitor one step in the browser's history.
//
// - A page writes its choices into its address only after it has loaded: this should be no step.
// - After several steps back at once, a page in between may still load and write its address: as a
//   step, this would delete the steps forward.
// - After a click on another page, its choices may be written before its path: both should be one step.
//
// Upstream: the issue named in late_address.py.
// Relies on: history.pushState, by which Streamlit writes every address.

/** Keep Streamlit from adding other steps to the history; call `changed` after each change of the address. */
export function keepSteps(changed) {
  let passing = false; // true if the browser has gone back or forward since the visitor's last action
  let stepped = false; // true if the page has added a step since the visitor's last action
  addEventListener("popstate", () => ((passing = true), changed()), true);
  for (const kind of ["pointerdown", "keydown", "click"]) addEventListener(kind, () => (passing = stepped = false), true);
  const { pushState } = history;
  history.pushState = (state, title, address) => {
    const { pathname, search } = new URL(address ?? "#", location.href);
    if (pathname === location.pathname && search === location.search) return;
    const same = pathname === location.pathname;
    if (passing && !same) return;
    const replaces = same ? passing || !location.search : stepped;
    stepped ||= same && !replaces;
    (replaces ? history.replaceState : pushState).call(history, state, title, address);
    changed();
  };
}
