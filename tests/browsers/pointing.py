"""Reading pictures as a person does: by pointing at what is seen."""

import re

from headlight.viz.numbers import number_text
from tests.browsers.driven import PageError, until


def expect_reading(page, picture, place, *words, at=0):
    """Point at a place in a picture until these words are read out, in this order."""
    wanted = re.compile(".*".join(map(re.escape, words)))
    said = ""

    def is_read():
        nonlocal said
        page.point(5, 5)
        page.point(*place())
        said = page.evaluate("readingOf", picture, at)
        return wanted.search(said)

    try:
        until(is_read, PageError)
    except AssertionError:
        raise AssertionError(f"{picture} reads “{said}”, not “{words}”") from None


def expect_cell(page, canvas, cell, *words, at=0):
    """Point at a cell of a map, a row and a column, until these words are read out."""
    expect_reading(page, canvas, lambda: page.evaluate("cellOf", canvas, *cell, at), *words, at=at)


def expect_weight(page, canvas, trace, site, head, cell, at=0):
    """Point at a cell of a head's map until it shows the tokens and the weight of the trace."""
    query, key = trace.query_tokens(site)[cell[0]].text, trace.key_tokens(site)[cell[1]].text
    weight = number_text(trace.attention[site].weights[0, head][cell].item())
    expect_cell(page, canvas, cell, f"“{query}", f" looks at “{key}”: weight {weight}", at=at)


def expect_lines(page, weights, query):
    """Point at a token of the lines, and read its weights next to the keys."""
    place = page.evaluate("placeOf", ".attention-lines .token.query", "", query)
    page.point(*place)
    expected = list(map(number_text, weights[query].tolist()))
    read = "wordsOf('.attention-lines .token.key .weight')"
    page.see(f"(expected) => JSON.stringify({read}) === JSON.stringify(expected)", expected)


def strongest(weights):
    return divmod(int(weights.argmax()), weights.size(1))
