"""Sentences of the corpus in which a head's pattern is clearest, and in which it is least clear."""

import numpy as np
import streamlit as st

from model.atlas.examples import KEPT, MOST
from model.atlas.files import Atlas
from model.edits import HeadAddress
from pages.shared.controls.sentence import read_another
from pages.shared.runs.atlas import shown_text
from pages.shared.runs.run import ModelRun
from pages.shared.show.captions import site_words
from pages.shared.show.cells import follow, lead_to
from pages.shared.show.glossary import caption
from pages.shared.show.pictures import show
from pages.shared.show.saving import about
from pages.shared.state.choice import counted
from pages.shared.state.choices import SECOND, put, select_head
from pages.shared.widgets.choose import choose
from viz import attention_heatmap
from viz.numbers import number_text
from viz.tokens import and_written

EXAMPLE = counted("atlas_example", 0, KEPT, label="Example")
CHOICES = (EXAMPLE,)
SIDES = {"clearest": "Clearest", "least": "Least clear"}
PICTURES = {
    "atlas-clearest": "a sentence where a head’s pattern is clearest",
    "atlas-least": "a sentence where it is least clear",
}
WORDS = (
    "Of {text}, those of at most {most} tokens on which this head’s clearest pattern, "
    "**{pattern}**, has the largest and the smallest scores.{target}"
)
REFERENCE = (
    " The decoder read the translation that the corpus gives; on the Attention page it reads what "
    "the model writes itself."
)


def draw(run: ModelRun, atlas: Atlas, place: HeadAddress) -> None:
    """Draw examples of a head: one of the clearest sentences next to one of the least clear."""
    kind, layer, head = place
    found = {side: examples_of(atlas, place, side) for side in SIDES}
    st.subheader("Examples")
    most = max(map(len, found.values()))
    if not most:
        st.info("No sentence was kept as an example of this head.")
        return
    pattern = atlas.kinds[kind].clearest[layer][head]
    given = any(example["line"][2] for examples in found.values() for example, *_ in examples)
    target = REFERENCE if given and kind != "encoder" and "cross" in atlas.kinds else ""
    caption(WORDS.format(text=shown_text(run.model), most=MOST, pattern=pattern, target=target))
    number = choose(EXAMPLE, range(most))
    for column, (side, title) in zip(st.columns(2, gap="medium"), SIDES.items(), strict=True):
        with column:
            if number < len(found[side]):
                one_example(run, found[side][number], place, f"atlas-{side}", title)
    follow()


def examples_of(
    atlas: Atlas, place: HeadAddress, side: str
) -> list[tuple[dict, str, float, np.ndarray]]:
    """Return the examples of a head on a side, from the clearest or from the least clear.

    Each has its sentence, the pattern, the score, and the weights in bytes (Q, K).
    """
    found = [
        (example, name, score, np.array(weights, dtype=np.uint8))
        for example in atlas.examples
        for *at, name, of, score, weights in example["heads"]
        if (tuple(at), of) == (place, side)
    ]
    return sorted(found, key=lambda one: one[2], reverse=side == "clearest")


def one_example(
    run: ModelRun,
    found: tuple[dict, str, float, np.ndarray],
    place: HeadAddress,
    key: str,
    title: str,
) -> None:
    """Draw the weights of a head on a sentence, and the button to see it on the page Attention."""
    example, pattern, score, weights = found
    _, text, second = example["line"]
    words = site_words(*place)
    st.markdown(f"**{title}**: {pattern} {number_text(score, 2)}")
    st.text("\n".join(filter(None, (text, second))))
    of = about(text, target=second or "", place=f"{words}, {pattern} {number_text(score, 2)}")
    picture = attention_heatmap(weights, *labels_of(example, place))
    show(picture, key, of=of, what=f"{title} sentence of a head")
    args = [place, text, second if "read a pair" not in run.reader.missing else None]
    st.button("Open in Attention", key=f"open-{key}", on_click=open_attention, args=args)


def labels_of(example: dict, place: HeadAddress) -> tuple[list[str], list[str]]:
    """Return the labels of queries and keys: a decoder's query also shows what is read next."""
    kind = place[0]
    source, target = example["source"], example["target"]
    queries, keys = source if kind == "encoder" else target, source
    if kind == "decoder":
        keys = target
    if kind != "encoder" and source:
        queries = and_written(queries, [*queries[1:], ""])
    return queries, keys


def open_attention(place: HeadAddress, text: str, second: str | None) -> None:
    """Open a sentence with a head chosen on the page Attention; a callback."""
    read_another(text)
    put(SECOND, second or "")
    select_head(*place)
    lead_to("attention")
