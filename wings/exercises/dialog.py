"""The dialog of exercises: opening a worksheet, making one, handing in, and what was handed in."""

import re
from collections.abc import Callable

import streamlit as st

from headlight.model.insight.roles import ROLES
from headlight.pages.shared.state.page import PAGES, Page
from headlight.pages.shared.state.wings import TOOLS, allows
from headlight.wings.exercises.goals import (
    COMPARED,
    MEASURES,
    NUMBER,
    Goal,
    measured,
)
from headlight.wings.exercises.progress import Progress, verify
from headlight.wings.exercises.scene import scene_of
from headlight.wings.exercises.session import begin_task, leave, open_worksheet, progress
from headlight.wings.exercises.worksheet import (
    LONGEST_TEXT,
    LONGEST_TITLE,
    MOST_GOALS,
    MOST_TASKS,
    Task,
    Worksheet,
    from_link,
    read,
    ready,
    write,
)

DRAFT, GOALS, BEGINS = "exercises_draft", "exercises_goals", "exercises_begin"
WRITTEN = "exercises_written"  # the texts in the boxes, by key
TITLE, INSTRUCTION, HINT = "Title", "Instruction", "Hint, or nothing"  # the labels of boxes
CHECKED = "exercises_checked"  # what was said of the text that was handed in
INTRO = "A task above the page, which the app measures on what the page shows."
PROVES = (
    "The checksum shows that the text was not changed after it was made, and each answer is "
    "measured again. Neither shows who solved the tasks."
)
MAKE = (
    "Arrange the page as pupils should find it, and press “Begin here”. Close this, and solve the "
    "task yourself. Then come back, write the instruction, and choose what is measured."
)


@st.dialog("Exercises", width="large", on_dismiss="rerun")
def ask(page: Page) -> None:
    """Draw what can be done with worksheets."""
    if not allows(TOOLS):  # for a class
        do_tasks()
        return
    do, make, check_in = st.tabs(["Do", "Make", "Check"])
    with do:
        do_tasks()
    with make:
        make_task(page)
    with check_in:
        check_handed_in()


def do_tasks() -> None:
    st.caption(INTRO)
    if current := progress():
        list_tasks(current)
    choose_worksheet()


def list_tasks(current: Progress) -> None:
    """Draw the tasks of the open worksheet, and the text to hand in."""
    st.text(current.worksheet.title)
    with st.container(gap=None):  # all of the tasks in one view
        for number, task in enumerate(current.worksheet.tasks):
            mark = "✓" if number in current.answers else "○"
            label = f"{mark} {number + 1}. {plain(task.title)}"
            key = f"task-{number}"
            if st.button(label, on_click=begin_task, args=[number], key=key, type="tertiary"):
                st.rerun()  # closes the dialog
    hand_in_button(current, key="hand-in")
    if st.button("Close the worksheet", on_click=leave):
        st.rerun()


def hand_in_button(current: Progress, key: str) -> None:
    """Draw the button that saves the text to hand in."""
    text = current.hand_in()
    st.download_button("Hand in", text, "exercises.txt", "text/plain", key, on_click="ignore")


def plain(text: str) -> str:
    """Return a text for a label, in which Markdown has no meaning."""
    return re.sub(r"([\\`*_{}\[\]()<>#+.!|~$:&-])", r"\\\1", text)


def choose_worksheet() -> None:
    """Draw the shipped worksheets, and a box for a file."""
    for name in ready():
        worksheet = from_link(name)
        label = f"Start: {worksheet.title} ({len(worksheet.tasks)} tasks)"
        offer(label, worksheet, name)
    file = st.file_uploader("A worksheet's file", type="json", max_upload_size=1)
    if file is not None:
        try:
            worksheet = read(file.getvalue())
        except ValueError as error:
            st.error(plain(str(error)))
        else:
            st.text(f"{worksheet.title}: {len(worksheet.tasks)} tasks")
            offer("Start this worksheet", worksheet)


def offer(label: str, worksheet: Worksheet, name: str | None = None) -> None:
    """Draw a button that opens a worksheet at its first task."""
    if st.button(label, on_click=start, args=[worksheet, name]):
        st.rerun()  # closes the dialog


def start(worksheet: Worksheet, name: str | None) -> None:
    """Open a worksheet at its first task; a callback."""
    open_worksheet(worksheet, name)
    begin_task(0)


