"""What a model writes without each of its heads alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch

from model.decoding.steps import Writing
from model.edits import Head
from model.insight.ablation import sites_by_layer, without_each_head
from model.insight.effects import rows_at_once
from model.trace import Run
from pages.shared.runs.door import model_call
from pages.shared.runs.run import ModelRun, written

SECONDS = 20.0  # after which no more is written


@dataclass(frozen=True)
class HeadsOff:
    """What is written without each head that changes the text, and the heads not tried."""

    written: Mapping[Head, Writing]
    untried: tuple[Head, ...]


@model_call()
def written_without_heads(run: ModelRun, _report: Callable[[float], None]) -> HeadsOff:
    """Return what a model writes without each head alone, where that is another text.

    After SECONDS the rest is left untried. `_report` is called with the share that is done.
    """
    found, untried, changing = {}, [], heads_that_change(run)
    end = time.monotonic() + SECONDS
    for done, head in enumerate(changing):
        _report(done / len(changing))
        if time.monotonic() > end:
            untried.append(head)
            continue
        gates = {**run.edits.gates, head: 0.0}
        found[head] = written(replace(run, edits=replace(run.edits, gates=gates)))
    return HeadsOff(found, tuple(untried))


@model_call()
@torch.inference_mode()
def heads_that_change(run: ModelRun) -> tuple[Head, ...]:
    """Return the heads without which a greedy decoding is another one.

    That is so where, over what is written with all heads, the likeliest next token is another one
    at any place: greedy decoding takes the same path as long as it is the same.
    """
    reader, shape = run.reader, run.reader.shape
    own = written(run)
    edits = run.changes_of(len(own.target_tokens))
    trace = reader.trace(run.sentence, own, sites=[])
    ids = torch.tensor([token.id for token in own.target_tokens])  # (T,)
    found = []
    for sites in sites_by_layer(shape):
        heads = [(site, head) for site in sites for head in range(shape.heads(site.kind))]
        most = rows_at_once(trace, len(heads))
        for first in range(0, len(heads), most):
            batch = heads[first : first + most]
            logits = reader.rerun(trace, Run(without_each_head(edits, batch, shape)))  # (B, T, V)
            last = logits.size(1) if own.finished else logits.size(1) - 1
            likeliest = logits[:, last - len(ids) : last].argmax(dim=-1).cpu()  # (B, T)
            changed = (likeliest != ids).any(dim=-1).tolist()
            places = [(site.kind, site.layer, head) for site, head in batch]
            found += [place for place, other in zip(places, changed, strict=True) if other]
    return tuple(found)
