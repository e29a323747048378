"""Write a talk as a PowerPoint file, with its words as text and its pictures as images."""

import base64
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import ceil
from typing import cast

import pptx
from PIL import Image
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.enum.text import MSO_ANCHOR, MSO_AUTO_SIZE, PP_ALIGN
from pptx.presentation import Presentation
from pptx.shapes.autoshape import Shape
from pptx.slide import Slide
from pptx.text.text import TextFrame, _Paragraph
from pptx.util import Emu

from headlight.viz.canvas import CanvasPicture, unpacked
from headlight.viz.numbers import writable
from headlight.wings.talks.deck.file import LARGEST, Drawn, DrawnSlide, within
from headlight.wings.talks.deck.template import HEIGHT, WIDTH, Box, darken, emu, widen

EDGE = 40  # pixels left and right of words; images have their own margin
TITLE_SIZE, WORDS_SIZE, FOOTER_SIZE = 38, 25, 16  # sizes of letters in pixels
ALONE_SIZES = 64, 34  # the sizes of title and words on a slide without pictures
LONG_TITLE_SIZE = 44  # without pictures, the size of a title of more than two lines
LINE = 1.25  # the height of a line, as a multiple of the size of letters
WIDE = 0.52  # the average width of a letter, as a share of its size
BOTTOM = 674  # pixels from the top of a slide to the lower end of its pictures
MOST_OF_WORDS = 280  # the largest height of words in pixels
AROUND = 8  # pixels of an image's margins: left plus right, or above plus below
CODE = 176, 194  # the width and height in pixels of a scene's QR code with its address
NOTE = 40  # the height in pixels of a sentence on missing pictures
TWICE = 2  # dots of an image for each pixel of the slide
LAYOUTS = 0, 5  # python-pptx's layouts for only words, and for a title above pictures
# Characters that XML cannot hold, and those that some XML readers reject.
FORBIDDEN = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MARKS = re.compile(r"\*\*(?=\S)([^\n]*?\S)\*\*|\*(?=[^\s*])([^\n*]*?[^\s*])\*")  # bold or italic
LIVE = "Open this scene live"
UNREADABLE = "The picture “{what}” could not be drawn when the file was saved."


def powerpoint_of(
    slides: Sequence[DrawnSlide], *, dark: bool = False, most: int = LARGEST
) -> tuple[bytes, list[int]]:
    """Return a talk as PPTX, and the numbers, from 1, of its incomplete slides.

    Pictures that are not data addresses of PNG images, or go beyond a total of `most` bytes, are
    left out, and their slides say so. A question is on a separate slide before the slide with its
    picture.
    """
    file = pptx.Presentation()
    widen(file)
    if dark:
        darken(file)
    properties, now = file.core_properties, datetime.now(UTC)
    properties.title = cleaned(slides[0].title) or "Talk"
    properties.author = properties.last_modified_by = "Headlight"
    properties.created = properties.modified = now
    left_out = []
    for number, slide in enumerate(within(slides, most), start=1):
        asked = [drawn.question for drawn in slide.pictures if drawn.question]
        for question, _ in asked:
            add(file, question_of(question, slide), marked=False)
        answers = " ".join(verdicts[0] for _, verdicts in asked)  # the sentence without a guess
        title = (slide.typed and slide.title) or answers or slide.title
        if not add(file, replace(slide, title=title, typed=slide.typed and title == slide.title)):
            left_out.append(number)
    written = io.BytesIO()
    file.save(written)
    return written.getvalue(), left_out


def add(file: Presentation, slide: DrawnSlide, *, marked: bool = True) -> bool:
    """Add a slide and its notes; return whether it is complete. `marked` is passed to `write`."""
    alone = not slide.pictures and not slide.missing
    made = file.slides.add_slide(file.slide_layouts[LAYOUTS[not alone]])
    if slide.notes and (frame := made.notes_slide.notes_text_frame):
        frame.text = cleaned(slide.notes)
    return write_alone(made, slide, marked) if alone else write_with_pictures(made, slide)


def question_of(question: CanvasPicture, slide: DrawnSlide) -> DrawnSlide:
    """Return a slide that asks a question, as its title or below the title of `slide`."""
    header, _ = unpacked(question.data)
    options = "   ".join(filter(None, (option["text"] for option in header["options"])))
    words = MARKS.sub(lambda match: match[1] or match[2], slide.words)
    words = "\n".join(filter(None, [words, slide.title and header["asks"], options]))
    title, typed = slide.title or header["asks"], slide.typed and slide.title != ""
    return DrawnSlide(title, words, slide.notes, typed=typed)


