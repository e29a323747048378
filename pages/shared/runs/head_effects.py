"""What a translation loses without one of the heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from model.edits import Edits
from model.insight.ablation import head_removals
from model.trace import KINDS, Kind
from pages.shared.runs.door import model_call
from pages.shared.runs.translator import TranslatorRun, translator

Effects = Mapping[Kind, np.ndarray]  # (layers, heads), in nats; NaN if not measured yet
Report = Callable[[Effects, float], None]  # takes what is known, and the share of the work


@model_call()
def removal_effects(name: str, sentence: str, edits: Edits, _report: Report) -> Effects:
    """Return the change of the translation's score without each head, on top of the edits.

    The score is that of the translation by the model as trained. `_report` is called after each
    layer.
    """
    model, config = translator(name), translator(name).model.config
    run = TranslatorRun(sentence, edits=edits, model=name)
    source, target = (
        model.ids(tokens) for tokens in (run.trace.source_tokens, run.trace.target_tokens)
    )
    effects = {kind: np.full((config.layers(kind), config.heads), np.nan) for kind in KINDS}
    sites = sum(len(values) for values in effects.values())
    removals = head_removals(model.model, source, target, run.changes)
    for done, (site, change) in enumerate(removals, start=1):
        effects[site.kind][site.layer] = change.cpu().numpy()
        _report(effects, done / sites)
    return effects
