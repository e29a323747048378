"""The field's terms, each explained in one sentence, and captions that explain them."""

import html
import re

import streamlit as st

GLOSSARY = {
    "token": "A word or a piece of one: what the model reads and writes, one at a time.",
    "query": "The vector of the token that looks: what it asks for.",
    "key": "The vector of a token looked at: what it offers to be found by.",
    "value": "The vector that a token hands to those that look at it.",
    "score": "How well a query and a key fit: their dot product, divided by √d.",
    "weight": "The share, from 0 to 1, that a query gives to a key; a query's weights sum to 1.",
    "softmax": "Turns scores into weights with the sum 1, most of it for the largest score.",
    "head": "One of several in a layer: it gives every token weights on others, in its own way.",
    "gate": "The factor on what a head hands on: 1 leaves it as trained, 0 switches it off.",
    "mask": "What closes keys to a query: a closed key has the score −∞ and the weight 0.",
    "look-ahead mask": "Closes the tokens to the right, which do not exist yet when one writes.",
    "padding": "Tokens <pad> that only fill a text up to a length; the padding mask closes them.",
    "encoder": "The half of the model that reads the source sentence, all of it at once.",
    "decoder": "The half of the model that writes, one token after the other.",
    "self-attention": "Attention of the tokens of one text to each other.",
    "cross-attention": "Attention from the tokens being written to those of the source sentence.",
    "d_model": "How many numbers stand for a token between the layers.",
    "embedding": "The vector that stands for a token before anything is known of its sentence.",
    "residual stream": "The vector of a token on its way through the layers: each adds to it.",
    "layer norm": "Brings the numbers of a token's vector to mean 0 and variance 1.",
    "logits": "One number for each token of the vocabulary; softmax makes probabilities of them.",
    "log-probability": "The natural logarithm of a probability: 0 if certain, else below.",
    "nats": "The unit of natural logarithms: 1 nat less makes something e ≈ 2.7 times less likely.",
    "loss": "Minus the mean log-probability of the right tokens: 0 is perfect.",
    "known target": "A text that the decoder reads, and whose tokens it should find likely.",
    "entropy": "How spread out weights are, in nats: 0 if all is on one key.",
    "gradient": "How much a result changes with a small change of a number.",
    "teacher forcing": "Training in which the decoder reads the right tokens, not those it wrote.",
    "greedy": "Writing the likeliest token at every step.",
    "beam": "The best few beginnings, all kept and continued at every step.",
    "temperature": "Divides the scores: below 1 the likeliest gets more, above 1 less.",
    "warm-up": "The first steps of a training, in which the learning rate rises.",
    "label smoothing": "Training in which the right token is wanted a little less than surely.",
    "dropout": "Numbers set to 0 at random in training, so that nothing relies on one alone.",
}
# Not within code, which is quoted, and not within keyboard keys.
CODE = re.compile(r"(`[^`]*`)")
TERM = re.compile(
    rf"(?<![\w-])(?<!arrow )({'|'.join(sorted(map(re.escape, GLOSSARY), key=len, reverse=True))})"
    r"(s?)(?![\w-])",
    re.IGNORECASE,
)


def caption(words: str, told: set[str] | None = None) -> None:
    """Draw a caption whose terms show their meaning when hovered, focused or tapped.

    Each term is marked at its first appearance, unless it was `told` already. Use it only for the
    app's own Markdown, never with anything that a visitor typed: its HTML is not escaped.
    """
    st.caption(marked(words, set() if told is None else told), unsafe_allow_html=True)


def marked(words: str, told: set[str]) -> str:
    """Return Markdown with the first appearance of each term as an element with its meaning."""

    def element(match: re.Match[str]) -> str:
        term = match[1].lower()
        if term in told:
            return match[0]
        told.add(term)
        meaning = html.escape(GLOSSARY[term])
        label = html.escape(f"{match[0]}: {GLOSSARY[term]}")
        return (
            f'<span class="term" role="note" tabindex="0" data-meaning="{meaning}" '
            f'aria-label="{label}">{match[0]}</span>'
        )

    parts = CODE.split(words)
    parts[::2] = [TERM.sub(element, html.escape(part, quote=False)) for part in parts[::2]]
    return "".join(parts)


def draw_glossary() -> None:
    lines = (f"- **{term}**: {html.escape(meaning)}" for term, meaning in GLOSSARY.items())
    st.markdown("\n".join(lines))
