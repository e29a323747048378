"""What a written token loses without a path of two edges, to a word and on to another word."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption, site_words
from headlight.pages.shared.show.opening import opening
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.riddle import told_apart
from headlight.pages.shared.show.saving import about_run
from headlight.pages.shared.state.choice import Choice, like
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import knockout_map
from headlight.viz.numbers import number_text
from headlight.wings.cause import calls as patching
from headlight.wings.cause.knockout import LEAST

WHAT = {"path": "What a token loses by way of a word"}
PLACE = r"[1-9]\d{0,3}"  # the number of a token or a word, from 1
TOKEN = like("path_token", "", PLACE, label="Written token")
WORD = like("path_word", "", PLACE, label="By way of")
END = like("path_end", "", PLACE, label="From")
CHOICES = (TOKEN, WORD, END)
AXES = "Across: the word that {word} may not look at. Down: whether {token} sees {word}"
SUM = (
    "The log-probability of {token} changes by {first} nats without {word}, by {second} if {word} "
    "may not look at {end}, and by {both} with both edges closed. {verdict}\n"
    "{head} looks most from {word} at {end}: weight {weight}. With this cell alone closed, {token} "
    "changes by {alone} nats{missed}.\n"
    "{strongest}"
)
STRONGEST = "The strongest path by way of {word} comes from {best}: {most} nats."
NO_PATH = "No path by way of {word} was found, from any word."
FAINT = "This does not show that {token} needs {end} by way of {word}: other paths may do as well."
REST = "If {token} cannot see {word} anyway, closing the second edge changes it by {rest} nats"
BY_WAY = f"{REST}. The difference, {{by_way}} nats, is what goes by way of {{word}}."
NO_LESS = f"{REST}. That is no less, so nothing is seen to go by way of {{word}}."
MISSED = ", so it does not need this cell"
LIMITS = (
    "One word at a time is hidden from the middle word, in all heads and layers of the encoder. "
    "Other words take over its weight, and words that look at the middle word change too: a number "
    "near 0 does not prove that a path is unused. Rounded numbers may not add up exactly."
)


def draw(run: ModelRun, result: patching.Knockout, layers: tuple[int, int] | None) -> None:
    """Draw the choice of a path, and what closing its edges costs; only with an encoder."""
    written, words = told_apart(result.written), told_apart(result.words)
    if patching.looks_at(run) != "cross" or len(words) < 2:
        return
    st.subheader("By way of another word")
    row = st.container(horizontal=True, vertical_alignment="bottom")
    first_token, first_word, first_end = suggested(run, result)
    with row:
        token = choose_one(TOKEN, written, range(len(written)), first_token)
        word = choose_one(WORD, words, range(len(words)), first_word)
    second, both = patching.two_steps(run, layers, token, word)
    first = result.changes[token, word]
    by_way = second - (both - first)
    ends = [end for end in range(len(words)) if end != word]
    is_path = (abs(second) >= LEAST) & (abs(both - first) < abs(second))
    best = max(ends, key=lambda end: abs(by_way[end]) * is_path[end])
    with row:
        likely = first_end if word == first_word and first_end in ends else best
        end = choose_one(END, words, ends, likely)
    site, head, weight, alone = patching.in_one_head(run, token, word, end)
    numbers = {"first": first, "second": second[end], "both": both[end], "alone": alone}
    numbers |= {"rest": both[end] - first, "by_way": by_way[end], "most": by_way[best]}
    said = {name: number_text(number, 2, signed=True) for name, number in numbers.items()}
    said |= {"token": written[token], "word": words[word], "end": words[end], "best": words[best]}
    missed = MISSED if abs(alone) < LEAST else ""
    said |= {"head": site_words(*site, head), "weight": number_text(weight, 2), "missed": missed}
    verdict = BY_WAY if is_path[end] else NO_LESS if abs(second[end]) >= LEAST else FAINT
    strongest = STRONGEST if is_path[best] else NO_PATH
    said |= {"verdict": verdict.format(**said), "strongest": strongest.format(**said)}
    st.text(SUM.format(**said))
    rows = [f"{written[token]} sees {words[word]}", "does not see it", "the difference"]
    values = np.stack([second, both - first, by_way])[:, ends]
    across = [result.words[end] for end in ends]
    picture = knockout_map(values, rows, across, axes=AXES.format(**said))
    place = f"{written[token]} by way of {words[word]}"
    show(picture, "path", of=about_run(run, place=place), what=WHAT["path"])
    caption(LIMITS)


def suggested(run: ModelRun, result: patching.Knockout) -> tuple[int, int, int | None]:
    """Return the indices of a written token, a word, and another word that this word looks at.

    The words are those of the weight that the page Attention opens on. If it opens on none, the
    token and the word are those of the edge that is missed most, and the other word is None.
    """
    of_key = {key: index for index, keys in enumerate(result.keys) for key in keys}
    best = opening(run.trace())
    word = of_key[best.query] if best else int(result.changes.min(axis=0).argmin())
    return int(result.changes[:, word].argmin()), word, of_key[best.key] if best else None


def choose_one(choice: Choice, names: Sequence[str], offered: Sequence[int], first: int) -> int:
    """Draw the choice of a token or a word; return its index, `first` until one is chosen."""
    texts = {"": first} | {str(index + 1): index for index in offered}

    def in_words(text: str) -> str:
        return names[texts[text]] + ("" if text else ", suggested")

    return texts[choose(choice, texts, widget=st.selectbox, format_func=in_words, width=220)]
