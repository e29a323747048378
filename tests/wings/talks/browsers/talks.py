"""The ready talk as a person sees it, in the app or in its file."""

import contextlib

import torch

import headlight.pages.parts.pages  # noqa: F401, what slides are of
from headlight.model.transformer.trace import Site
from headlight.viz.numbers import number_text
from headlight.wings.cause.knockout import edges_of, knock_out
from headlight.wings.talks.talk import shipped
from tests.browsers.driven import PageError, until
from tests.browsers.pointing import expect_cell, expect_lines, expect_reading

TALK = shipped()
NUMBERS = {picture: number for number, slide in enumerate(TALK, 1) for picture in slide.pictures}
DOG = "The dog ate the meat because it was hungry."
PATIENCE = 10  # seconds in which a slide comes to have no fault


def expect_all_slides_fit(page, at, stage, footer):
    """Go through the talk by the arrow; `at` waits for a slide by its number."""
    told = []
    for number, slide in enumerate(TALK, start=1):
        at(number)
        faults = faults_at_rest(page, stage, footer)
        told += [f"{number} {slide.title}: {fault}" for fault in faults]
        page.press("ArrowRight")
    assert not told, "\n".join(told)


def faults_at_rest(page, stage, footer):
    """What is wrong with a slide, and stays wrong: a picture that grows is fitted again."""
    faults = []

    def has_none():
        faults[:] = page.evaluate("faultsOfSlide", stage, footer)
        return not faults

    with contextlib.suppress(AssertionError):
        until(has_none, PageError, seconds=PATIENCE)
    return faults


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
    largest = number_text(weights[query, key].item())
    words = f"largest weight {largest}, from “{tokens[query]}” to “{tokens[key]}”"
    name = "layer 3, head 7: "
    expect_reading(
        page, ".small-map", lambda: page.evaluate("placeOf", ".small-map", name), name + words
    )
    go(NUMBERS["knockout"])
    weights, parts = knock_out(
        translator, trace, edges_of(trace, translator, None, translator.translate(DOG))
    )
    changes = torch.cat(list(parts), dim=-1)
    for row, column in ((0, 1), (5, 4), (12, 9)):
        change = number_text(changes[row, column].item(), signed=True)
        weight = number_text(weights[row, column].item())
        for at, said in enumerate((f"change in nats {change}", f"weight {weight}")):
            expect_cell(page, "canvas.map", (row, column), f": {said}", at=at)