def make_task(page: Page) -> None:
    """Draw the form that makes a scene a task, and the worksheet that is being made."""
    st.caption(MAKE)
    draft: list[Task] = st.session_state.setdefault(DRAFT, [])
    goals: list[Goal] = st.session_state.setdefault(GOALS, [])
    try:
        scene = scene_of(page)
    except ValueError as error:  # the model is gone
        st.text(str(error))
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Begin here", on_click=begin_here, args=[page.key, scene.choices])
        begins = st.session_state.get(BEGINS)
        st.caption(f"The task begins on {PAGES[begins[0]].title}." if begins else "Not chosen yet.")
    words, measuring = st.columns(2)
    with words:
        title = write_in(st.text_input, TITLE, LONGEST_TITLE)
        instruction = write_in(st.text_area, INSTRUCTION, LONGEST_TEXT)
        hint = write_in(st.text_input, HINT, LONGEST_TEXT)
    with measuring:
        goal = make_goal(page)
    needs = [need for need in MEASURES[goal.measure].needs if need not in goal.of]
    every = goals if needs or goal in goals else [*goals, goal]
    for each in every:
        st.text(measured(each, scene).words)
    asked = {"“Begin here”": begins, "a title": title, "an instruction": instruction}
    missing = [what for what, given in asked.items() if not given] + [f"the {n}" for n in needs]
    if missing:
        st.caption(f"Still missing: {', '.join(missing)}.")
    with st.container(horizontal=True):
        made = title, instruction, begins, hint, every
        is_closed = bool(missing) or len(draft) >= MOST_TASKS
        st.button("Add the task", on_click=add_task, args=made, disabled=is_closed)
        is_last = every == goals or len(every) == MOST_GOALS
        st.button("Set another goal too", on_click=goals.append, args=[goal], disabled=is_last)
    if draft:
        show_draft(draft)
    elif current := progress():
        tasks = current.worksheet.tasks
        st.button("Go on with the open worksheet", on_click=draft.extend, args=[tasks])


def write_in(box: Callable[..., str], label: str, longest: int, begins: str = "") -> str:
    """Draw a box that keeps its text while the dialog is closed; return the text."""
    key = f"made {label}"
    written: dict[str, str] = st.session_state.setdefault(WRITTEN, {})
    st.session_state.setdefault(key, written.get(key, begins))
    written[key] = box(label, max_chars=longest, key=key)
    return written[key].strip()


def begin_here(page: str, choices: dict[str, str]) -> None:
    """Keep the scene in which a task begins; a callback."""
    st.session_state[BEGINS] = page, choices


def add_task(
    title: str, instruction: str, begins: tuple[str, dict[str, str]], hint: str, goals: list[Goal]
) -> None:
    """Add a task to the worksheet that is being made, and empty the form; a callback."""
    st.session_state[DRAFT].append(Task(title, instruction, *begins, tuple(goals), hint))
    st.session_state[GOALS] = []
    for label in (TITLE, INSTRUCTION, HINT):
        st.session_state[f"made {label}"] = ""


def show_draft(draft: list[Task]) -> None:
    """Draw the worksheet that is being made, and what can be done with it."""
    st.text("\n".join(f"{number}. {task.title}" for number, task in enumerate(draft, 1)))
    named = write_in(st.text_input, "Title of the worksheet", LONGEST_TITLE, "A worksheet")
    worksheet = Worksheet(named or "A worksheet", tuple(draft))
    with st.container(horizontal=True):
        st.download_button(
            "Save the worksheet", write(worksheet), "worksheet.json", on_click="ignore"
        )
        offer("Try it", worksheet)
        st.button("Remove the last task", on_click=remove_last)


def remove_last() -> None:
    st.session_state[DRAFT].pop()


def make_goal(page: Page) -> Goal:
    """Draw the choice of what is measured, and of the value that is wanted."""
    name = st.selectbox("Measured", MEASURES)
    measure = MEASURES[name]
    listed = {"role": list(ROLES), "choice": [choice.key for choice in page.linked]}
    of = {}
    for need in measure.needs:
        label, key = need.capitalize(), f"goal-{name}-{need}"
        if need in listed:
            of[need] = st.selectbox(label, listed[need], key=key)
        elif text := st.text_input(label, key=key).strip():
            of[need] = text
    compare = st.selectbox("Wanted", COMPARED[measure.kind])
    value = st.number_input("Value", format="%.3f") if measure.kind == NUMBER else ""
    if measure.kind != NUMBER:
        value = st.text_input("Text", max_chars=LONGEST_TEXT)
    return Goal(name, compare, value, of)


def check_handed_in() -> None:
    """Draw a box for a text that was handed in, and measure its answers again."""
    st.caption(PROVES)
    current = progress()
    if current is None:
        st.text("Open the worksheet first.")
        return
    if text := st.text_area("The text that was handed in", height=160):
        checked = text, current.worksheet.digest
        if checked not in st.session_state.get(CHECKED, {}):
            try:
                lines = verify(text, current.worksheet)
            except ValueError as error:
                lines = [str(error)]
            st.session_state[CHECKED] = {checked: lines}  # measuring again would take long
        st.text("\n".join(st.session_state[CHECKED][checked]))
