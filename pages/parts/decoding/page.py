"""The page Decoding: watch how a text is written, one token at a time, and force tokens."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from headlight.model.decoding.steps import Decoding
from headlight.model.decoding.strategies import Strategy
from headlight.model.questions import Question
from headlight.pages.parts.decoding.cache import (
    BUDGET,
    LENGTH,
    POLICY,
    cache_section,
    eviction_section,
)
from headlight.pages.parts.decoding.player import node_of, player, say_sampled, tree
from headlight.pages.parts.decoding.request import (
    CHOICES,
    STRATEGIES,
    STRATEGY,
    Branch,
    Request,
    branches_of,
    choose_request,
    show_branch,
    strategy_of,
)
from headlight.pages.parts.decoding.shifted_right import shifted_right
from headlight.pages.shared.address import section
from headlight.pages.shared.controls.sentence import ask
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.runs.run import ModelRun, reading_its_own, with_own_text, written
from headlight.pages.shared.show.captions import GLOSSARY, caption
from headlight.pages.shared.show.comparison import show_writing
from headlight.pages.shared.show.doubt import warn
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.riddle import CHOICES as RIDDLE
from headlight.pages.shared.show.saving import About, about_run
from headlight.pages.shared.show.texts import ended
from headlight.pages.shared.state.choices import KIND, TARGET, chosen
from headlight.pages.shared.state.models import BEAM_EXAMPLES
from headlight.pages.shared.state.page import Page
from headlight.pages.shared.state.wings import CLICKS, allows
from headlight.pages.shared.widgets.choose import choose
from headlight.viz.numbers import number_text

WHAT_IF = "Click a candidate above, or type a text there: decoding goes on from it as a branch."
TEACHER_FORCING = (
    "In training the decoder reads the reference shifted right by one, whatever it would have "
    "written itself, so all positions are computed in one pass. Each arrow leads from a token to "
    "where it is read. The end token counts in both scores, or in neither if the text was cut off."
)


def what_if(request: Request, of: About) -> None:
    """Draw the text written without forced tokens, and those with forced tokens.

    The words in which they differ from the first text are marked.
    """
    branches = branches_of(request.run)
    if len(branches.kept) == 1 and not allows(CLICKS):
        return
    st.subheader("What if")
    if len(branches.kept) == 1:
        caption(WHAT_IF)
        return
    free_run = request.decode(Branch()).writing
    for index, branch in enumerate(branches.kept):
        buttons, text = st.columns([1, 3], vertical_alignment="center")
        with buttons, st.container(horizontal=True):
            shown = branch == request.branch
            label, key = "Shown" if shown else "Show", f"show-{index}"
            st.button(label, key=key, on_click=show_branch, args=[branch], disabled=shown)
            if index:
                st.button("Remove", key=f"remove-{index}", on_click=branches.remove, args=[branch])
        with text:
            try:
                made = request.decode(branch).writing
            except ValueError as error:
                st.caption(str(error))
                continue
            at = "the end token" if made.finished else "the limit"
            at = "a stop string" if made.stopped else at
            length = f"{len(made.target_tokens)} tokens, stopped at {at}"
            label = f"{branch.name}: {number_text(made.score)} nats, {length}"
            marked = {"other": free_run, "explained": not index}
            show_writing(made, f"branch-{index}", label, of=of, **marked)


def teacher_forcing(run: ModelRun, decoding: Decoding) -> None:
    """Draw a reference text that the decoder reads in one pass, and its log-probability.

    Next to it is the log-probability of the decoded text. Both include the end token or neither.
    """
    st.subheader("Teacher forcing")
    own = written(run.as_trained).text
    label = "Reference (empty: the text that the model writes as trained)"
    forced = replace(run, target=choose(TARGET, label=label, placeholder=own))
    trace = forced.trace() if forced.target else reading_its_own(run)
    made, begun = decoding.writing, len(decoding.begun)
    wanted = [token.id for token in trace.target_tokens[begun:] if not token.is_padding]
    if made.finished:
        wanted.append(made.target_tokens[-1].id)
    read = trace.target_tokens[begun - 1 :][: len(wanted)]
    logs = trace.logits[0, begun - 1 :][: len(wanted)].log_softmax(dim=-1)  # (T, V)
    likelihoods = logs[range(len(wanted)), wanted]
    highest, favourites = logs.max(dim=-1)

    def labels(ids: list[int]) -> list[str]:
        return [run.reader.label(trace, Question("", row), index) for row, index in enumerate(ids)]

    both = as_array(likelihoods.exp()), as_array(highest.exp())
    texts = [token.text for token in read], labels(wanted), labels(favourites.tolist())
    picture = shifted_right(*both, *texts)
    show(picture, "forced", of=about_run(forced), what="Teacher forcing")
    with st.container(horizontal=True):
        forced_score = number_text(likelihoods.sum().item())
        st.metric("The reference, forced", f"{forced_score} nats", help=GLOSSARY["nats"])
        st.metric("The text written above", f"{number_text(made.score)} nats")
        agreed = sum(map(int.__eq__, wanted, favourites.tolist()))
        st.metric("Reference token ranked first", f"{agreed} of {len(wanted)}")
    caption(TEACHER_FORCING)


def greedy_words(request: Request) -> str:
    """Return which text greedy decoding writes with the same tokens forced, as a sentence."""
    made, own = (each.decode().writing for each in (request, replace(request, strategy=Strategy())))
    who = "Greedy, with the same tokens forced," if request.branch.forced else "Greedy"
    return f"{who} writes {'the same.' if own.text == made.text else ended(f'“{own.text}”')}"


@section
def everything(run: ModelRun) -> None:
    request = choose_request(run)
    if request is None:
        return
    decoding = request.decode()
    made = decoding.writing
    of = about_run(replace(request.run, target=made.text), place=request.words)
    node = node_of(request)
    above, beam = st.container(), st.container()
    is_drawn = player(request, node, of)
    with above:
        if request.branch.forced:
            own, name = request.decode(Branch()).writing, request.branch.name
            both = f"{name}: “{made.text}”\nNothing forced: “{own.text}”"
            texts, undo = st.columns([6, 1], vertical_alignment="center")
            texts.text(both if is_drawn else f"Forced: {name}")
            take_back = branches_of(request.run).remove
            undo.button("Undo", on_click=take_back, args=[request.branch], key="undo-forced")
        if not is_drawn:
            return
        warn(run)
    if options := request.strategy.method.options:
        with beam:
            if "beam_size" in options:
                tree(decoding, node, of, greedy_words(request))
            else:
                say_sampled(decoding, greedy_words(request))
    what_if(request, of)
    path = decoding.path_to(*node) if node else decoding.path
    if cache_section(decoding, path, request.run.reader.shape, of):
        eviction_section(request, of)
    teacher_forcing(request.run, decoding)


def first_pictures() -> tuple[str, ...]:
    """Return the pictures of a new slide: the tree of a beam, otherwise the player."""
    return ("tree",) if "beam_size" in STRATEGIES[chosen(STRATEGY)].options else ("player",)


def decoding_page() -> None:
    if run := ask("write", examples=BEAM_EXAMPLES):
        everything(run)


def with_strategy(run: ModelRun, values: Mapping[str, Any]) -> ModelRun:
    """Return the run with the chosen strategy, in which a changed model reads its own text."""
    return with_own_text(replace(run, strategy=strategy_of(values)))


PAGE = Page(
    key="decoding",
    title="Decoding",
    group="Watch",
    purpose="How the output comes about, one token at a time",
    body=decoding_page,
    changes="in force",
    own=with_strategy,
    unread=(KIND,),
    choices=(TARGET, *RIDDLE, *CHOICES, LENGTH, POLICY, BUDGET),
    pictures={
        "player": "the steps of the decoding",
        "certainty": "how likely each token was",
        "alignment": "the whole alignment",
        "tree": "the beam",
        "cache": "the key-value cache",
        "evicted": "the keys that are kept",
        "forced": "a reference text, forced",
    },
    first=first_pictures,
    riddles=("player",),
)
