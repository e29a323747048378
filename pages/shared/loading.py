"""The model, loaded once for all visitors, and what it does with a sentence."""

from __future__ import annotations

import gc
import os
from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch

from model import Translation, Translator, load
from model.tokenizer import Token
from model.trace import Kind, Site, Trace

MODEL = "en-fr"


@dataclass(frozen=True)
class Reading:
    """A translation and the attention of the run that read it, as arrays."""

    translation: Translation
    trace: Trace  # without its tensors: `weights` holds what pages draw
    weights: dict[Kind, np.ndarray]  # (layers, heads, query, key)

    def tokens(self, kind: Kind) -> tuple[list[Token], list[Token]]:
        """The query tokens and the key tokens of a kind of attention."""
        site = Site(kind, 0)
        return list(self.trace.query_tokens(site)), list(self.trace.key_tokens(site))


@st.cache_resource(show_spinner="Loading the model …", max_entries=2)
def translator(name: str = MODEL) -> Translator:
    """A model by name; one in memory for all visitors."""
    torch.set_num_threads(min(4, os.cpu_count() or 1))
    loaded = load(name)
    # What is loaded stays: later collections need not look at it again.
    gc.collect()
    gc.freeze()
    return loaded


@st.cache_data(show_spinner="Translating …", max_entries=64)
def read_sentence(sentence: str, name: str = MODEL) -> Reading:
    """Translate a sentence and record every head while the decoder reads the translation."""
    model = translator(name)
    translation = model.translate(sentence)
    trace = model.trace(sentence, translation)
    layers: dict[Kind, list[np.ndarray]] = {}
    for site, record in trace.attention.items():
        layers.setdefault(site.kind, []).append(record.weights[0].cpu().numpy())
    weights = {kind: np.stack(maps) for kind, maps in layers.items()}
    return Reading(translation, Trace(trace.source_tokens, trace.target_tokens), weights)