def write_alone(made: Slide, slide: DrawnSlide, marked: bool) -> bool:
    """Write a slide without pictures, and return True. `marked` is passed to `write`."""
    title, words = ALONE_SIZES
    title = LONG_TITLE_SIZE if lines_of(slide.title, title) > 2 else title
    heading, below = placeholder(made, 0), placeholder(made, 1)
    Box(90, 110, WIDTH - 180, 240).put(heading)
    Box(150, 370, WIDTH - 300, 290).put(below)
    style = {"bold": True, "anchor": MSO_ANCHOR.BOTTOM, "marked": slide.typed}
    write(heading.text_frame, slide.title, title, **style)
    write(below.text_frame, slide.words, words, marked=marked, question=slide.question)
    for frame in (heading.text_frame, below.text_frame):
        for paragraph in frame.paragraphs:
            paragraph.alignment = PP_ALIGN.CENTER
            paragraph.font.color.theme_color = MSO_THEME_COLOR.TEXT_1
    if not text_of(slide.words, slide.question):
        below.element.getparent().remove(below.element)
    return True


def write_with_pictures(made: Slide, slide: DrawnSlide) -> bool:
    """Write a slide with its pictures and its footer; return whether it is complete."""
    codes = [drawn for drawn in slide.pictures[1:] if drawn.code]
    pictures = [drawn for drawn in slide.pictures if drawn not in codes]
    text = text_of(slide.words, slide.question)
    title, words, room = places(slide.title, text, bool(codes))
    if slide.missing and slide.pictures:
        room = replace(room, height=room.height - NOTE)
    heading = placeholder(made, 0)
    title.put(heading)
    style = {"bold": True, "anchor": MSO_ANCHOR.MIDDLE, "marked": slide.typed}
    write(heading.text_frame, slide.title, TITLE_SIZE, **style)
    heading.text_frame.paragraphs[0].alignment = PP_ALIGN.LEFT
    if text:
        write(text_box(made, words), slide.words, WORDS_SIZE, question=slide.question)
    missing = [slide.missing] if slide.missing else []
    holders = [*shares(room, len(pictures)), Box(WIDTH - EDGE - CODE[0], 18, *CODE)]
    for drawn, holder in zip((*pictures, *codes), holders, strict=False):
        if not put_picture(made, drawn, holder, middle=len(pictures) == 1):
            missing.append(UNREADABLE.format(what=drawn.what))
    if missing:
        high, size = (NOTE, FOOTER_SIZE) if slide.pictures else (room.height, WORDS_SIZE)
        note = Box(EDGE, BOTTOM - high, WIDTH - 2 * EDGE, high)
        write(text_box(made, note), " ".join(missing), size, anchor=MSO_ANCHOR.MIDDLE)
    if slide.footer:
        box = Box(EDGE, BOTTOM, WIDTH - 3 * EDGE - 200, HEIGHT - BOTTOM - 4)
        write(text_box(made, box), slide.footer, FOOTER_SIZE, anchor=MSO_ANCHOR.MIDDLE)
    if slide.link:
        write_link(made, slide.link)
    return not missing


def places(title: str, words: str, beside: bool = False) -> tuple[Box, Box, Box]:
    """Return the boxes of title, words and pictures; if `beside`, leave room for a QR code."""
    width = WIDTH - beside * (CODE[0] + 16)
    lines = min(2, lines_of(title, TITLE_SIZE * 1.08, width))  # bold letters are 8% wider
    heading = Box(EDGE, 18, width - 2 * EDGE, lines * TITLE_SIZE * LINE + 6)
    top = heading.top + heading.height + 4
    high = min(MOST_OF_WORDS, lines_of(words, WORDS_SIZE, width) * WORDS_SIZE * LINE)
    text = Box(EDGE, top, width - 2 * EDGE, high)
    top += high + 8 if words else 0
    return heading, text, Box(24, top, width - 48, BOTTOM - top)


def listed(question: Sequence[str]) -> list[str]:
    """Return the lines of a question and of a list of its answers."""
    return [*question[:1], *(f"• {answer}" for answer in question[1:])]


def text_of(words: str, question: Sequence[str]) -> str:
    """Return all that a slide says below its title."""
    return "\n".join(filter(None, [words, *listed(question)]))


def shares(room: Box, count: int) -> list[Box]:
    """Return a box for each picture, in columns; of three, two share the second column."""
    width, half = room.width / (2 if count == 3 else max(1, count)), room.height / 2
    columns = [replace(room, left=room.left + at * width, width=width) for at in range(count)]
    if count == 3:
        columns[1:] = [replace(columns[1], top=room.top + at * half, height=half) for at in (0, 1)]
    return columns


