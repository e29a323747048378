"""The translators, one in memory for all visitors, and what they do with a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import streamlit as st
import torch
from torch import Tensor

from model import Decoding, Translation, Translator, load
from model.decoding.strategies import Strategy
from model.edits import Edits
from model.insight.explain import Objective, choose_objective
from model.tokens import PAD_ID
from model.trace import AttentionEdit, Site, Trace
from model.transformer import Transformer
from pages.shared.runs import tuning
from pages.shared.runs.door import model_call
from pages.shared.state import catalog, models


def translator(name: str | None = None) -> Translator:
    """Return a shipped model by name, or a visitor's own by its key.

    Without a name it is the one that the visitor has chosen.
    """
    name = name or models.chosen().key
    return models.own_translator(name) if name.startswith(catalog.OWN) else _loaded(name)


@st.cache_resource(show_spinner="Loading the model …", max_entries=3)
def _loaded(name: str) -> Translator:
    tuning.tune()
    with torch.inference_mode(False):  # the first call of a model may be in it; gradients cannot be
        loaded = load(name)
    tuning.freeze()
    return loaded


@dataclass(frozen=True)
class TranslatorRun:
    """A sentence as a translator reads it: plain values that decide every number.

    Without a target the decoder reads the translation by the model as trained, edits or not, so
    that runs with and without edits can be compared cell by cell. Without a model it is the one
    that the visitor has chosen.
    """

    sentence: str
    target: str = ""
    edits: Edits = Edits()
    pad_to: int | None = None
    model: str = field(default_factory=lambda: models.chosen().key)

    @property
    def network(self) -> Transformer:
        """The network that can be run again."""
        return translator(self.model).model

    @property
    def trace(self) -> Trace:
        """Every head; not to be modified."""
        return _traced(self)

    @property
    def changes(self) -> dict[Site, AttentionEdit]:
        """The edits as the model takes them, for the tokens of this run."""
        if self.edits == Edits():
            return {}
        trace = replace(self, edits=Edits()).trace
        longest = max(len(trace.source_tokens), len(trace.target_tokens))
        length = sum(token.id != PAD_ID for token in trace.target_tokens)
        return self.edits.at_sites(self.network.config, longest, length)

    @property
    def target_text(self) -> str:
        """What the decoder reads."""
        return self.target or translated(self.sentence, name=self.model).text

    def objective(self, site: Site, query: int) -> Objective:
        """Return what effects on a query are measured on."""
        return choose_objective(self.trace, site, query)


@model_call("Translating …")
def translated(
    sentence: str, edits: Edits = Edits(), pad_to: int | None = None, *, name: str | None = None
) -> Translation:
    """Return the translation of a sentence, with what a visitor changed; not to be modified."""
    model = translator(name)
    longest = max(len(model.read(sentence, pad_to)), model.default_new_tokens + 1)
    changed = edits.at_sites(model.model.config, longest)
    return model.translate(sentence, edits=changed, pad_to=pad_to)


@model_call("Reading …")
def _traced(run: TranslatorRun) -> Trace:
    read = run.target or translated(run.sentence, name=run.model)
    model = translator(run.model)
    return model.trace(run.sentence, read, edits=run.changes, pad_to=run.pad_to)


@model_call()
def masks_of(run: TranslatorRun) -> tuple[Tensor, Tensor, Tensor]:
    """Return the padding mask, the look-ahead mask and both of a run, as the model uses them."""
    return translator(run.model).masks(run.trace)


@model_call("Decoding …")
def decoded(
    sentence: str,
    strategy: Strategy,
    longest: int,
    forced: tuple[int, ...] = (),
    edits: Edits = Edits(),
    *,
    name: str | None = None,
) -> Decoding:
    """Return a translation with every step of its decoding; not to be modified.

    Raise ValueError for `forced` ids that the model cannot begin with.
    """
    model = translator(name)
    positions = max(len(model.read(sentence)), longest + 1)
    return model.steps(
        sentence,
        **vars(strategy),
        max_new_tokens=longest,
        prefix=forced,
        edits=edits.at_sites(model.model.config, positions),
    )
