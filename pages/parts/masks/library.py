"""All masks that can be added: as small drawings with numbers, and as boxes that add them."""

from dataclasses import replace
from functools import partial

import streamlit as st
import torch

from headlight.model.edits import EXTRA, Edits, Mask, MaskAddress, Setting
from headlight.model.edits.masking import TOGETHER, Together
from headlight.model.insight.masks import REACH_WITHIN, MaskCost, cost, rows
from headlight.model.reader import Reader
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.parts.masks.mask_cards import MaskCard, mask_cards
from headlight.pages.parts.masks.words import MASK_WORDS
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption
from headlight.pages.shared.show.pictures import all_picked, show
from headlight.pages.shared.show.saving import about_run
from headlight.pages.shared.show.texts import chips
from headlight.pages.shared.state import edit_history
from headlight.pages.shared.state.choice import number, one_of
from headlight.pages.shared.state.choices import KINDS, chosen
from headlight.pages.shared.widgets.choose import choose
from headlight.pages.streamlit_fixes.late_values import editor
from headlight.viz import token_strip

DRAWN = 64  # tokens on each side of a small drawing
LONGEST = 8_192
LENGTH = number("mask_length", 4_096, (DRAWN, LONGEST), label="Figures for a text of", step=64)
WHICH = {
    "all": "all layers",
    "odd": "odd layers: 1, 3, …",
    "even": "even layers: 2, 4, …",
    "this": "this layer",
}
LAYERS = one_of("mask_layers", WHICH, label="Masks are added in")
SETTINGS: dict[str, Setting] = {  # the settings with which masks are drawn at 64 tokens
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
    """Draw every mask that a kind of attention can have; a click on a drawing adds the mask."""
    kind = "encoder" if site.kind == "cross" else site.kind
    layers = run.reader.shape.layers(site.kind)
    length = choose(LENGTH, width=220)
    masks = [mask for mask in EXTRA.values() if kind in mask.kinds and can_take(run.reader, mask)]
    in_force = {name for name in EXTRA if address_of(EXTRA[name], site) in run.edits.masks}
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
    """Return the numbers, such as a window's width, with which a mask is drawn."""
    return SETTINGS.get(mask.name, mask.offered[0])


def drawing(mask: Mask, kind: Kind) -> torch.Tensor:
    """Return a small mask (Q, K) of `DRAWN` tokens, true where the query sees the key."""
    return torch.cat([visible for _, visible in rows(mask, setting_of(mask), kind, DRAWN)])


@st.cache_data(show_spinner=False, max_entries=200)
def costs(name: str, setting: Setting, kind: Kind, length: int, layers: int) -> MaskCost:
    return cost(EXTRA[name], setting, kind, length, layers)


def figures(left: MaskCost, kind: Kind, length: int) -> list[str]:
    """Return what a mask costs in a text of this length, as lines of its card.

    The line about keys to keep is only for a decoder, which alone keeps keys.
    """
    kept = [f"{left.kept:,} of {length:,} keys to keep"] if kind == "decoder" else []
    return [
        f"{left.cells / left.all_cells:.1%} of the cells and of the work",
        *kept,
        f"a token draws on {left.reach:,} of {min(length, REACH_WITHIN)}",
    ]


def take_up(names: list[str], site: Site) -> None:
    """Add each mask that was clicked, or remove it if it is in force; a callback."""
    for clicked in all_picked("mask-library"):
        mask = EXTRA[names[clicked]]
        address = address_of(mask, site)
        held = address in edit_history.edits().masks
        # The first settings that are offered close nearly all cells.
        moderate = mask.offered[len(mask.offered) // 3]
        put_in_force(address, None if held else moderate)


def can_take(reader: Reader, mask: Mask) -> bool:
    return not reader.missing.keys() & {*mask.needs}


def address_of(mask: Mask, site: Site) -> MaskAddress:
    """Return a mask's address, which names the layers: the chosen ones.

    A mask that changes positions is always in all layers.
    """
    layers = site.layer if chosen(LAYERS) == "this" else chosen(LAYERS)
    return MaskAddress(mask.name, site.kind, "all" if mask.positions else layers)


def boxes(edits: Edits, reader: Reader, site: Site) -> None:
    """Draw a box for each mask that can be added, and the choice of how masks combine."""
    choose(LAYERS, widget=st.selectbox)
    for mask in EXTRA.values():
        if site.kind in mask.kinds and can_take(reader, mask):
            box_of(mask, address_of(mask, site), edits)
    if edits.masks:
        box = {"options": list(TOGETHER), "format_func": TOGETHER.get, "required": True}
        box |= {"help": MASK_WORDS["together"]}
        editor(st.selectbox, "Tokens", edits.together, put_together, "together", **box)


def box_of(mask: Mask, address: MaskAddress, edits: Edits) -> None:
    """Draw the box that adds a mask with a setting, or removes it."""
    setting = edits.masks.get(address)
    # The setting in force may come from a link and be none of those offered.
    settings = {each: setting_words(mask, each) for each in (None, *mask.offered, setting)}
    box = {"options": settings, "format_func": settings.get, "placeholder": settings[None]}
    box |= {"label_visibility": "collapsed", "required": True}  # “none” is among the options
    box |= {"help": mask.help}
    editor(st.selectbox, mask.title, setting, partial(put_in_force, address), mask.name, **box)


def setting_words(mask: Mask, setting: Setting | None) -> str:
    """Return a mask's name and setting, such as “Sliding window: 6”; for None “none”."""
    if setting is None:
        return f"{mask.title}: none"
    return f"{mask.title}: {', '.join(map(str, setting))}"


def put_in_force(address: MaskAddress, setting: Setting | None) -> None:
    """Add a mask with this setting, or change its setting; None removes the mask."""
    edits = edit_history.edits()
    others = {other: numbers for other, numbers in edits.masks.items() if other != address}
    masks = others if setting is None else {**others, address: setting}
    edit_history.change(replace(edits, masks=masks))


def put_together(together: Together) -> None:
    edit_history.change(replace(edit_history.edits(), together=together))


def borders(run: ModelRun, site: Site) -> None:
    """Draw the tokens for each mask that has borders; a click on a token sets or moves one."""
    for address, setting in run.edits.masks.items():
        mask = EXTRA[address.name]
        if not (mask.click and address.reaches(site)):
            continue
        tokens = run.trace().query_tokens(site)
        at = {number if mask.borders else number - 1 for number in setting}
        marked = [replace(chip, changed=place in at) for place, chip in enumerate(chips(tokens))]
        key = f"borders-{address.name}"
        strip = token_strip("", marked, label=f"{mask.title}. {mask.click}", clickable=True)
        show(strip, key, partial(move_borders, key, address, setting, len(tokens)))


def move_borders(key: str, address: MaskAddress, setting: Setting, tokens: int) -> None:
    """Set or remove a border before each clicked token, or end a prefix at it; a callback."""
    mask = EXTRA[address.name]
    for clicked in all_picked(key):
        if clicked >= tokens:
            continue  # the click was on an earlier, longer text
        if not mask.borders:
            setting = (clicked + 1,)
        elif clicked:
            setting = tuple(sorted({*setting} ^ {clicked}))
    put_in_force(address, setting or None)
