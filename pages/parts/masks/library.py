"""All masks as small drawings, with what each leaves of a text of any length."""

from functools import partial

import streamlit as st
import torch

from headlight.model.edits import EXTRA, Mask, MaskAddress, Setting
from headlight.model.insight.mask_costs import REACH_WITHIN, MaskCost, cost, rows
from headlight.model.trace import Kind, Site
from headlight.pages.parts.masks.added import can_take, layers_of, put_in_force, setting_words
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.glossary import caption
from headlight.pages.shared.show.pictures import all_picked, show
from headlight.pages.shared.show.saving import about_run
from headlight.pages.shared.show.words import MASK_WORDS
from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.choice import number
from headlight.pages.shared.state.choices import KINDS
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import MaskCard, mask_cards

DRAWN = 64  # tokens of each drawing
LONGEST = 8_192
LENGTH = number("mask_length", 4_096, (DRAWN, LONGEST), label="Figures for a text of", step=64)
SETTINGS: dict[str, Setting] = {  # that show at 64 tokens what a mask is
    "window": (6,),
    "behind": (12,),
    "sinks": (4, 12),
    "blocks": (16,),
    "strided": (8,),
    "dilated": (4, 3),
    "global": (4, 6),
    "random": (8, 1),
    "prefix": (20,),
    "documents": (14, 38),
    "documents-anew": (14, 38),
}


def mask_library(run: ModelRun, site: Site) -> None:
    """Draw every mask that a kind of attention can have; a click puts it in force."""
    kind = "encoder" if site.kind == "cross" else site.kind
    layers = run.reader.shape.layers(site.kind)
    length = choose(LENGTH, width=220)
    masks = [mask for mask in EXTRA.values() if kind in mask.kinds and can_take(run.reader, mask)]
    in_force = {name for name, *where in run.edits.masks if where == [site.kind, layers_of(site)]}
    cards = []
    for mask in masks:
        setting = setting_of(mask)
        lines = figures(costs(mask.name, setting, kind, length, layers), kind, length)
        title = setting_words(mask, setting)
        cards.append(MaskCard(title, mask.help, mask.source, lines, mask.name in in_force))
    drawn = torch.stack([drawing(mask, kind) for mask in masks]).numpy()
    picture = mask_cards(drawn, cards, clickable=kind == site.kind)
    clicked = partial(take_up, [mask.name for mask in masks], site)
    what = f"Masks of {KINDS[kind]}, at {DRAWN} tokens"
    show(picture, "mask-library", clicked, of=about_run(run), what=what)
    caption(MASK_WORDS["library"].format(layers=layers, length=length, within=REACH_WITHIN))


def setting_of(mask: Mask) -> Setting:
    """Return the numbers with which a mask is drawn."""
    return SETTINGS.get(mask.name, mask.offered[0])


def drawing(mask: Mask, kind: Kind) -> torch.Tensor:
    """Return what a mask leaves of a short text: (Q, K) bool."""
    return torch.cat([visible for _, visible in rows(mask, setting_of(mask), kind, DRAWN)])


@st.cache_data(show_spinner=False, max_entries=200)
def costs(name: str, setting: Setting, kind: Kind, length: int, layers: int) -> MaskCost:
    return cost(EXTRA[name], setting, kind, length, layers)


def figures(left: MaskCost, kind: Kind, length: int) -> list[str]:
    """Return the lines of a card about a text of this length; an encoder keeps no keys."""
    kept = [f"{left.kept:,} of {length:,} keys to keep"] if kind == "decoder" else []
    return [
        f"{left.cells / left.all_cells:.1%} of cells and work",
        *kept,
        f"draws on {left.reach:,} of {min(length, REACH_WITHIN)} tokens",
    ]


def take_up(names: list[str], site: Site) -> None:
    """Put the clicked masks in force, or remove those that are; a callback."""
    for clicked in all_picked("mask-library"):
        mask = EXTRA[names[clicked]]
        address = MaskAddress(mask.name, site.kind, layers_of(site))
        held = address in edit_history.edits().masks
        moderate = mask.offered[len(mask.offered) // 3]  # the first ones close nearly all
        put_in_force(address, None if held else moderate)
