"""What a head does by its weights only: pairs of tokens, its dictionary, and the heads it feeds."""

from functools import partial

import numpy as np
import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.model.transformer.trace import Kind
from headlight.pages.shared.controls.measure import show_heads
from headlight.pages.shared.controls.sentence import can
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption, site_words
from headlight.pages.shared.show.pictures import show, show_table
from headlight.pages.shared.show.riddle import which_head
from headlight.pages.shared.show.saving import About, about
from headlight.pages.shared.state.choice import text
from headlight.pages.shared.state.choices import KINDS
from headlight.pages.shared.widgets.choose import choose, choose_head, choose_kind, choose_layer
from headlight.viz import CanvasPicture, head_effects, head_scores, measure_bars
from headlight.viz.numbers import Numbers, number_text
from headlight.wings.atlas.calls import lines_kept
from headlight.wings.atlas.circuit_calls import (
    HeadDictionaries,
    Named,
    by_weights,
    copying_shares,
    dictionaries,
    of_token,
)
from headlight.wings.atlas.files import Atlas
from headlight.wings.atlas.page import composition

WORD = text("circuit_token", "", 40, label="One token")
CHOICES = (WORD, composition.WAY)
WHAT = {
    "circuit-looks": "Tokens that look most at another, by weights only",
    "circuit-avoids": "Tokens that look least at another, by weights only",
    "circuit-writes": "Tokens that become likelier when another is looked at, by weights only",
    "circuit-erases": "Tokens that become less likely when another is looked at, by weights only",
    "circuit-copying": "How far each head copies, by weights only",
    "circuit-dictionary": "How many words each head translates by itself",
    composition.PICTURE: composition.WHAT,
}
PICTURES = {key: words[0].lower() + words[1:] for key, words in WHAT.items()}
INTRO = (
    "No text is read here. A token’s own embedding goes straight to this head, through the norm "
    "before it: positions, earlier heads and feed-forward layers, which a real run has, are left "
    "out. In a first layer only positions are missing; later layers read more than this (Elhage et "
    "al. 2021, “A Mathematical Framework for Transformer Circuits”)."
)
LOOKS = (
    "**Query-key circuit**: the score of one token’s query and another’s key, minus the mean "
    "over all keys, which does not change the softmax. Each row is a query with the key of its "
    "largest or smallest score, among {count} tokens without the special ones."
)
WRITES = (
    "**Value-output circuit**: what looking at a token adds to {reads}, minus what it adds to all "
    "tokens equally. The last norm’s scale is left out, so only the order of the numbers counts."
)
COPYING = (
    "**Copying**: the sum of the eigenvalues of the value-output circuit, divided by the sum of "
    "their absolute values. "
    "+1: looking at a token makes the same token likelier; −1: less likely (Elhage et al. 2021, "
    "copying heads). {head} has **{copying}**."
)
DICTIONARY = (
    "**Dictionary**: for how many words a head alone writes the same first token as the whole "
    "model. The words are the {count} commonest that are one token, in the {lines} sentences kept "
    "in the atlas; each is read alone. Reading the encoder’s output, as in the map, {head} is "
    "right for **{encoded} of {count}**; reading only the embedding, for {direct}."
)


def draw(run: ModelRun, _: Atlas | None = None) -> None:
    """Draw the circuits of a head, its dictionary, and the heads that it is composed with."""
    if not (can(run, "own layers") and can(run, "add up logits")):
        return
    caption(INTRO)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        kind = choose_kind()
        head = kind, choose_layer(kind), choose_head(kind)
        word = choose(WORD, width=200, placeholder="such as dog").strip()
    words = site_words(*head)
    st.subheader(words)
    of = about(place=words)
    pairs_of(run, head, of)
    if word:
        one_token(run, head, word)
    copying(run, head, of)
    if kind == "cross":
        dictionary_of(run, head, of)
    composition.feeding(run, head, of)


def pairs_of(run: ModelRun, head: HeadAddress, of: About) -> None:
    """Draw the strongest pairs of tokens in both circuits, and the partners of special tokens."""
    result = by_weights(run.model, run.loading, head)
    reads = "the encoder’s vectors" if head[0] == "encoder" else "the logits"
    count = f"{len(run.reader.vocabulary):,}"
    looks = result.looks, ("looks", "avoids"), ("Look most", "Look least"), "query → key", LOOKS
    titles = "Makes likelier", "Makes less likely"
    writes = result.writes, ("writes", "erases"), titles, "looked at → written", WRITES
    for ends, keys, titles, arrow, words in (looks, writes):
        columns = st.columns(2, gap="medium")
        for column, end, key, title in zip(columns, ends, keys, titles, strict=True):
            with column:
                st.markdown(f"**{title}**")
                key = f"circuit-{key}"
                show(bars_of(end, arrow), key, of=of, what=WHAT[key])
        caption(words.format(count=count, reads=reads))
    st.text("\n".join(result.special))


