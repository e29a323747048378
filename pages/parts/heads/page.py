"""The page Heads: switch heads off or fade them, and see which heads matter, and for what."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from headlight.model.edits import Edits, HeadAddress
from headlight.model.insight.roles import ROLES, SEQUENCES, why_not
from headlight.model.insight.rows import DEFINITIONS, badges
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.parts.heads.switches import head_switches
from headlight.pages.parts.heads.words import HEAD_WORDS
from headlight.pages.shared.address import section
from headlight.pages.shared.controls import measure
from headlight.pages.shared.controls.sentence import ask, tokens_read
from headlight.pages.shared.frame import changes
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.runs.heads import Effects, cost_of_removals, head_roles, removal_effects
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show import answers, comparison
from headlight.pages.shared.show.captions import caption, labels_of, site_words
from headlight.pages.shared.show.cells import attention_map, if_taken_apart, open_inside
from headlight.pages.shared.show.riddle import CHOICES as RIDDLE
from headlight.pages.shared.show.riddle import Riddle, least_without, most_looked_at, which_head
from headlight.pages.shared.show.saving import About, about, about_run
from headlight.pages.shared.show.sight import mark_if_sought, reveal_if_sought, seek
from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.choice import number, one_of, switch
from headlight.pages.shared.state.choices import KINDS
from headlight.pages.shared.state.page import Page
from headlight.pages.shared.state.wings import WINGS, first_known, if_clicks
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import attention_heatmap, head_effects, head_scores
from headlight.viz.numbers import number_text

DETAIL = "head-in-detail"  # the key of the container that shows the selected head
EFFECTS = measure.Measurement(
    removal_effects, ("effects",), "Measure every head", "Removing one head after the other"
)
TESTED = switch("roles", label="Test every head")
ROLE = one_of("role", {name: role.title for name, role in ROLES.items()}, label="Role")
SCORES = "role-scores-begin"  # the key of the container above the scores, to which the page scrolls
SEED = number("role_seed", 0, (0, 9_999), label="Seed", help="The random tokens depend on it.")
ROLES_INTRO = (
    "What is a [head] for, whatever the sentence? The model reads a series of random tokens twice "
    f"in a row, and does so for {SEQUENCES} series. The tokens have no meaning, so what a head "
    "does depends only on where a token is and on which tokens are equal."
)
SWITCHED = "The tests use the heads as you switched or faded them above, but not your masks."


def head_in_detail(run: ModelRun, of: About) -> None:
    """Draw the selected head's weights, and badges that name the patterns in them."""
    kind, layer, head = address = measure.selected_head()
    record, words = run.record(Site(kind, layer)), site_words(*address)
    weights = as_array(record.weights[0, head])  # (query, key)
    reveal_if_sought(DETAIL)
    st.subheader(words)
    visible = record.masked_scores[0, head].isfinite().cpu().numpy()

    def ask() -> Riddle:
        sees_most = int(visible.sum(1).argmax())  # the first query of a decoder sees only one key
        return most_looked_at(words, weights, *labels_of(run, kind), ~visible, sees_most)

    above, (badges, said) = st.container(), badges_of(run, address, weights, visible)
    open_cell = if_taken_apart(run, partial(open_inside, *address))
    clickable = open_cell is not None
    options = {"blocked": ~visible, "clickable": clickable}
    picture = attention_heatmap(weights, *labels_of(run, kind), **options)
    of = replace(of, told=said)
    if attention_map(picture, "map", open_cell, of=of, what=words, riddle=ask):
        with above:
            badges()


def which_matter(run: ModelRun, of: About) -> None:
    """Draw the effect of removing each head alone, measured once a button is clicked."""
    if (objective := run.objective()) is None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        on = measure.choose_measured(run)
        is_asked = EFFECTS.is_asked(run, on, **cost_of_removals(run))
    if on is not None:
        objective = objective.only(on)
    click = if_clicks(HEAD_WORDS["open"])
    unit = "the score’s own" if objective.is_score else "nats of log-probability"
    words = HEAD_WORDS["effects"].format(measure=objective.description, unit=unit, click=click)
    caption(f"**Which heads matter?** {words}")
    if not is_asked:
        return
    options = measure.words_of_effects(objective)
    effects = EFFECTS.measure(run, on, draw=partial(head_effects, **options))
    known = without_those_off(effects, run.edits)
    selected = measure.selected_head()
    picture = head_effects(known, **options, selected=selected, absent="already off")
    ask = partial(least_without, effects, objective.description, objective.unit)
    options = {"of": of, "what": "Effect of removing each head", "riddle": ask}
    measure.show_heads(picture, "effects", DETAIL, **options)


def without_those_off(effects: Effects, edits: Edits) -> dict[Kind, np.ndarray]:
    """Return the effects, (layers, heads) by kind, with NaN for heads that are already off."""
    known: dict[Kind, np.ndarray] = {kind: values.copy() for kind, values in effects.items()}
    for (kind, layer, head), gate in edits.gates.items():
        if gate == 0 and kind in known:
            known[kind][layer, head] = np.nan
    return known


