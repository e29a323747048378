"""What models of the transformers library do with a text, kept within bounds of memory."""

from __future__ import annotations

import numpy as np
import streamlit as st

from model.edits import Edits
from model.library.bert_reader import BertReader, Reading
from model.library.hub import first_line
from model.library.transformers_model import Attentions
from model.trace import AttentionEdit, Site
from pages.parts.bert.model_box import Loaded
from pages.shared.runs.recent import Recent

# Four runs of a BERT of 12 layers with 12 heads on 512 tokens, or many short ones.
BYTES_KEPT = 1_900_000_000  # of all visitors together


@st.cache_resource(show_spinner=False)
def runs() -> Recent[Reading | Attentions]:
    """The runs of all visitors that were asked for last."""
    return Recent(BYTES_KEPT, size_of)


def size_of(run: Reading | Attentions) -> int:
    """The bytes that the records of a run take; a tensor that stands in two fields counts once."""
    if isinstance(run, Attentions):
        return sum(weights.nbytes for weights in run.weights.values())
    tensors = {
        tensor.data_ptr(): tensor.nbytes
        for record in (*run.attention.values(), *run.residual.values())
        for tensor in vars(record).values()
    }
    return sum(tensors.values())


def read(
    loaded: Loaded, first: str, second: str, masked: tuple[int, ...] = (), edits: Edits = Edits()
) -> Reading:
    """Every head while a BERT reads one sentence or two; not to be modified.

    Raises ValueError where there is nothing to read.
    """
    key = loaded.number, first, second, masked, edits_key(edits)
    reading = runs().get(key)
    if reading is None:
        with st.spinner("Reading …"):
            changes = at_sites(loaded.model, edits)
            reading = loaded.model.trace(first, second, masked=masked, edits=changes)
        runs().put(key, reading)
    return reading


def attended(loaded: Loaded, text: str, target: str | None) -> Attentions:
    """The heads of any other model on a text; not to be modified.

    Raises ValueError where the model cannot read it.
    """
    key = loaded.number, text, target
    found = runs().get(key)
    if found is None:
        with st.spinner("Reading …"):
            try:
                found = loaded.model.attentions(text, target)
            except ValueError:
                raise
            except Exception as error:  # whatever a model of the library may stumble over
                raise ValueError(
                    "The transformers library could not run this model on the text: "
                    f"{first_line(error)} Change the text, or choose another model."
                ) from error
        runs().put(key, found)
    return found


def at_sites(reader: BertReader, edits: Edits) -> dict[Site, AttentionEdit]:
    """The heads that a visitor switched, as the model takes them."""
    return edits.at_sites(reader.model.config, positions=1)


def edits_key(edits: Edits) -> tuple:
    """Switched heads as a key; nothing else is changed on this page."""
    return tuple(sorted(edits.gates.items()))


def layers_of(run: Reading | Attentions, kind: str) -> list[np.ndarray]:
    """The weights (H, Q, K) of every layer of a kind, without copying them."""
    if isinstance(run, Attentions):
        return list(run.weights[kind])
    sites = sorted(site for site in run.attention if site.kind == kind)
    return [run.attention[site].weights[0].cpu().numpy() for site in sites]
