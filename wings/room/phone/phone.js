// The page of a phone in a room: the question, a button for each answer (heads in tables), and after
// the guesses are closed how often each was guessed. A phone that reloads or was away shows the same as the others.

const EVERY = 1000; // milliseconds between two requests
const room = document.currentScript.dataset.room;
const [title, sentence, options, said] = ["h1", ".sentence", ".options", ".said"].map((of) => document.querySelector(of));
let drawn = ""; // the question whose buttons are on the page
let buttons = []; // one for each answer

/** Request a path of the room and return the answer; throw an error if it is refused or does not come. */
async function request(path, sent) {
  const more = sent ? { method: "POST", body: JSON.stringify(sent) } : {};
  const answer = await fetch(`${room}/${path}`, { cache: "no-store", ...more });
  const state = await answer.json();
  if (!answer.ok) throw new Error(state.said);
  return state;
}

async function guess(number, option) {
  try {
    draw(await request("guess", { number, option }));
  } catch (error) {
    say(error);
  }
}

function say(error) {
  said.textContent = error instanceof TypeError ? "No connection to the room. Trying again …" : error.message;
}

function element(tag, className, ...content) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...content);
  return made;
}

function buttonOf(option, number, place) {
  const button = element("button", "", element("span", "", option), element("span", ""));
  button.onclick = () => guess(number, place);
  return button;
}

/** Return buttons for heads as a line for each layer, below the label of their kind of attention. */
function tablesOf(boards, buttons) {
  const left = [...buttons];
  return boards.flatMap(([label, layers, heads]) => {
    const lines = Array.from({ length: layers }, (_, layer) => lineOf(`Layer ${layer + 1}`, left.splice(0, heads)));
    return [element("h2", "", label), ...lines];
  });
}

function lineOf(label, buttons) {
  buttons.forEach((button, head) => {
    button.ariaLabel = button.firstChild.textContent;
    button.firstChild.textContent = `${head + 1}`;
  });
  return element("div", "layer", element("span", "", label), ...buttons);
}

function draw(state) {
  const { number, asks, closed, counts, right } = state;
  const question = JSON.stringify([number, asks, state.options]);
  if (question !== drawn) {
    title.textContent = asks || "Wait for the next question.";
    sentence.textContent = state.sentence;
    buttons = state.options.map((option, place) => buttonOf(option, number, place));
    options.replaceChildren(...(state.boards.length ? tablesOf(state.boards, buttons) : buttons));
    drawn = question;
  }
  const all = counts.reduce((sum, count) => sum + count, 0);
  buttons.forEach((button, place) => {
    button.disabled = closed;
    button.ariaPressed = String(state.guess === place);
    button.style.setProperty("--share", closed && all ? `${(100 * counts[place]) / all}%` : "0%");
    button.lastChild.textContent = `${counts[place] || ""}${right.includes(place) ? " ✓" : ""}`;
  });
  said.textContent = wordsOn(state);
}

function wordsOn({ asks, closed, guess: mine, options: texts, right }) {
  if (!asks) return "";
  if (closed && right.length) return right.includes(mine) ? "You were right." : `It is ${texts[right[0]]}.`;
  if (closed) return "The guesses are closed.";
  return mine === null ? "" : "Your guess counts. You can change it until the guesses are closed.";
}

async function follow() {
  try {
    draw(await request("now"));
  } catch (error) {
    say(error);
  }
  setTimeout(follow, EVERY);
}
follow();
