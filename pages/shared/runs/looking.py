"""What an atlas is set beside: the figures of the visitor's own text, and a search by token."""

from __future__ import annotations

from model.atlas.corpus import Line
from model.atlas.counting import numbers_of
from model.atlas.jobs import MOST_NUMBERS
from model.atlas.looking import Looked, search
from model.atlas.sentence import Figures, figures_of
from pages.shared.runs.atlas import atlas_of, own_atlas
from pages.shared.runs.door import model_call
from pages.shared.runs.readers import explained, reader
from pages.shared.runs.run import ModelRun

TOO_LONG = "This text is too long to be measured with so many heads: shorten it to set it beside."


@model_call("Reading …")
def sentence_figures(run: ModelRun) -> Figures:
    """Return the figures of all heads on a run's text, as trained.

    Raises ValueError if there are none, or the text is too long for so many heads.
    """
    if numbers_of(run.reader, 1, (Line(0, ""), run.tokens)) > MOST_NUMBERS:
        raise ValueError(TOO_LONG)
    try:
        return figures_of(run.reader, run.tokens)
    except Exception as error:
        raise explained(error) from error


def lines_kept(model: str) -> tuple[Line, ...]:
    """Return the lines that can be searched: a sample of the visitor's text, or the examples."""
    if own := own_atlas(model):
        return tuple(own.count.sampled)
    return tuple(Line(*example["line"]) for example in atlas_of(model).examples)


@model_call("Looking …")
def looked_from(
    name: str, loading: int, lines: tuple[Line, ...], word: str
) -> tuple[list[Looked], list[Line]]:
    """Return where each head looks from a token, and in which of some lines; see `search`.

    `loading` tells a model from another of its name. Raises ValueError if none has the token.
    """
    try:
        return search(reader(name), lines, word, MOST_NUMBERS)
    except Exception as error:
        raise explained(error) from error
