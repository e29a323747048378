"""Captions that explain terms, and the words for layers, heads, edits and tokens."""

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
    "query": "The vector of the token that looks: it says what the token looks for.",
    "key": "The vector by which a token can be found: queries are compared with it.",
    "value": "The vector that a token hands over to each token that looks at it.",
    "score": "How well a query and a key fit: their dot product divided by √d; each has d numbers.",
    "weight": "The share, from 0 to 1, that a query gives to a key; a query's weights sum to 1.",
    "softmax": "Turns scores into weights that sum to 1; the largest score gets the most.",
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
    "d_model": "How many numbers the vector of a token has between the layers.",
    "embedding": "The vector of a token by itself, before the model has read its sentence.",
    "residual stream": "A token's vector on its way through the layers: each layer adds to it.",
    "layer norm": "Brings the numbers of a token's vector to mean 0 and variance 1.",
    "logits": "One number for each token of the vocabulary; softmax makes probabilities of them.",
    "log-probability": "The natural logarithm of a probability: 0 if certain, otherwise negative.",
    "nats": "The unit of natural logarithms: 1 nat less makes something e ≈ 2.7 times less likely.",
    "loss": "Minus the mean log-probability of the right tokens: 0 is perfect.",
    "known target": "A given text that the decoder reads in place of its own output.",
    "entropy": "How spread out weights are, in nats: 0 if all is on one key.",
    "gradient": "How much a result changes with a small change of a number.",
    "teacher forcing": "Training in which the decoder reads the right tokens, not its own output.",
    "greedy": "Writing the likeliest token at every step.",
    "beam": "The few likeliest beginnings of a text, which are all continued at every step.",
    "temperature": "Divides what enters a softmax: below 1 the largest gets more, above 1 less.",
    "warm-up": "The first steps of a training, in which the learning rate rises.",
    "label smoothing": "Training for a probability of the right token that is a little below 1.",
    "dropout": "Setting numbers to 0 at random in training, so that none is relied on alone.",
}
# Terms that are also everyday words. They are explained only in brackets, as in [value].
AMBIGUOUS = {"key", "value", "score", "weight", "head", "gate", "mask", "loss"}
CODE = re.compile(r"(`[^`]*`)")  # quoted code, in which no terms are explained


def any_of(terms: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, terms), key=len, reverse=True))


TERM = re.compile(
    rf"\[(?P<marked>(?:{any_of(GLOSSARY)})s?)\](?!\()"
    rf"|(?<![\w-])(?P<plain>(?:{any_of(GLOSSARY.keys() - AMBIGUOUS)})s?)(?![\w-])",
    re.IGNORECASE,
)


def caption(words: str, told: set[str] | None = None) -> None:
    """Draw a caption whose terms show their meaning when hovered, focused or tapped.

    Each term is marked where it first appears, unless it is in `told`, the terms that were already
    explained nearby. A term of `AMBIGUOUS` is marked only in brackets. Use this only for the app's
    own Markdown, never for anything that a visitor typed.
    """
    st.caption(marked(words, set() if told is None else told), unsafe_allow_html=True)


def marked(words: str, told: set[str]) -> str:
    """Return Markdown in which each term, where it first appears, is HTML that shows its meaning.

    The terms are added to `told`.
    """

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
    """Return the name of a layer, or of a head in it, such as “Encoder, layer 2, head 1”.

    Layers and heads count from 0 in the arguments, and from 1 in the name.
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
    """Return the edits in words; if `briefly`, only how many of each kind. Empty if none."""
    return (", " if briefly else "; ").join(describe(edits, KINDS, briefly))


def labels_of(run: ModelRun, kind: Kind) -> tuple[list[str], list[str]]:
    """Return the labels of the queries and of the keys of a kind of attention.

    In a decoder next to an encoder, the label of a query is “read → next”: the token that it reads,
    and the next token of the text.
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
    """Return labels as `labels_of` does, for a sentence recorded during a training."""
    queries, keys = snapshots.tokens(sentence, kind)
    if kind == "encoder":
        return queries, keys
    last = (
        SPECIAL_TOKENS[END_ID] if snapshots.source_tokens[sentence] else ""
    )  # a decoder-only model ends without it
    return and_written(queries, [*queries[1:], last]), keys
