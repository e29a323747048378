"""The dialog of exercises: opening a worksheet, making one, handing in, and what was handed in."""

import re
from dataclasses import replace

import streamlit as st

from headlight.pages.shared.address import now, write_parameters
from headlight.pages.shared.state.page import Page
from headlight.wings.exercises.goals import (
    COMPARED,
    MEASURES,
    NUMBER,
    Goal,
    check,
    measured,
    scene_of,
)
from headlight.wings.exercises.progress import Progress, verify
from headlight.wings.exercises.session import begin_task, leave, open_worksheet, progress
from headlight.wings.exercises.worksheet import (
    LONGEST_TEXT,
    LONGEST_TITLE,
    MOST_TASKS,
    Task,
    Worksheet,
    from_link,
    read,
    ready,
    write,
)

DRAFT = "exercises_draft"
INTRO = "A task above the page, which the app measures on what the page shows."
PROVES = (
    "The checksum shows that the text was not changed after it was made, and each answer is "
    "measured again. Neither shows who solved the tasks."
)
MAKE = (
    "Arrange the page as a pupil is to find it, and press “Begin here”. Then solve the task "
    "yourself, choose what is measured, and add the task."
)


@st.dialog("Exercises", width="large", on_dismiss="rerun")
def ask(page: Page) -> None:
    """Draw what can be done with worksheets."""
    do, make, check_in = st.tabs(["Do", "Make", "Check"])
    with do:
        st.caption(INTRO)
        if current := progress():
            list_tasks(current)
        choose_worksheet()
    with make:
        make_task(page)
    with check_in:
        check_handed_in()


def list_tasks(current: Progress) -> None:
    """Draw the tasks of the open worksheet, and the text to hand in."""
    st.text(current.worksheet.title)
    for number, task in enumerate(current.worksheet.tasks):
        mark = "✓" if number in current.answers else "○"
        label = f"{mark} {number + 1}. {plain(task.title)}"
        if st.button(
            label, on_click=begin_task, args=[number], key=f"task-{number}", type="tertiary"
        ):
            st.rerun()  # closes the dialog
    text = current.hand_in()
    st.download_button("Hand in", text, "exercises.txt", "text/plain", on_click="ignore")
    if st.button("Close the worksheet", on_click=leave):
        st.rerun()


def plain(text: str) -> str:
    """Return a text for a label, in which Markdown has no meaning."""
    return re.sub(r"([\\`*_{}\[\]()<>#+.!|~$:&-])", r"\\\1", text)


def choose_worksheet() -> None:
    """Draw the shipped worksheets, and a box for a file."""
    for name in ready():
        worksheet = from_link(name)
        label = f"Start: {worksheet.title} ({len(worksheet.tasks)} tasks)"
        offer(label, worksheet, name)
    file = st.file_uploader("A worksheet's file", type="json")
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
    if st.button("Begin here"):
        values = {choice.key: now(choice) for choice in page.linked}
        parameters = write_parameters(page.linked, values, whole=True)
        st.session_state.exercises_begin = page.key, parameters
    begins = st.session_state.get("exercises_begin")
    st.caption("The task begins with a scene of this app." if begins else "No scene is kept yet.")
    title = st.text_input("Title", max_chars=LONGEST_TITLE)
    instruction = st.text_area("Instruction", max_chars=LONGEST_TEXT, height=80)
    hint = st.text_input("Hint, or nothing", max_chars=LONGEST_TEXT)
    goal = make_goal()
    try:
        check(goal)
        st.text(measured(goal, scene_of(page)).words)
    except ValueError as error:
        st.text(str(error))
        return
    if begins and title.strip() and instruction.strip() and len(draft) < MOST_TASKS:
        task = Task(title.strip(), instruction.strip(), begins[0], begins[1], (goal,), hint.strip())
        st.button("Add the task", on_click=draft.append, args=[task])
    if draft:
        st.text("\n".join(f"{number}. {task.title}" for number, task in enumerate(draft, 1)))
        worksheet = Worksheet("A worksheet", tuple(draft))
        named = st.text_input("Title of the worksheet", worksheet.title, max_chars=LONGEST_TITLE)
        worksheet = replace(worksheet, title=named.strip() or worksheet.title)
        with st.container(horizontal=True):
            st.download_button(
                "Save the worksheet", write(worksheet), "worksheet.json", on_click="ignore"
            )
            offer("Try it", worksheet)
            st.button("Remove the last task", on_click=remove_last)


def remove_last() -> None:
    st.session_state[DRAFT].pop()


def make_goal() -> Goal:
    """Draw the choice of what is measured, and of the value that is wanted."""
    name = st.selectbox("Measured", MEASURES)
    measure = MEASURES[name]
    of = {}
    for need in measure.needs:
        if text := st.text_input(need.capitalize(), key=f"goal-{name}-{need}").strip():
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
        try:
            st.text("\n".join(verify(text, current.worksheet)))
        except ValueError as error:
            st.text(str(error))
