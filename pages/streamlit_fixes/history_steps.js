// One act of a visitor is one step of the browser's history.
//
// A page first loads without its choices in the address, which should be no step of the history.
// Pages skipped on the way back may load at any later time, and would end the way forward.
// After a click on another page its choices can come before its path: both are one step.
//
// Upstream: as for late_address.py.
// Relies on: history.pushState, by which Streamlit writes every address.

/** Keep Streamlit from pushing other steps, and call a function whenever the address has changed. */
export function keepSteps(changed) {
  let passing = false; // whether the browser has gone back or forward since the visitor's last act
  let stepped = false; // whether the page has made a step of its own since then
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
