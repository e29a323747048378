"""What is written on a slide, and the keys that lead to the others."""

from __future__ import annotations

from viz.canvas import CanvasPicture


def slide(title: str, words: str, *, number: int, count: int, style: str = "") -> CanvasPicture:
    """The words of slide `number` of `count`, counted from 1.

    The document's keys turn the slides: arrows, page keys and the space bar, Home and End; B or a
    full stop blacks the screen out and back; Escape leaves. It answers with the number of the slide
    that was asked for, 0 for none. `style` is CSS for the page as long as it is
    shown. Raises ValueError where there is no such slide.
    """
    if not 1 <= number <= count:
        raise ValueError(f"There is no slide {number} of {count}.")
    header = {"title": title, "words": words, "number": number, "count": count, "style": style}
    return CanvasPicture.pack("slide", header, height=160)