def bars_of(pairs: Named, arrow: str) -> CanvasPicture:
    """Return pairs of tokens as bars; `arrow` names both sides, such as "query → key"."""
    numbers = {f"{first} → {second}": value for first, second, value in pairs}
    end = max(map(abs, numbers.values())) or 1.0
    return measure_bars({arrow: numbers}, dict.fromkeys(numbers, end))


def one_token(run: ModelRun, head: HeadAddress, word: str) -> None:
    """Draw the strongest partners of a typed token, or a hint if the text is not one token."""
    try:
        (token,) = run.reader.begin(word)
    except ValueError:
        st.text(f"“{word}” is not one token of this model: type another, such as dog.")
        return
    partners = of_token(run.model, run.loading, head, token.id)
    st.text("\n".join(f"{word} {words}: {', '.join(names)}" for words, names in partners.items()))


def copying(run: ModelRun, head: HeadAddress, of: About) -> None:
    """Draw how much every head copies; a click selects a head."""
    shares = copying_shares(run.model, run.loading)
    result = by_weights(run.model, run.loading, head)
    st.markdown(f"**{WHAT['circuit-copying']}**")
    picture = head_effects(
        shares,
        labels=KINDS,
        selected=head,
        measure="of the eigenvalues",
        ends=("the token less likely", "the token likelier"),
    )
    told = partial(number_text, decimals=2, signed=True)
    ask = partial(which_head, "Which head copies most?", "most is copied by", shares, told)
    key = "circuit-copying"
    if not show_heads(picture, key, of=of, what=WHAT[key], riddle=ask):
        return
    matching = f" Its query-key circuit: {told(result.matching)} (+1: tokens look at themselves)."
    numbers = {"head": site_words(*head), "copying": told(result.copying)}
    caption(COPYING.format(**numbers) + ("" if head[0] == "cross" else matching))


def dictionary_of(run: ModelRun, head: HeadAddress, of: About) -> None:
    """Draw how many words each cross-attention head translates, and the words of this head."""
    texts = tuple(line.text for line in lines_kept(run.model))
    known = dictionaries(run.model, run.loading, texts)
    if known is None:
        st.info(
            "For this head’s dictionary, count a text of your own above: it provides the words."
        )
        return
    _, layer, number = head
    right: dict[Kind, np.ndarray] = {"cross": known.encoded.sum(axis=-1).astype(float)}
    count = len(known.words)
    st.markdown(f"**{WHAT['circuit-dictionary']}**")
    left, beside = st.columns(2, gap="medium")
    with left:
        limits = 0.0, max(right["cross"].max(), 1.0)
        options = {"labels": KINDS, "limits": limits, "selected": head}
        picture = head_scores(right, name="words right", unit=f"of {count}", **options)
        asks = "Which cross-attention head translates the most words by itself?"
        told = partial(number_text, decimals=0)
        ask = partial(which_head, asks, "most words are translated by", right, told)
        key = "circuit-dictionary"
        if not show_heads(picture, key, of=of, what=WHAT[key], riddle=ask):
            return
    with beside:
        words_of(known, layer, number, of)
    caption(
        DICTIONARY.format(
            count=count,
            lines=f"{len(texts):,}",
            head=site_words(*head),
            encoded=int(known.encoded[layer, number].sum()),
            direct=int(known.direct[layer, number].sum()),
        )
    )


def words_of(known: HeadDictionaries, layer: int, head: int, of: About) -> None:
    """Draw a head's dictionary as a table that begins with the words that it gets right."""
    import pandas as pd  # not at the top of the file: pandas is slow to import

    right = known.encoded[layer, head]
    order = np.argsort(~right, kind="stable")
    columns = {
        "word": [known.words[at] for at in order],
        "this head": [known.firsts[layer][head][at] for at in order],
        "the model": [known.written[at] for at in order],
        "right": right[order],
    }
    numbers = {"right": Numbers(right[order].astype(np.float32), {"word": columns["word"]})}
    what = "The dictionary of a head"
    table = pd.DataFrame(columns)
    show_table(table, "circuit-words", numbers, of=of, what=what, hide_index=True, height=240)
