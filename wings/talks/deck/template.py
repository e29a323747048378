"""Stretch python-pptx's template to 16 by 9, darken it if requested, and place boxes on slides."""

from __future__ import annotations

from dataclasses import dataclass

from pptx.dml.color import RGBColor
from pptx.oxml.ns import qn
from pptx.presentation import Presentation
from pptx.shapes.base import BaseShape
from pptx.util import Emu

WIDTH, HEIGHT = 1280, 720  # pixels of a slide; an inch has 96
PIXEL = 9525  # the format's own units (EMU) in a pixel
DARK = RGBColor(0x17, 0x16, 0x14)  # the background of the app's pictures in the dark theme


@dataclass(frozen=True)
class Box:
    """A rectangle on a slide, in pixels."""

    left: float
    top: float
    width: float
    height: float

    def put(self, shape: BaseShape) -> None:
        shape.left, shape.top, shape.width, shape.height = self.measures()

    def measures(self) -> tuple[Emu, Emu, Emu, Emu]:
        """Return the left, the top, the width and the height in the format's own units (EMU)."""
        return emu(self.left), emu(self.top), emu(self.width), emu(self.height)


def emu(pixels: float) -> Emu:
    return Emu(round(pixels * PIXEL))


def widen(file: Presentation) -> None:
    """Stretch the slides of the template, and everything on them, to 16 by 9."""
    wide = emu(WIDTH) / (file.slide_width or emu(WIDTH))
    high = emu(HEIGHT) / (file.slide_height or emu(HEIGHT))
    for holder in (file.slide_master, *file.slide_layouts):
        for shape in holder.shapes:
            if shape.element.spPr.find(qn("a:xfrm")) is not None:  # otherwise the master places it
                shape.left = Emu(round(shape.left * wide))
                shape.width = Emu(round(shape.width * wide))
                shape.top = Emu(round(shape.top * high))
                shape.height = Emu(round(shape.height * high))
    file.slide_width, file.slide_height = emu(WIDTH), emu(HEIGHT)


def darken(file: Presentation) -> None:
    """Make the text of all slides light on a dark background."""
    master = file.slide_master
    colors = master.element.find(qn("p:clrMap"))
    light = dict.fromkeys(("tx2", "hlink", "folHlink"), "lt2")
    for name, other in {"bg1": "dk1", "tx1": "lt1", "bg2": "dk2", **light}.items():
        colors.set(name, other)
    fill = master.background.fill
    fill.solid()
    fill.fore_color.rgb = DARK
