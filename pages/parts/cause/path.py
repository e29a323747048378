"""What a written token loses over two edges: by way of a word, from another one."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from headlight.model.insight.knockout import LEAST
from headlight.pages.shared.controls.measure import Measurement
from headlight.pages.shared.runs.patching import (
    Knockout,
    TwoSteps,
    in_one_head,
    looks_at,
    size_of,
    two_steps,
)
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption, site_words
from headlight.pages.shared.show.opening import opening
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.riddle import told_apart
from headlight.pages.shared.show.saving import about_run
from headlight.pages.shared.state.choice import Choice, like
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import CanvasPicture, knockout_map
from headlight.viz.numbers import number_text

TITLE = "By way of another word"
WHAT = {"path": "What a token loses by way of a word"}
PLACE = r"[1-9]\d{0,3}"  # of a token or a word, from 1
TOKEN = like("path_token", "", PLACE, label="Written token")
WORD = like("path_word", "", PLACE, label="By way of")
END = like("path_end", "", PLACE, label="From")
CHOICES = (TOKEN, WORD, END)
PATHS = Measurement(
    two_steps,
    (*WHAT,),
    "Measure these paths",
    "Closing the edges of one path after the other",
    6_000,
)
LEAD = (
    "Does {token} depend on other words by way of {word}? The map has direct edges only. Here "
    "{word} may not look at one word at a time in the encoder, in all heads and layers; the edge "
    "from {token} to {word} is closed in {layers}."
)
AXES = "Across, the word that {word} may not look at; down, whether {token} sees {word}"
SUM = (
    "The log-probability of {token} changes by {first} nats without {word}, by {second} if {word} "
    "may not look at {end}, and by {both} with both edges closed."
)
FAINT = "That is no sign that {token} needs {end} by way of {word}: other ways may do as well."
BY_WAY = (
    "With the edge to {word} closed, closing the other changes it by {rest}. The difference, "
    "{by_way} nats, is what goes by way of {word}."
)
NO_LESS = (
    "With the edge to {word} closed, closing the other changes it by {rest}, which is no less: "
    "nothing is seen to go by way of {word}."
)
IN_ONE_HEAD = (
    "{head} looks most from {word} at {end}: weight {weight}. With the edge closed in this head "
    "alone, {token} changes by {change} nats{missed}."
)
MISSED = ", so this head alone can be missed"
STRONGEST = "The strongest path by way of {word} comes from {best}: {most} nats."
LIMITS = (
    "A closed edge’s weight is shared out among the other words of its row, and every word that "
    "looks at {word} changes with it. So a number near 0 does not prove that a path is unused, and "
    "a large one does not say what was passed on."
)


def draw(
    run: ModelRun, result: Knockout, layers: tuple[int, int] | None, layers_in_words: str
) -> None:
    """Draw the choice of a path and what its edges count; nothing in a model without an encoder."""
    if looks_at(run) != "cross" or len(result.words) < 2:
        return
    token, word, end = suggested(run, result)
    names = told_apart(result.written), told_apart(result.words)
    runs, tokens = size_of(run)
    st.subheader(TITLE)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        token = choose_one(TOKEN, dict(enumerate(names[0])), token)
        picked = choose_one(WORD, dict(enumerate(names[1])), word)
        asked = run, layers, token, picked
        is_asked = PATHS.is_asked(*asked, runs=2 * runs, tokens=tokens)
    said = {"token": names[0][token], "word": names[1][picked]}
    caption(LEAD.format(**said, layers=layers_in_words))
    if not is_asked:
        return
    ends = {index: name for index, name in enumerate(names[1]) if index != picked}
    steps = PATHS.measure(*asked)
    best = min(ends, key=lambda index: steps.by_way[index])
    with row:
        end = choose_one(END, ends, end if (picked, end in ends) == (word, True) else best)
    st.text("\n".join(in_words(run, steps, (token, picked, end), best, names)))
    picture = map_of(steps, said, [*ends], result.words)
    place = f"{said['token']} by way of {said['word']}"
    show(picture, "path", of=about_run(run, place=place), what=WHAT["path"])
    caption(LIMITS.format(**said))


def suggested(run: ModelRun, result: Knockout) -> tuple[int, int, int | None]:
    """Return a written token, a word, and a word that this looks at, by their indices.

    They are those of the weight that the page Attention opens on, or of the edge missed most.
    """
    of_key = {key: index for index, keys in enumerate(result.keys) for key in keys}
    if best := opening(run.trace()):
        word, end = of_key[best.query], of_key[best.key]
        return int(result.changes[:, word].argmin()), word, end
    token, word = np.unravel_index(result.changes.argmin(), result.changes.shape)
    return int(token), int(word), None


def choose_one(choice: Choice, names: Mapping[int, str], first: int) -> int:
    """Draw the choice of a token or a word by its index; unless one is chosen, it is `first`."""
    texts = {"": first, **{str(index + 1): index for index in names}}
    box = {"widget": st.selectbox, "width": 220}
    chosen = choose(
        choice,
        texts,
        format_func=lambda text: names[texts[text]] + ("" if text else ", suggested"),
        **box,
    )
    return texts[chosen]


def map_of(
    steps: TwoSteps, said: Mapping[str, str], ends: list[int], words: list[str]
) -> CanvasPicture:
    """Return the map of what closing the second edge changes, by whether the first is open."""
    rows = ["{token} sees {word}", "{token} does not see {word}", "the difference"]
    return knockout_map(
        np.stack([steps.second, steps.rest, steps.by_way])[:, ends],
        [row.format(**said) for row in rows],
        [words[end] for end in ends],
        axes=AXES.format(**said),
    )


def in_words(
    run: ModelRun,
    steps: TwoSteps,
    path: tuple[int, int, int],
    best: int,
    names: tuple[list[str], list[str]],
) -> list[str]:
    """Return in sentences what the edges of a path count, alone and together."""
    token, word, end = path
    site, head, weight, alone = in_one_head(run, *path)
    numbers = {
        "first": steps.first,
        "second": steps.second[end],
        "both": steps.both[end],
        "rest": steps.rest[end],
        "by_way": steps.by_way[end],
        "most": steps.by_way[best],
        "change": alone,
    }
    if max(abs(numbers["second"]), abs(numbers["by_way"])) < LEAST:
        verdict = FAINT
    else:
        verdict = BY_WAY if numbers["second"] * numbers["by_way"] > 0 else NO_LESS
    said = {
        **{name: number_text(number, 2, signed=True) for name, number in numbers.items()},
        "token": names[0][token],
        "word": names[1][word],
        "end": names[1][end],
        "best": names[1][best],
        "head": site_words(site.kind, site.layer, head),
        "weight": number_text(weight, 2),
        "missed": MISSED if abs(alone) < LEAST else "",
    }
    return [sentence.format(**said) for sentence in (f"{SUM} {verdict}", IN_ONE_HEAD, STRONGEST)]