def roles(run: ModelRun) -> None:
    """Draw all heads' scores in the test of a role (such as induction), and the role's source."""
    st.subheader("Roles, by test")
    caption(ROLES_INTRO)
    if not choose(TESTED, on_change=partial(seek, SCORES)):
        return
    mark_if_sought(SCORES)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = choose(ROLE)
        seed = choose(SEED, width=120)
    role = ROLES[name]
    picture, words = st.columns([3, 2], gap="medium")
    if reason := why_not(run.reader, name):
        with picture:
            st.info(f"{role.title}: not for this model. {reason}")
    else:
        edits = Edits(gates=run.edits.gates)
        try:
            result = head_roles(run.model, run.loading, seed, edits)
        except ValueError as error:
            st.info(str(error))
            return
        scores: dict[Kind, np.ndarray] = {
            kind: as_array(each) for kind, each in result.scores[name].items()
        }
        of = about(" ".join(result.read), edits=edits, place=f"random tokens of seed {seed}, twice")
        with picture:
            what, score = f"{role.title} score of every head", f"{role.title} score"
            asks = f"Which head has the largest {score}?"
            ask = partial(which_head, asks, f"the largest {score} has", scores, number_text)
            drawn = head_scores(scores, labels=KINDS, name=score, selected=measure.selected_head())
            measure.show_heads(drawn, "role-scores", DETAIL, of=of, what=what, riddle=ask)
            caption(SWITCHED + if_clicks(HEAD_WORDS["open"]))
    with words:
        defined(name, set(run.reader.shape.kinds) - set(role.kinds))
        if not reason:
            half = len(result.read) // 2
            st.caption(f"The first of the random series, of {half} tokens, which is read twice:")
            st.text(" ".join(result.read[:half]))


def defined(name: str, without: set[Kind]) -> None:
    """Draw a role's definition and source, and the kinds of attention `without` a test for it."""
    role = ROLES[name]
    caption(f"**{role.title}**: {role.definition}.")
    caption(f"By chance: {role.chance}.")
    if without:
        kinds = " and ".join(KINDS[kind] for kind in KINDS if kind in without)
        caption(f"Not for {kinds}: {role.elsewhere}")
    st.caption(f"Source: {role.source}.")


@section
def switched(before: ModelRun) -> None:
    """Draw the switches of all heads, and the parts of the page that change with a switch."""
    changes.say(PAGE)
    edits = edit_history.edits()
    after = replace(before, edits=edits)
    of = about_run(after)
    head_switches(before.reader.shape, measure.selected_head(), of=of)
    texts = st.container()
    which_matter(after, of)
    output, detail = st.columns(2, gap="medium")
    with output:
        st.subheader("What it does to the output")
        comparison.compare_scores(before, after)
        answers.compare_answers(before, after, of=of)
    with detail, st.container(key=DETAIL):
        head_in_detail(after, of)
    roles(after)
    with texts:  # drawn last, because decoding takes longer than anything else here
        answers.say_predictions(before, after)
        comparison.compare_writing(before, after, of=of, in_columns=True)


def reading_help() -> None:
    """Draw the definitions of the badges, in an expander."""
    with st.expander("What the badges mean"):
        caption(HEAD_WORDS["badges"])
        st.markdown("\n\n".join(f"**{name}**: {words}" for name, words in DEFINITIONS.items()))


def heads() -> None:
    if run := ask():
        if "mask words" not in run.reader.missing:
            tokens_read(run, about_run(run))
        caption(HEAD_WORDS["board" if edit_history.may_change() else "closed board"])
        switched(run)
        reading_help()


def badges_of(
    run: ModelRun, address: HeadAddress, weights: np.ndarray, visible: np.ndarray
) -> tuple[Callable[[], None], str]:
    """Return a function that draws badges for a head's weights (Q, K), and the badges as text.

    A badge has the value of a pattern on this text, and its usual value over a corpus if that is
    known.
    """
    texts, text = [], ""
    for name, value in badges(weights, address[0], visible):
        said = f"{name} {value:.2f}"
        if over := first_known(wing.usual(run.model, name, address) for wing in WINGS):
            said += f" here; usually {over.mean:.2f} ± {over.deviation:.2f}"
            text = over.text
        texts.append(said)
    words = HEAD_WORDS["usually"].format(text=text) if text else ""

    def draw() -> None:
        st.markdown(" ".join(f":blue-badge[{said}]" for said in texts) or HEAD_WORDS["no badge"])
        if words:
            caption(f"{words}.")

    summary = f"Its badges: {', '.join(texts)}" if texts else ""
    return draw, ". ".join(filter(None, (summary, words)))


PAGE = Page(
    key="heads",
    title="Heads",
    group="Change",
    purpose="Switch heads off, and see which of them matter",
    body=heads,
    choices=(measure.MEASURED, *RIDDLE, TESTED, ROLE, SEED),
    changes="all",
    pictures={
        "source": "the tokens it reads",
        "switchboard": "the switches of all heads",
        "trained": "the output as trained",
        "changed": "the output with changes",
        "probabilities": "how likely each token is",
        "answer-0": "what the model chooses",
        "effects": "which heads matter",
        "map": "one head as a heatmap",
        "role-scores": "the roles of all heads, by test",
    },
    first=partial(comparison.first_pictures, "switchboard"),
    riddles=("effects", "map", "role-scores"),
)
