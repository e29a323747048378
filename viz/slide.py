"""What is written on a slide, and the keys that lead to the others."""

from __future__ import annotations

from viz.canvas import CanvasPicture


def slide(
    title: str,
    words: str,
    *,
    number: int,
    count: int,
    style: str = "",
    passing: bool = False,
) -> CanvasPicture:
    """The words of slide `number` of `count`, counted from 1.

    The document's keys turn the slides: arrows, page keys and the space bar, Home and End; B or a
    full stop blacks the screen out and back; Escape leaves. It answers with the number of the slide
    that was asked for, 0 for none. `style` is CSS for the page as long as it is
    shown. A slide `passing` is asked for again where it is still there after a while. Raises
    ValueError where there is no such slide.
    """
    if not 1 <= number <= count:
        raise ValueError(f"There is no slide {number} of {count}.")
    header = {"title": title, "words": words, "number": number, "count": count}
    header |= {"style": style, "passing": passing}
    return CanvasPicture.pack("slide", header, height=160)