def room_of(title: str, words: str, pictures: int, code: bool = False) -> tuple[float, float]:
    """Return the width and the height in pixels for all pictures of a slide together.

    A QR `code` next to other pictures is in the corner, outside of this space.
    """
    beside = code and pictures > 1
    *_, room = places(title, words, beside)
    return room.width - (pictures - beside) * AROUND, room.height - AROUND


def lines_of(text: str, size: float, width: float = WIDTH) -> int:
    """Estimate how many lines a text takes, given the width and the size of letters in pixels."""
    a_line = (width - 2 * EDGE) / (size * WIDE)
    return sum(max(1, ceil(len(line) / a_line)) for line in text.splitlines()) or 1


def placeholder(made: Slide, number: int) -> Shape:
    """Return a slide's placeholder for text; number 0 is for the title."""
    return cast(Shape, made.placeholders[number])


def text_box(made: Slide, box: Box) -> TextFrame:
    return made.shapes.add_textbox(*box.measures()).text_frame


def write(
    frame: TextFrame,
    text: str,
    size: float,
    *,
    bold: bool = False,
    anchor: MSO_ANCHOR = MSO_ANCHOR.TOP,
    marked: bool = True,
    question: Sequence[str] = (),
) -> None:
    """Write a text into a frame in letters of `size` pixels, or smaller if it does not fit.

    If the text is `marked`, **bold** and *italic* in it become formatting. The `question` with
    its answers follows, without formatting.
    """
    frame.word_wrap, frame.vertical_anchor = True, anchor
    frame.auto_size = MSO_AUTO_SIZE.TEXT_TO_FIT_SHAPE
    frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = Emu(0)
    lines = [(line, marked) for line in text.split("\n")] if text or not question else []
    lines += [(line, False) for line in listed(question)]
    for at, (line, is_marked) in enumerate(lines):
        paragraph = frame.paragraphs[0] if at == 0 else frame.add_paragraph()
        paragraph.font.size = emu(size)
        paragraph.font.bold = bold or None
        add_runs(paragraph, cleaned(line), marked=is_marked)


def add_runs(paragraph: _Paragraph, text: str, *, marked: bool, **fonts: bool) -> None:
    """Add a text to a paragraph; if `marked`, **bold** and *italic* in it become formatting."""
    match = MARKS.search(text) if marked else None
    before = text[: match.start()] if match else text
    if before:
        run = paragraph.add_run()
        run.text = before
        for name, value in fonts.items():
            setattr(run.font, name, value)
    if match:
        kind = "bold" if match[1] else "italic"
        add_runs(paragraph, match[1] or match[2], marked=True, **fonts, **{kind: True})
        add_runs(paragraph, text[match.end() :], marked=True, **fonts)


def put_picture(made: Slide, drawn: Drawn, holder: Box, *, middle: bool) -> bool:
    """Put a picture at the top or in the middle of a box; return False if it is not an image."""
    try:
        data = base64.b64decode(str(drawn.picture).partition("base64,")[2], validate=True)
        with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
            width, height = (dots / TWICE for dots in image.size)
        shape = made.shapes.add_picture(io.BytesIO(data), Emu(0), Emu(0))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return False
    share = min(1, holder.width / width, holder.height / height)
    width, height = width * share, height * share
    left = holder.left + (holder.width - width) / 2
    top = holder.top + (holder.height - height) / 2 * middle
    Box(left, top, width, height).put(shape)
    shape.name = cleaned(drawn.what)
    properties = shape.element.nvPicPr.cNvPr  # pyright: ignore[reportAttributeAccessIssue]
    properties.set("descr", cleaned(drawn.alternative))
    return True


def write_link(made: Slide, link: str) -> None:
    """Into the lower right corner of a slide, write a link that opens its page in the app."""
    frame = text_box(made, Box(WIDTH - EDGE - 220, BOTTOM, 220, HEIGHT - BOTTOM - 4))
    write(frame, "", FOOTER_SIZE, anchor=MSO_ANCHOR.MIDDLE)
    (paragraph,) = frame.paragraphs
    paragraph.alignment = PP_ALIGN.RIGHT
    run = paragraph.add_run()
    run.text, run.hyperlink.address = LIVE, cleaned(link)
    run.font.color.theme_color = MSO_THEME_COLOR.HYPERLINK


def cleaned(text: str) -> str:
    return FORBIDDEN.sub("", writable(text))
