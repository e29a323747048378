"""Captions that explain the field's terms, and descriptions of sites, edits and tokens."""

import html
import re
from collections.abc import Iterable

import streamlit as st

from headlight.model.edits import Edits, describe
from headlight.model.snapshots import Snapshots
from headlight.model.tokens import END_ID, SPECIAL_TOKENS
from headlight.model.transformer.trace import Kind
from headlight.pages.shared.runs.arrays import tokens_of
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.state.choices import KINDS, HeadChoice
from headlight.viz.tokens import and_written

GLOSSARY = {
    "token": "A word or a piece of one: what the model reads and writes, one at a time.",
    "query": "The vector of the token that looks: what it asks for.",
    "key": "The vector by which a token can be found: queries are compared with it.",
    "value": "The vector that a token hands over to each token that looks at it.",
    "score": "How well a query and a key fit: their dot product, divided by √d.",
    "weight": "The share, from 0 to 1, that a query gives to a key; a query's weights sum to 1.",
    "softmax": "Turns scores into weights with the sum 1, most of it for the largest score.",
    "head": "A part of a layer that decides how much each token looks at each other token.",
    "gate": "The factor on a head's output: 1 leaves it as trained, 0 switches it off.",
    "mask": "Closes keys to a query: a closed key has the score −∞ and the weight 0.",
    "look-ahead mask": "Closes the tokens to the right, which are not written yet.",
    "padding": "Tokens <pad> that only fill a text up to a given length; the padding mask closes "
    "them.",
    "encoder": "The part that reads a text, all at once: half of a translator, or a whole model.",
    "decoder": "The part that writes, one token at a time: half of a translator, or a whole model.",
    "self-attention": "Attention of the tokens of one text to each other.",
    "cross-attention": "Attention from the tokens being written to those of the source sentence.",
    "d_model": "How many numbers stand for a token between the layers.",
    "embedding": "The vector of a token by itself, before the model has read its sentence.",
    "residual stream": "The vector of a token on its way through the layers: each adds to it.",
    "layer norm": "Brings the numbers of a token's vector to mean 0 and variance 1.",
    "logits": "One number for each token of the vocabulary; softmax makes probabilities of them.",
    "log-probability": "The natural logarithm of a probability: 0 if certain, else below.",
    "nats": "The unit of natural logarithms: 1 nat less makes something e ≈ 2.7 times less likely.",
    "loss": "Minus the mean log-probability of the right tokens: 0 is perfect.",
    "known target": "A text that the decoder reads, and whose tokens it should find likely.",
    "entropy": "How spread out weights are, in nats: 0 if all is on one key.",
    "gradient": "How much a result changes with a small change of a number.",
    "teacher forcing": "Training in which the decoder reads the right tokens, not its own output.",
    "greedy": "Writing the likeliest token at every step.",
    "beam": "The best few beginnings, all kept and continued at every step.",
    "temperature": "Divides the scores: below 1 the likeliest gets more, above 1 less.",
    "warm-up": "The first steps of a training, in which the learning rate rises.",
    "label smoothing": "Training in which the right token is wanted a little less than surely.",
    "dropout": "Numbers set to 0 at random in training, so that nothing relies on one alone.",
}
# Words with another meaning too: only [value], in brackets, is the value of attention.
AMBIGUOUS = {"key", "value", "score", "weight", "head", "gate", "mask", "loss"}
CODE = re.compile(r"(`[^`]*`)")  # is quoted, so it has no terms


def any_of(terms: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, terms), key=len, reverse=True))


TERM = re.compile(
    rf"\[(?P<marked>(?:{any_of(GLOSSARY)})s?)\](?!\()"
    rf"|(?<![\w-])(?P<plain>(?:{any_of(GLOSSARY.keys() - AMBIGUOUS)})s?)(?![\w-])",
    re.IGNORECASE,
)


def caption(words: str, told: set[str] | None = None) -> None:
    """Draw a caption whose terms show their meaning when hovered, focused or tapped.

    Each term is marked at its first appearance, unless it was `told` already; one of `AMBIGUOUS`
    only where it stands in brackets. Use it only for the app's own Markdown, never with anything
    that a visitor typed: its HTML is not escaped.
    """
    st.caption(marked(words, set() if told is None else told), unsafe_allow_html=True)


def marked(words: str, told: set[str]) -> str:
    """Return Markdown with the first appearance of each term as an element with its meaning."""

    def element(match: re.Match[str]) -> str:
        words = match["marked"] or match["plain"]
        term = words.lower() if words.lower() in GLOSSARY else words.lower().removesuffix("s")
        if term in told:
            return words
        told.add(term)
        meaning = html.escape(GLOSSARY[term])
        label = html.escape(f"{words}: {GLOSSARY[term]}")
        return (
            f'<span class="term" role="note" tabindex="0" data-meaning="{meaning}" '
            f'aria-label="{label}">{words}</span>'
        )

    parts = CODE.split(words)
    parts[::2] = [TERM.sub(element, html.escape(part, quote=False)) for part in parts[::2]]
    return "".join(parts)


def draw_glossary() -> None:
    lines = (f"- **{term}**: {html.escape(meaning)}" for term, meaning in GLOSSARY.items())
    st.markdown("\n".join(lines))


def site_words(kind: Kind, layer: HeadChoice, head: HeadChoice | None = None) -> str:
    """Return a kind of attention, its layer, and its head if only one is meant, in words.

    Layers and heads count from 0 here and from 1 in the words.
    """
    words = [KINDS[kind], numbered("layer", layer)]
    if head is not None:
        words.append(numbered("head", head))
    return ", ".join(words)


def numbered(what: str, place: HeadChoice) -> str:
    return f"{place} of the {what}s" if isinstance(place, str) else f"{what} {place + 1}"


def names_site(words: str) -> bool:
    return re.search(r"\b(layer|head)s?\b", words) is not None


def edit_words(edits: Edits, briefly: bool = False) -> str:
    """Return the edits in words, or `briefly` how many there are; empty if there are none."""
    return (", " if briefly else "; ").join(describe(edits, KINDS, briefly))


def labels_of(run: ModelRun, kind: Kind) -> tuple[list[str], list[str]]:
    """Return the labels of the queries and of the keys of a kind of attention.

    If a decoder reads an encoder, the label of its query has the token it read and the token it
    wrote there, from the model's own text or a given one.
    """
    trace = run.trace()
    queries, keys = tokens_of(trace, kind)
    objective = run.objective() if kind != "encoder" and trace.source_tokens else None
    if objective is None:
        return queries, keys
    after = dict(zip(objective.rows, objective.texts, strict=True))
    return and_written(queries, [after.get(position, "") for position in range(len(queries))]), keys


def labels_at_snapshots(
    snapshots: Snapshots, sentence: int, kind: Kind
) -> tuple[list[str], list[str]]:
    """Return the same labels for a sentence that was recorded while a model was trained."""
    queries, keys = snapshots.tokens(sentence, kind)
    if kind == "encoder":
        return queries, keys
    last = (
        SPECIAL_TOKENS[END_ID] if snapshots.source_tokens[sentence] else ""
    )  # not if decoder-only
    return and_written(queries, [*queries[1:], last]), keys
