"""The tabs Residual stream and Words: what each layer would write, and how alike words are."""

from functools import partial

import streamlit as st
import torch

from headlight.model.insight.lens import Similarity, stream_norms
from headlight.model.questions import Question
from headlight.model.trace import Trace
from headlight.pages.parts.inside.calls import each_word, lens_table, words_in_sentence
from headlight.pages.parts.inside.lens_map import lens_map
from headlight.pages.parts.inside.words import TAB_WORDS
from headlight.pages.shared.controls.sentence import can
from headlight.pages.shared.runs.arrays import as_array, tokens_of
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.pictures import show, show_altair
from headlight.pages.shared.show.riddle import stays_first
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.state.choice import text
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import position_lines, word_heatmap

LENS = "lens"  # the key of the picture of the words that each layer would write
MOST_READ = 64  # at most this many tokens have a column in it
WORDS = text("words", "king, queen, moon", 200, label="Words, separated by commas")


def stream(run: ModelRun, of: About) -> None:
    """Draw the word that each layer would write, and the lengths of the stream's vectors."""
    if can(run, "show the stream"):
        if run.trace().target_tokens:
            decoder_lens(run, of)
        stream_lengths(run.streamed(), of)


def stream_lengths(trace: Trace, of: About) -> None:
    """Draw the lengths of the residual stream's vectors after each sublayer."""
    st.subheader("The length of the stream")
    for column, side in zip(st.columns(2), trace.embedding, strict=False):
        norms = torch.stack([norm for _, norm in stream_norms(trace, side)])  # (N, T)
        lines = {
            "mean over tokens": as_array(norms.mean(dim=1)),
            "largest": as_array(norms.max(dim=1).values),
        }
        with column:
            st.markdown(f"**{side.title()}**")
            chart = position_lines(lines, x="sublayer", y="length")
            show_altair(chart, f"stream {side}", of=of, what=f"Length of the {side}'s stream")


def decoder_lens(run: ModelRun, of: About) -> None:
    """Draw which word each layer would write after each token, for the last tokens of the text."""
    st.subheader("What each layer would already write")
    caption(TAB_WORDS["lens"])
    trace, table, last = run.trace(), lens_table(run), slice(-MOST_READ, None)
    ids, settled = table.ids[:, last], as_array(table.settled[last]).astype(int)
    probabilities = as_array(table.probabilities[:, last])
    read = tokens_of(trace, "decoder")[0][last]
    if len(trace.target_tokens) > MOST_READ:
        st.caption(f"Shown: after the last {MOST_READ} of {len(trace.target_tokens)} tokens.")
    label = partial(run.reader.label, trace, Question("", 0))
    texts = {index: label(index) for index in set(ids.flatten().tolist())}
    words = [[[texts[index] for index in best] for best in row] for row in ids.tolist()]
    ranks = as_array(table.ranks[:, last]).astype(int)
    picture = lens_map(words, probabilities, ranks, settled, layers=table.labels, read=read)
    first = [[best[0] for best in row] for row in words]
    riddle = partial(stays_first, table.labels, read, first, probabilities[..., 0], settled)
    show(picture, LENS, of=of, what="What each layer would write", riddle=riddle)


def similar_words(run: ModelRun, of: About) -> None:
    """Draw how similar the typed words are to each other, and the words of the sentence."""
    if not can(run, "compare words"):
        return
    caption(TAB_WORDS["words"])
    typed = choose(WORDS)
    try:
        words = [word.strip() for word in typed.split(",") if word.strip()]
        both_maps("Each word by itself", each_word(run.model, tuple(words)), "alone", of)
        both_maps("In your sentence", words_in_sentence(run.model, run.sentence), "sentence", of)
    except ValueError as error:
        st.text(str(error))


def both_maps(title: str, similarity: Similarity, key: str, of: About) -> None:
    """Draw two maps of how similar words are: by their embeddings, and by the encoder's outputs."""
    st.subheader(title)
    maps = {"Embeddings": similarity.embeddings, "After the encoder": similarity.outputs}
    for column, (name, values) in zip(st.columns(2), maps.items(), strict=True):
        with column:
            st.markdown(f"**{name}**")
            what = f"Similarity of words, {title}, {name}".lower().capitalize()
            show(
                word_heatmap(as_array(values), similarity.words), f"{key} {name}", of=of, what=what
            )
