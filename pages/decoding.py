"""See a translation come about, one token at a time, and steer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import NamedTuple

import streamlit as st
from pages.shared.controls.choose import choose_head, choose_layer

from model import Decoding
from model.decoding.strategies import STRATEGIES, Strategy
from model.edits import Edits
from model.insight.scoring import most_likely_tokens, trace_log_probabilities
from model.tokens import END_ID
from model.trace import Site
from pages.parts.decoding import branches
from pages.parts.decoding.branches import Branch
from pages.parts.decoding.steps import candidates_of, player_of, tree_of
from pages.shared.controls.sentence import sentence_box
from pages.shared.frame.frame import open_page
from pages.shared.link import address
from pages.shared.runs.arrays import following, tokens_of
from pages.shared.runs.translator import decoded, traced, translated, translator
from pages.shared.show.captions import site_words
from pages.shared.show.cells import follow, open_inside
from pages.shared.show.pictures import chips, picked, show
from pages.shared.show.saving import about
from pages.shared.show.words import DECODING_WORDS, stopped
from pages.shared.state import edit_history, models, scene
from viz import shifted_right, token_strip

BOXES = {  # the label and the step of each number's box
    "beam_size": ("Beam size", 1),
    "length_penalty": ("Length penalty", 0.1),
    "temperature": ("Temperature", 0.1),
    "top_k": ("top-k", 1),
    "top_p": ("top-p", 0.05),
    "seed": ("Seed", 1),
    "longest": ("Longest", 1),
}
OPTIONS = {
    "greedy": ("longest",),
    "beam": ("beam_size", "length_penalty", "longest"),
    "sample": ("temperature", "top_k", "top_p", "seed", "longest"),
}


class Asked(NamedTuple):
    """Everything that decides a decoding, but for the edits."""

    model: str  # its key
    sentence: str
    strategy: Strategy
    longest: int
    branch: Branch

    def decode(self, edits: Edits, forced: tuple[int, ...] | None = None) -> Decoding:
        """Decode it, or with other forced ids; raises ValueError where that cannot be."""
        forced = self.branch.forced if forced is None else forced
        return decoded(self.sentence, self.strategy, self.longest, forced, edits, name=self.model)


def settings() -> tuple[Strategy, int]:
    """The widgets for the strategy and its options; raises ValueError where they make no sense."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.segmented_control(
            "Strategy", STRATEGIES, key="strategy", format_func=str.title, required=True
        )
        for option in OPTIONS[name]:
            label, step = BOXES[option]
            lowest, highest = scene.RANGES[option]
            words = DECODING_WORDS[option]
            st.number_input(label, lowest, highest, step=step, key=option, help=words, width=130)
    st.caption(DECODING_WORDS[name])
    chosen = vars(address.current())
    strategy = Strategy(**{field.name: chosen[field.name] for field in fields(Strategy)})
    return strategy, chosen["longest"]


def decode_or_explain(sentence: str, edits: Edits) -> tuple[Asked, Decoding]:
    """What was asked for, or else the last that could be decoded and why it is not that."""
    last, model = st.session_state.get("asked"), models.chosen().key
    if last is None or (last.model, last.sentence) != (model, sentence):
        last = Asked(model, sentence, Strategy(), scene.Scene().longest, Branch())
    try:
        asked = Asked(model, sentence, *settings(), branches.chosen(sentence))
        decoding = asked.decode(edits)
    except ValueError as error:
        refuse(str(error))
        asked, decoding = last, last.decode(edits)
    if refused := st.session_state.pop("refused", None):
        refuse(refused)
    of = asked, edits, st.session_state.get("slides_shown")
    if of != st.session_state.get("node_of"):
        st.session_state.update(node=None, node_of=of)
    st.session_state.asked = asked
    return asked, decoding


def refuse(why: str) -> None:
    """Say why something was not done; the reason may have what a visitor typed in it."""
    st.error("The last result stays.")
    st.text(why)


def player(asked: Asked, decoding: Decoding) -> None:
    """The scrubber, over the translation or over the text that was clicked in the tree."""
    node = st.session_state.node
    path = decoding.path_to(*node) if node else decoding.path
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer, head = choose_layer("decoder"), choose_head()
    start = node[0] if node else asked.branch.step
    picture = player_of(decoding, path, layer=layer - 1, head=head, start=start)
    save = f"Decoding, layer {layer}, {site_words('cross', layer, head).rpartition(', ')[2]}"
    show(picture, "player", lambda: answer(asked, decoding, path), save=save)
    follow()
    st.caption(DECODING_WORDS["player"])


def answer(asked: Asked, decoding: Decoding, path: Sequence[int]) -> None:
    """Force what was clicked or typed, or take the weight apart that was clicked."""
    place, choice = picked("player")
    if isinstance(choice, dict):
        take_apart(decoding, path, place, Site(choice["kind"], st.session_state.layer - 1), choice)
    else:
        force(asked, decoding, path, place, choice)


def take_apart(
    decoding: Decoding, path: Sequence[int], place: int, site: Site, choice: dict
) -> None:
    """Open the clicked weight of a step; of a mean or maximum, that of the strongest head."""
    text = decoding.tree[len(path) - 1][path[-1]].text
    written = [index for index in decoding.ids_of(path) if index != END_ID]
    if [token.id for token in translator().tokenizer.encode(text)] != written:
        st.session_state.refused = DECODING_WORDS["other tokens"]
        return
    head = st.session_state.head
    if head in scene.SUMMARIES:
        weights = decoding.steps_to(path)[place].weights[site]  # (H, K)
        head = int(weights[:, choice["key"]].argmax()) + 1
    open_inside(*site, int(head) - 1, place, choice["key"], changed=True, target=text)


