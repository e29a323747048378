"""The player of a decoding's steps, in which a visitor can force tokens; a beam search's tree."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from headlight.model.decoding.steps import Decoding, DecodingStep, Node, stack_rows
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.parts.decoding.beam_tree import Leaf, beam_tree
from headlight.pages.parts.decoding.request import (
    STEP,
    Branch,
    Request,
    branches_of,
    refuse,
    show_branch,
    text_at,
)
from headlight.pages.shared.runs.arrays import as_array, one_head
from headlight.pages.shared.show.captions import caption, site_words
from headlight.pages.shared.show.cells import follow, open_inside
from headlight.pages.shared.show.pictures import picked, show
from headlight.pages.shared.show.riddle import Riddle, places_of_most, row_asked_about, told_apart
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.show.texts import ended
from headlight.pages.shared.state.choices import (
    GUESS,
    GUESS_ROW,
    HEAD,
    KINDS,
    LAYER,
    HeadChoice,
    applied,
    chosen,
    put,
)
from headlight.pages.shared.state.showing import say
from headlight.pages.shared.state.wings import if_clicks
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import Bar, CanvasPicture, attention_heatmap, decoding_player, probability_bars
from headlight.viz.numbers import number_text

PLAYER = "The weights are from this step, for the head chosen above.{click}"
CLICK = " Click a row of the alignment to go to its step, or a weight to see how it comes about."
BEAM = (
    "Each column is a step, best text first. A solid frame: kept. Rounded: ended. Dashed: dropped, "
    "of which only the best are drawn. The search goes on until no unfinished text can score "
    "better than a finished one; a score is the log-probability / length^penalty. The thick path "
    "leads to the text that was returned.{click}"
)
OTHER_TOKENS = (
    "Read again, the text written here splits into other tokens, so its weights cannot be taken "
    "apart."
)
CANDIDATES = 10  # the number of candidates for the next token that are shown at each step
NodeAddress = tuple[int, int]  # a step of the tree and an index in it, from 0


def node_of(request: Request) -> NodeAddress | None:
    """Return the step and index of the text that was clicked in the tree, if one was.

    None stands for the text that the search returned. It is None again after the settings change,
    or after a link or a slide sets the choices.
    """
    of = request, applied()
    if st.session_state.get("node", (None,))[0] != of:
        st.session_state.node = of, None
    return st.session_state.node[1]


def choose_node(node: NodeAddress | None) -> None:
    """Show the steps that led to a text of the tree; with None those of the returned text."""
    st.session_state.node = st.session_state.node[0], node
    put(STEP, node[0] if node else 0)


def likeliest_next(decoding: Decoding, node: NodeAddress | None) -> Riddle:
    """Draw the choice of a step; return a riddle: which token is likeliest at that step?"""
    steps = decoding.steps_to(decoding.path_to(*node) if node else decoding.path)
    in_order = [f"token {number}" for number, _ in enumerate(steps, start=1)]
    box = {"widget": st.selectbox, "format_func": in_order.__getitem__, "width": 240}
    step = steps[choose(GUESS_ROW, range(len(steps)), **box)]
    bars = sorted(bars_of(step), key=lambda bar: (bar.before > "", bar.text))
    written = f"After “{step.text}”" if step.text else "At the beginning"
    # An ellipsis marks a token that continues the last word.
    tokens = [f"…{bar.text}" if bar.before else bar.text for bar in bars]
    return Riddle(
        f"{written}, which token does the model find likeliest?",
        "the likeliest is",
        tokens,
        told_apart(tokens),
        [f"{number_text(100 * bar.probability, 1)} %" for bar in bars],
        places_of_most(np.array([bar.probability for bar in bars])),
    )


def player(request: Request, node: NodeAddress | None, of: About) -> bool:
    """Draw the player of the returned text, or of the text that was clicked in the tree.

    Return False if it is hidden because its riddle is not guessed yet; see `show`.
    """
    decoding = request.decode()
    path = decoding.path_to(*node) if node else decoding.path
    layer, head = chosen(LAYER), chosen(HEAD)
    asked = row_asked_about(len(path)) if chosen(GUESS) else 0
    start = chosen(STEP) or asked
    picture = player_of(decoding, path, layer=layer, head=head, start=start)
    head_words = site_words("decoder", layer, head).removeprefix(f"{KINDS['decoder']}, ")
    is_drawn = show(
        picture,
        "player",
        lambda: answer(request, path),
        of=of,
        what=f"Decoding, {head_words}",
        riddle=lambda: likeliest_next(decoding, node),
    )
    follow()
    if not is_drawn:
        return False
    caption(f"{request.strategy.method.words} {PLAYER.format(click=if_clicks(CLICK))}")
    with st.expander("All steps at once"):
        what = "How likely each token was"
        show(certainty_of(decoding, path), "certainty", of=of, what=what)
        if decoding.writing.source_tokens:
            alignment = alignment_of(decoding, path, layer=layer, head=head)
            show(alignment, "alignment", of=of, what=f"Alignment, {head_words}")
    return True


def answer(request: Request, path: Sequence[int]) -> None:
    """Act on a click in the player: on a step, a token or text to force, or a weight."""
    if (picked_last := picked("player")) is None:
        return  # an earlier click led to another page
    step, choice = picked_last
    if choice is None:
        put(STEP, step)
    elif isinstance(choice, dict):
        take_apart(request, path, step, choice["kind"], choice["key"])
    else:
        force(request, path, step, choice)


def take_apart(request: Request, path: Sequence[int], step: int, kind: Kind, key: int) -> None:
    """Open the page Inside a head at the weight that was clicked in a step.

    If a mean or maximum over heads is shown, take the head with the largest weight on this key.
    """
    if why_not := request.run.reader.missing.get("take apart"):
        refuse(why_not)
        return
    decoding = request.decode()
    last = decoding.last_of(path)
    ids = decoding.ids_of(path)[: len(path) - last.ended]
    read = replace(request.run, target=last.text).tokens().target_tokens
    if [token.id for token in read][len(read) - len(ids) :] != ids:
        refuse(OTHER_TOKENS)
        return
    site, head, summed_up = Site(kind, chosen(LAYER)), chosen(HEAD), ""
    if isinstance(head, str):
        summed_up = site_words(*site, head)
        weights = decoding.steps_to(path)[step].weights[site]  # (H, K)
        head = int(weights[:, key].argmax())
    query = len(decoding.steps_to(path)[step].read) - 1
    open_inside(*site, head, query, key, target=last.text, summed_up=summed_up)


def force(request: Request, path: Sequence[int], step: int, choice: str | int) -> None:
    """Write another text: from `step` on it has a forced candidate (an index) or a typed text."""
    decoding = request.decode()
    try:
        if isinstance(choice, str):
            tokens = request.run.reader.begin(choice)
        else:
            tokens = [decoding.steps_to(path)[step].candidates(CANDIDATES)[choice].token]
        forced = (*decoding.ids_of(path[:step]), *(token.id for token in tokens))
        branch = Branch(forced, step)
        branch = replace(branch, text=text_at(request.decode(branch), forced, step))
    except ValueError as error:
        refuse(str(error))
    else:
        if forced != tuple(decoding.ids_of(decoding.path))[: len(forced)]:
            branches_of(request.run).keep(branch)
            show_branch(branch)


def tree(decoding: Decoding, node: NodeAddress | None, of: About, greedy: str) -> None:
    """Draw a sentence on the text that a beam search writes, and the tree of the search.

    The sentence `greedy`, on greedy decoding, follows the first sentence.
    A click on a text of the tree shows the steps that led to it.
    """
    made, size = decoding.writing, len(decoding.writing.target_tokens)
    score = number_text(decoding.strategy.score(made.score, size))
    say(
        ended(f"A beam of size {decoding.strategy.beam_size} writes “{made.text}”"),
        "beam",
        numbers=f"It has the best score of the texts that ended, {score} "
        f"({number_text(made.score)} nats over {size} tokens). {greedy}",
    )
    picture = tree_of(decoding, node)
    show(picture, "tree", lambda: choose_node(tuple(picked("tree"))), of=of, what="The beam")
    caption(BEAM.format(click=if_clicks(" Click a text to see its steps below.")))
    if node:
        st.button("Back to the text that was returned", on_click=choose_node, args=[None])


def say_sampled(decoding: Decoding, greedy: str) -> None:
    """Say which text was sampled, followed by the sentence `greedy`."""
    made, size = decoding.writing, len(decoding.writing.target_tokens)
    cut_off = "" if made.finished or made.stopped else " The text was cut off at the limit."
    say(
        ended(f"Sampling with seed {decoding.strategy.seed} writes “{made.text}”"),
        "sampled",
        numbers=f"{number_text(made.score)} nats over {size} tokens.{cut_off} {greedy}",
    )


def player_of(
    decoding: Decoding, path: Sequence[int], *, layer: int, head: HeadChoice, start: int
) -> CanvasPicture:
    """Return the player of the steps that wrote a text; `path` has its index at each step."""
    steps = decoding.steps_to(path)
    weights = [step.weights for step in steps]
    visible = [step.visible for step in steps]
    source = [token.text for token in decoding.writing.source_tokens]
    return decoding_player(
        rows_of(weights, "decoder", layer, head),
        rows_of(weights, "cross", layer, head) if source else None,
        rows_of(visible, "decoder", layer, head) > 0,
        [token.text for token in steps[-1].read],
        source or None,
        texts=[*(step.text for step in steps), decoding.last_of(path).text],
        bars=[bars_of(step) for step in steps],
        start=min(start, len(steps) - 1),
        ending=ending(decoding.last_of(path), len(steps)),
    )


def alignment_of(
    decoding: Decoding, path: Sequence[int], *, layer: int, head: HeadChoice
) -> CanvasPicture:
    """Return a heatmap of the cross-attention: a row per step, named “token read → written”."""
    steps = decoding.steps_to(path)
    weights = rows_of([step.weights for step in steps], "cross", layer, head)  # (T, K)
    rows = [f"{step.read[-1].text} → {step.token.text}" for step in steps]
    source = [token.text for token in decoding.writing.source_tokens]
    return attention_heatmap(weights, rows, source)


def certainty_of(decoding: Decoding, path: Sequence[int]) -> CanvasPicture:
    """Return bars of the probability that each token of a text had when it was written."""
    steps = decoding.steps_to(path)
    probabilities = np.exp([step.log_probability for step in steps])
    return probability_bars(
        {"when it was written": probabilities}, [step.token.text for step in steps]
    )


def rows_of(steps: Sequence[dict], kind: Kind, layer: int, head: HeadChoice) -> np.ndarray:
    """Return a head's weights or visible keys by step, or the mean or maximum of all: (T, K)."""
    return one_head(as_array(stack_rows(steps, kind)[layer]), head)  # (H, T, K) -> (T, K)


