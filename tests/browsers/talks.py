"""The ready talk as a person sees it, in the app or in its file."""

import re

import torch

from headlight.model import Site
from headlight.model.insight.knockout import edges_of, knock_out
from headlight.pages.talks.talk import shipped
from headlight.viz.numbers import number_text
from tests.browsers.driven import PageError, until

TALK = shipped()
NUMBERS = {picture: number for number, slide in enumerate(TALK, 1) for picture in slide.pictures}
DOG = "The dog ate the meat because it was hungry."
PATIENCE = 10  # seconds in which a slide comes to have no fault


def expect_all_slides_fit(page, at, stage, footer):
    """Go through the talk by the arrow; `at` waits for a slide by its number."""
    told = []
    for number, slide in enumerate(TALK, start=1):
        at(number)
        faults = []

        def is_right():
            faults[:] = page.evaluate("faultsOfSlide", stage, footer)
            return not faults

        try:
            until(is_right, PageError, seconds=PATIENCE)
        except AssertionError:
            told += [f"{number} {slide.title}: {fault}" for fault in faults]
        page.press("ArrowRight")
    assert not told, "\n".join(told)


def expect_pointing_reads(page, go, translator):
    """Point at what is seen on slides; `go` leads to a slide by its number."""
    trace = translator.trace(DOG)
    go(8)
    expect_lines(page, trace.attention[Site("encoder", 1)].weights[0, 1], 6)
    go(NUMBERS["grid"])
    site = Site("encoder", 2)
    tokens = [token.text for token in trace.query_tokens(site)]
    weights = trace.attention[site].weights[0, 6]
    query, key = divmod(int(weights.argmax()), len(tokens))
    words = f"largest weight {number_text(weights[query, key].item())}, from “{tokens[query]}” to “{tokens[key]}”"
    name = "layer 3, head 7: "
    expect_reading(page, ".small-map", lambda: page.evaluate("placeOf", ".small-map", name), name + words)
    go(NUMBERS["knockout"])
    weights, parts = knock_out(translator, trace, edges_of(trace, translator, None, translator.translate(DOG)))
    changes = torch.cat(list(parts), dim=-1)
    for row, column in ((0, 1), (5, 4), (12, 9)):
        change = number_text(changes[row, column].item(), signed=True)
        weight = number_text(weights[row, column].item())
        for at, said in enumerate((f"change in nats {change}", f"weight {weight}")):
            expect_cell(page, "canvas.map", (row, column), f": {said}", at)


def expect_cell(page, canvas, cell, words, at=0):
    """Point at a cell of a map until these words are read out."""
    expect_reading(page, canvas, lambda: page.evaluate("cellOf", canvas, *cell, at), words, at)


def expect_reading(page, picture, place, words, at=0):
    """Point at a place in a picture until these words are read out."""
    said = ""

    def is_read():
        nonlocal said
        page.point(5, 5)
        page.point(*place())
        said = page.evaluate("readingOf", picture, at)
        return re.search(words if isinstance(words, re.Pattern) else re.escape(words), said)

    try:
        until(is_read, PageError, seconds=PATIENCE)
    except AssertionError:
        raise AssertionError(f"{picture} reads “{said}”, not “{words}”") from None


def expect_lines(page, weights, query):
    """Point at a token of the lines, and read its weights next to the keys."""
    page.point(*page.evaluate("placeOf", ".attention-lines .token.query", "", query))
    read = "wordsOf('.attention-lines .token.key .weight')"
    expected = list(map(number_text, weights[query].tolist()))
    page.see(f"(expected) => JSON.stringify({read}) === JSON.stringify(expected)", expected)