def force(
    asked: Asked, decoding: Decoding, path: Sequence[int], place: int, choice: str | int
) -> None:
    """Begin a branch with a candidate, by its place among them, or with a text."""
    step = decoding.steps_to(path)[place]
    try:
        if isinstance(choice, str):
            tokens = translator().write(choice)
        else:
            tokens = [candidates_of(step)[choice].token]
        forced = (*decoding.ids_of(path[:place]), *(token.id for token in tokens))
        asked.decode(edit_history.edits(), forced)
    except ValueError as error:
        st.session_state.refused = str(error)
    else:
        if forced != tuple(decoding.ids_of(decoding.path))[: len(forced)]:
            name = f"{' '.join(token.text for token in tokens)} at step {place + 1}"
            branches.add(Branch(forced, place, name))


def tree(decoding: Decoding) -> None:
    """The beam, whose texts show their steps when they are clicked."""
    st.subheader("The beam")
    show(tree_of(decoding, st.session_state.node), "tree", open_node, save="The beam")
    st.caption(DECODING_WORDS["tree"])
    if st.session_state.node:
        st.button("Back to the text that was returned", on_click=close_node)


def open_node() -> None:
    """Show the steps that led to the text that was clicked."""
    st.session_state.node = tuple(picked("tree"))


def close_node() -> None:
    """Show the steps that led to the translation."""
    st.session_state.node = None


def what_if(asked: Asked, edits: Edits) -> None:
    """Every branch beside the original, with what differs marked."""
    st.subheader("What if")
    kept = branches.branches(asked.sentence)
    st.caption(DECODING_WORDS["what if" if len(kept) == 1 else "branches"])
    original = asked.decode(edits, ()).translation
    for place, branch in enumerate(kept if len(kept) > 1 else []):
        buttons, strip = st.columns([1, 3], vertical_alignment="center")
        with buttons, st.container(horizontal=True):
            shown = branch == asked.branch
            st.button(
                "Shown" if shown else "Show",
                key=f"show-{place}",
                on_click=branches.choose,
                args=[place],
                disabled=shown,
            )
            if place:
                st.button("Remove", key=f"remove-{place}", on_click=branches.remove, args=[place])
        with strip:
            try:
                made = asked.decode(edits, branch.forced).translation
            except ValueError as error:
                st.caption(str(error))
                continue
            row = chips(made.target_tokens, original.target_tokens)
            label = f"{branch.name}: {made.score:.3f} nats, {stopped(made)}"
            show(token_strip(made.text, row, label=label), f"branch-{place}", save=branch.name)


def teacher_forcing(asked: Asked, decoding: Decoding, edits: Edits) -> None:
    """A reference translation read in one pass, beside the free run."""
    st.subheader("Teacher forcing")
    target = st.text_input(
        "Reference translation: type one, or leave the model's own",
        key="target",
        max_chars=scene.LONGEST_SENTENCE,
        placeholder=translated(asked.sentence).text,
    )
    trace = traced(asked.sentence, target, edits)
    read, _ = tokens_of(trace, "decoder")
    wanted = following(trace)
    log_probabilities = trace_log_probabilities(trace)
    likeliest, ids = most_likely_tokens(trace)
    names = [translator().tokenizer.append("", index)[1].text for index in ids]
    picture = shifted_right(
        log_probabilities.exp().cpu().numpy(),
        likeliest.cpu().numpy(),
        read,
        [token.text for token in wanted],
        names,
    )
    reference = target or translated(asked.sentence).text
    about(asked.sentence, target=reference, edits=edits)
    show(picture, "forced", save="Teacher forcing")
    with st.container(horizontal=True):
        st.metric("The reference, forced", f"{log_probabilities.sum():.3f} nats")
        st.metric("The free run", f"{decoding.translation.score:.3f} nats")
        agreed = sum(token.id == index for token, index in zip(wanted, ids, strict=True))
        st.metric("Wanted token likeliest", f"{agreed} of {len(wanted)} times")
    st.caption(DECODING_WORDS["teacher forcing"])


@address.fragment
def decoding_page(sentence: str) -> None:
    """Everything under the sentence box."""
    edits = edit_history.edits()
    if edits != Edits():
        st.info(DECODING_WORDS["edits in force"])
    asked, decoding = decode_or_explain(sentence, edits)
    st.text(f"Shown: {asked.branch.name}, {stopped(decoding.translation)}.")
    how = {
        name: getattr(asked.strategy, name, asked.longest)
        for name in OPTIONS[asked.strategy.strategy]
    }
    words = ", ".join(f"{BOXES[name][0].lower()} {value}" for name, value in how.items())
    forced = "" if asked.branch == Branch() else f", forced: {asked.branch.name}"
    place = f"Decoded by {asked.strategy.strategy}, {words}{forced}"
    about(sentence, target=decoding.translation.text, edits=edits, place=place)
    player(asked, decoding)
    if asked.strategy.strategy == "beam":
        tree(decoding)
    what_if(asked, edits)
    teacher_forcing(asked, decoding, edits)
    address.publish()


open_page("Decoding")
if sentence := sentence_box():
    decoding_page(sentence)