def bars_of(step: DecodingStep) -> list[Bar]:
    """Return bars of a step's candidates; one that continues a word also has the word so far."""
    word, bars = step.text.rpartition(" ")[2], []
    for candidate in step.candidates(CANDIDATES):
        goes_on = candidate.token.start == len(step.text) and not candidate.token.is_special
        before, written = word if goes_on else "", candidate.token.id == step.token.id
        numbers = {"drawn": candidate.drawn, "rank": candidate.rank}
        bars.append(
            Bar(candidate.token.text, candidate.probability, before, chosen=written, **numbers)
        )
    return bars


def tree_of(decoding: Decoding, selected: NodeAddress | None) -> CanvasPicture:
    """Return the picture of the tree of all texts that were kept or dropped."""
    best = list(enumerate(decoding.path))
    leaves = [
        [leaf_of(node, (step, index) in best) for index, node in enumerate(nodes)]
        for step, nodes in enumerate(decoding.tree)
    ]
    return beam_tree(leaves, selected=selected)


def leaf_of(node: Node, best: bool) -> Leaf:
    numbers = node.log_probability, node.score
    return Leaf(node.parent, node.token.text, node.text, *numbers, node.kept, node.ended, best)


def ending(last: Node, steps: int) -> str:
    """Return a sentence on why a text ends here: end token, limit of tokens, or dropped."""
    if last.ended:
        return "The end token: the text stops here."
    return f"Stopped at the limit, after {steps} tokens." if last.kept else "Dropped here."
