import { buttonOf, element, icon } from "./canvas.js";

const SIGNS = {
  first: "M2 3h2v10H2zM14 3v10L5 8z",
  back: "M13 3v10L4 8z",
  play: "M4 2v12l10-6z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
  forward: "M3 3v10l9-5z",
  last: "M12 3h2v10h-2zM2 3v10l9-5z",
};
const SPEEDS = [0.5, 1, 2, 4, 8]; // the speeds that can be chosen, in steps per second

/**
 * @typedef {object} Film
 * @property {() => number} count returns the number of steps
 * @property {() => number} place returns the step that is shown, from 0
 * @property {() => string} words returns the text that says which step is shown
 * @property {(place: number) => void} go shows another step
 * @property {string} [last] the name of the button that leads to the last step
 * @property {string} [slider] the name of the slider
 * @property {number} [speed] the speed at first, in steps per second
 * @property {boolean} [loops] true if the last step is followed by the first
 */

/** Make buttons, a slider and a clock that move between the steps of a film.
 *
 * The root keeps whether the film plays and its speed, for later drawings.
 * @param {any} root
 * @param {Film} film
 */
export function transport(root, film) {
  const { count, place, words, go, last = "Last step", loops = false } = film;
  const button = (name, label, act) => {
    const sign = name === "play" ? "" : [icon(SIGNS[name])];
    return buttonOf(`control ${name}`, sign, act, { "aria-label": label, "data-name": name });
  };
  const first = button("first", "First step", () => move(0));
  const back = button("back", "Step back", () => move(place() - 1));
  const play = button("play", "", () => (root.playing ? pause() : begin()));
  const forward = button("forward", "Step forward", () => move(place() + 1));
  const end = button("last", last, () => move(count() - 1));
  const slider = element("input", "slider", "", {
    type: "range",
    min: 0,
    "aria-label": film.slider ?? "Step",
    "data-name": "slider",
  });
  slider.oninput = () => move(Number(slider.value));
  root.speed ??= film.speed ?? 1;
  const speeds = SPEEDS.map((value) => element("option", "", `${value} a second`, { value }));
  const speed = element("select", "control speed", speeds, { "aria-label": "Speed", "data-name": "speed" });
  speed.value = root.speed;
  speed.onchange = () => {
    root.speed = Number(speed.value);
    if (root.playing) resume();
  };
  const counter = element("span", "counter");
  const controls = element("div", "transport", [first, back, play, forward, end, slider, counter, speed]);

  root.moves = { count, place, go: move, speed: () => root.speed };

  function move(to) {
    pause();
    go(Math.max(0, Math.min(count() - 1, to)));
  }
  function begin() {
    root.playing = true;
    if (place() === count() - 1) go(0);
    resume();
  }
  function resume() {
    stop();
    if (root.playing) root.clock = setInterval(tick, 1000 / root.speed);
    update();
  }
  function tick() {
    if (!root.isConnected) stop();
    else if (place() < count() - 1) go(place() + 1);
    else if (loops) go(0);
    else pause();
  }
  function pause() {
    root.playing = false;
    stop();
    update();
  }
  function stop() {
    clearInterval(root.clock);
    root.clock = null;
  }
  function update() {
    const [sign, name] = root.playing ? [SIGNS.pause, "Pause"] : [SIGNS.play, "Play"];
    if (play.ariaLabel !== name) play.replaceChildren(icon(sign), ` ${name}`);
    play.ariaLabel = name;
    first.disabled = back.disabled = place() === 0;
    forward.disabled = end.disabled = place() === count() - 1;
    slider.max = String(count() - 1);
    slider.value = String(place());
    counter.textContent = words();
  }
  return { controls, update, pause, resume, stop };
}
