"""What models of the transformers library do with a text."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from model.edits import Edits
from model.insight.explain import Objective, masked_words
from model.library.bert import Bert
from model.library.bert_reader import BertReader, Parity
from model.library.hub import first_line
from model.library.transformers_model import Attentions
from model.trace import AttentionEdit, Site, Trace
from pages.shared.runs.door import model_call
from pages.shared.runs.shelf import Loaded, numbered


@dataclass(frozen=True)
class BertRun:
    """One sentence or two as a BERT reads them: plain values that decide every number."""

    number: int  # of the loading of the model
    first: str
    second: str
    masked: tuple[int, ...] = ()  # places
    edits: Edits = Edits()

    @property
    def reader(self) -> BertReader:
        """The BERT; raises ValueError if it is not in memory any more."""
        return numbered(self.number).model

    @property
    def network(self) -> Bert:
        """The network that can be run again."""
        return self.reader.model

    @property
    def trace(self) -> Trace:
        """Every head; not to be modified. Raises ValueError if there is nothing to read."""
        return _read(self)

    @property
    def changes(self) -> dict[Site, AttentionEdit]:
        """The switched heads as the model takes them."""
        return self.edits.at_sites(self.network.config, positions=1)

    def objective(self, site: Site, query: int) -> Objective | None:
        """Return what effects are measured on: the masked words, if any can be predicted."""
        if not self.reader.predicts:
            return None
        return masked_words(self.trace, self.reader.read(self.first, self.second))


@model_call("Reading …")
def _read(run: BertRun) -> Trace:
    return run.reader.trace(run.first, run.second, masked=run.masked, edits=run.changes)


@model_call()
def probabilities(run: BertRun, place: int) -> Tensor:
    """Return how likely every piece of the vocabulary is at a place: (V,).

    Raise ValueError if the checkpoint has no masked-word head.
    """
    return run.reader.probabilities(run.trace, [place])[0]


@model_call("Running transformers' own BertModel …")
def measured_parity(number: int, first: str, second: str) -> Parity:
    """Return how far the numbers of a BERT are from transformers' own."""
    return numbered(number).model.parity(first, second)


@model_call("Reading …")
def attended(number: int, text: str, target: str | None) -> Attentions:
    """Return the heads of any other model on a text; not to be modified.

    Raise ValueError if the model cannot read it.
    """
    try:
        return numbered(number).model.attentions(text, target)
    except ValueError:
        raise
    except Exception as error:  # whatever a model of the library may stumble over
        raise ValueError(
            "The transformers library could not run this model on the text: "
            f"{first_line(error)} Change the text, or choose another model."
        ) from error


def bert_run(loaded: Loaded, first: str, second: str, masked: str, edits: Edits) -> BertRun:
    """Return a BERT's run in which the words at the places `masked`, from 0, are masked.

    Places that the text does not have, or that hold special tokens, are left out. Raise ValueError
    if there is nothing to read.
    """
    asked = {int(place) for place in masked.split(",") if place}
    pieces = enumerate(loaded.model.read(first, second))
    places = tuple(place for place, piece in pieces if place in asked and not piece.is_special)
    return BertRun(loaded.number, first, second, places, edits)


def heads_of(
    loaded: Loaded, text: str, second: str, masked: str = "", edits: Edits = Edits()
) -> Attentions:
    """Return every head of any model on a text; not to be modified.

    A BERT that takes pairs reads a `second` sentence, the decoder of another model a text for it,
    or what the model writes. Raise ValueError if the model cannot read it.
    """
    if not isinstance(loaded.model, BertReader):
        return attended(loaded.number, text, second or None)
    second = second if loaded.model.takes_pairs else ""
    return heads_in(bert_run(loaded, text, second, masked, edits).trace)


def heads_in(trace: Trace) -> Attentions:
    """Return every head of a BERT's run, without copying the weights."""
    weights = [trace.attention[site].weights[0].cpu().numpy() for site in sorted(trace.attention)]
    return Attentions({"encoder": weights}, source_tokens=trace.source_tokens)
