"""The model, loaded once for all visitors, and what it does with a sentence."""

from __future__ import annotations

import gc
import sys
from threading import Semaphore

import numpy as np
import streamlit as st
import torch

from model import Decoding, Translation, Translator, load
from model.decoding.strategies import Strategy
from model.edits import Edits
from model.insight.scoring import trace_log_probabilities
from model.tokenizer import END_ID, PAD_ID, Token
from model.trace import AttentionEdit, Kind, Site, Trace
from pages.shared.runs import limits
from pages.shared.runs.housekeeping import released, share_arenas
from pages.shared.state import models

UNMASKED = "en-fr-unmasked"  # small, and trained without the look-ahead mask
# What a visitor typed is kept for that visitor alone, and goes when the session does.
KEPT = {"max_entries": limits.RUNS, "scope": "session", "on_release": released}
# Each operation of the model lets Python's lock go, and takes it back only when another thread's
# turn is over: with many visitors a model call spent most of its time waiting for turns.
TURN = 0.0005  # seconds of a thread at most while others wait; Python's default is 0.005
RUNNING = Semaphore(2)  # calls of the model at once


def translator(name: str | None = None) -> Translator:
    """A shipped model by name, one in memory for all visitors; or a visitor's own by its key.

    Without a name it is the one that the visitor has chosen.
    """
    name = name or models.chosen().key
    return models.own_translator(name) if name.startswith(models.OWN) else _loaded(name)


@st.cache_resource(show_spinner="Loading the model …", max_entries=3)
def _loaded(name: str) -> Translator:
    torch.set_num_threads(limits.THREADS)
    share_arenas()
    sys.setswitchinterval(TURN)
    loaded = load(name)
    # What is loaded stays: later collections need not look at it again.
    gc.collect()
    gc.freeze()
    return loaded


def translated(
    sentence: str, edits: Edits = Edits(), pad_to: int | None = None, *, name: str | None = None
) -> Translation:
    """The translation of a sentence, with what a visitor changed; not to be modified.

    By the model of that name, or without one by the model that the visitor has chosen.
    """
    return _translated(name or models.chosen().key, sentence, edits, pad_to)


# Streamlit takes an argument left out and its default given for two different calls, so the cached
# functions have no defaults.
@st.cache_resource(show_spinner="Translating …", **KEPT)
def _translated(name: str, sentence: str, edits: Edits, pad_to: int | None) -> Translation:
    model = translator(name)
    longest = max(len(model.read(sentence, pad_to)), model.default_new_tokens + 1)
    changed = edits.at_sites(model.model.config, longest)
    with RUNNING:
        return model.translate(sentence, edits=changed, pad_to=pad_to)


def traced(
    sentence: str,
    target: str = "",
    edits: Edits = Edits(),
    pad_to: int | None = None,
    *,
    name: str | None = None,
) -> Trace:
    """Every head while the decoder reads `target`; not to be modified.

    Without a target it reads the translation by the model as trained, edits or not, so that
    runs with and without edits can be compared cell by cell. For `name` see `translated`.
    """
    return _traced(name or models.chosen().key, sentence, target, edits, pad_to)


@st.cache_resource(show_spinner="Reading …", **KEPT)
def _traced(name: str, sentence: str, target: str, edits: Edits, pad_to: int | None) -> Trace:
    model = translator(name)
    read = target or translated(sentence, name=name)
    changed = {}
    if edits != Edits():
        changed = at_sites(edits, traced(sentence, target, pad_to=pad_to, name=name), name)
    with RUNNING:
        return model.trace(sentence, read, edits=changed, pad_to=pad_to)


def at_sites(edits: Edits, trace: Trace, name: str | None = None) -> dict[Site, AttentionEdit]:
    """A visitor's edits as the model takes them, for the tokens of a trace by it."""
    longest = max(len(trace.source_tokens), len(trace.target_tokens))
    length = sum(token.id != PAD_ID for token in trace.target_tokens)
    return edits.at_sites(translator(name).model.config, longest, length)


def decoded(
    sentence: str,
    strategy: Strategy,
    longest: int,
    forced: tuple[int, ...] = (),
    edits: Edits = Edits(),
) -> Decoding:
    """A translation with every step of its decoding; not to be modified.

    Raises ValueError for `forced` ids that the model cannot begin with.
    """
    return _decoded(models.chosen().key, sentence, strategy, longest, forced, edits)


@st.cache_resource(show_spinner="Decoding …", **KEPT)
def _decoded(
    name: str,
    sentence: str,
    strategy: Strategy,
    longest: int,
    forced: tuple[int, ...],
    edits: Edits,
) -> Decoding:
    model = translator(name)
    positions = max(len(model.read(sentence)), longest + 1)
    with RUNNING:
        return model.steps(
            sentence,
            **vars(strategy),
            max_new_tokens=longest,
            prefix=forced,
            edits=edits.at_sites(model.model.config, positions),
        )


@st.cache_resource(show_spinner=False, **KEPT)
def cheat(sentence: str, target: str) -> tuple[float, str]:
    """What a model trained without look-ahead mask makes of a sentence.

    Its loss on the target, in nats a token, and its own translation.
    """
    model = translator(UNMASKED)
    loss = -trace_log_probabilities(model.trace(sentence, target)).mean().item()
    return loss, model.translate(sentence).text


def weights_of(trace: Trace, kind: Kind) -> np.ndarray:
    """The weights of all heads of a kind of attention: (layers, heads, query, key)."""
    return trace.weights(kind).cpu().numpy()


def one_head(heads: np.ndarray, head: int | str) -> np.ndarray:
    """Return the numbers of a head, from 0, or the mean or maximum of all heads (H, ...)."""
    summaries = {"mean": heads.mean, "max": heads.max}
    return summaries[head](axis=0) if head in summaries else heads[head]


def blocked_cells(trace: Trace, kind: Kind) -> np.ndarray:
    """The cells (query, key) that the mask of a kind of attention closes to all its heads."""
    scores = trace.attention[Site(kind, 0)].masked_scores[0]  # (H, Q, K)
    return scores.isneginf().all(dim=0).cpu().numpy()


def following(trace: Trace) -> list[Token]:
    """What the decoder is to write after each token it reads."""
    return trace.following_tokens(translator().tokenizer.special_token(END_ID))


def tokens_of(trace: Trace, kind: Kind) -> tuple[list[str], list[str]]:
    """The texts of the query tokens and of the key tokens of a kind of attention."""
    site = Site(kind, 0)
    queries, keys = trace.query_tokens(site), trace.key_tokens(site)
    return [token.text for token in queries], [token.text for token in keys]
