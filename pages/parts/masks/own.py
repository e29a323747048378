"""The tab This model's own masks: each layer's mask, and the masks its configuration names."""

from itertools import cycle

import streamlit as st

from headlight.model.edits.text import how_many, span_text, spans
from headlight.model.insight.masks import BY_NAME, OwnMask, own_masks, reach_in
from headlight.model.shape import SELF
from headlight.pages.parts.masks.words import MASK_WORDS
from headlight.pages.shared.runs.arrays import tokens_of
from headlight.pages.shared.runs.run import ModelRun, masks_of
from headlight.pages.shared.show.captions import caption, labels_of
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.saving import About, about_run
from headlight.pages.shared.state.choices import KINDS
from headlight.viz import mask_matrix

PICTURES = {  # pictures that a slide may show, with their titles
    "trained-padding mask": "the padding mask",
    "trained-look-ahead mask": "the look-ahead mask",
    "trained-both": "both masks",
}


def as_trained(trained: ModelRun, run: ModelRun) -> None:
    """Draw the masks that a model has without changes.

    For a translator they are the padding and the look-ahead mask; for others each layer's mask.
    """
    of = about_run(trained)
    if "own layers" not in trained.reader.missing and "cross" in trained.reader.shape.kinds:
        masks_by_shape(trained, of)
    else:
        masks_by_layers(trained, of)
    caption(" ".join(reach_words(trained, run)))


def masks_by_shape(run: ModelRun, of: About) -> None:
    """Draw a translator's padding mask, its look-ahead mask, and both combined."""
    target, source = tokens_of(run.trace(), "cross")
    rows, _ = labels_of(run, "decoder")
    padding, look_ahead, combined = (mask.cpu().numpy() for mask in masks_of(run))
    pictures = {
        "padding mask": mask_matrix(padding, ["every query"], source, label="Padding mask"),
        "look-ahead mask": mask_matrix(look_ahead, rows, target, label="Look-ahead mask"),
        "both": mask_matrix(combined, rows, target, label="Both, as the decoder uses them"),
    }
    # The padding mask, one wide row, is above the two square masks, which need room for labels.
    places = [st.container(), *st.columns(2, gap="medium")]
    for room, (name, picture) in zip(places, pictures.items(), strict=True):
        with room:
            st.markdown(MASK_WORDS[name])
            show(picture, f"trained-{name}", of=of, what=f"Mask as trained, {name}")


def masks_by_layers(run: ModelRun, of: About) -> None:
    """Draw each mask that layers had in a run, and say if it is not the configured one."""
    masks = own_masks(run.reader, run.trace())
    for column, mask in zip(cycle(st.columns(2, gap="medium")), masks, strict=False):
        label = f"{KINDS[mask.kind].partition(',')[0]}, {layer_words(run, mask)}"
        with column:
            st.markdown(f"**{label}**: {configured_words(mask)}")
            visible = mask.visible.numpy()
            picture = mask_matrix(visible, *labels_of(run, mask.kind), label=label)
            key = "trained-both" if mask is masks[0] else f"trained-{label}"
            show(picture, key, of=of, what=f"Mask as trained, {label}")
            if mask.differing:
                cells = how_many(mask.differing, "cell")
                st.warning(MASK_WORDS["other than configured"].format(cells=cells))
            elif mask.idle:
                caption(MASK_WORDS["too wide"])
    agrees = not any(mask.differing for mask in masks)
    caption(MASK_WORDS["own"] + (MASK_WORDS["as configured"] if agrees else ""))


def layer_words(run: ModelRun, mask: OwnMask) -> str:
    """Return the layers that share a mask in words, such as “layers 1, 3”."""
    if len(mask.layers) == run.reader.shape.layers(mask.kind):
        return "all layers"
    numbers = ", ".join(map(span_text, spans(mask.layers)))
    return f"layer {numbers}" if len(mask.layers) == 1 else f"layers {numbers}"


def configured_words(mask: OwnMask) -> str:
    """Return the masks that the model's configuration names, in words."""
    parts = [
        " of ".join([BY_NAME[name].title.lower(), *map(str, numbers)])
        for name, numbers in mask.configured
    ]
    return " and ".join(parts) or "no mask, every query sees every key"


def reach_words(trained: ModelRun, run: ModelRun) -> list[str]:
    """Return sentences on how many tokens can influence one token through all layers.

    Each has the number for the model as trained, and for the changed model if that differs.
    """
    sentences = []
    for kind, (layers, _) in trained.reader.shape.kinds.items():
        if kind not in SELF:
            continue
        before, after = (reach_in(each.trace(), kind, layers) for each in (trained, run))
        tokens = how_many(len(tokens_of(trained.trace(), kind)[0]), "token")
        changed = f", and on {after} with your changes" if after != before else ""
        sentences.append(
            f"{KINDS[kind].partition(',')[0]}: through {how_many(layers, 'layer')} one token can "
            f"draw on {before} of {tokens}{changed}."
        )
    return sentences
