"""What the heads of a model are for, as tests on random tokens find it."""

from __future__ import annotations

from model.edits import Edits
from model.insight.roles import LONGEST, SPECIAL, RoleScores, role_scores
from pages.shared.runs.door import model_call
from pages.shared.runs.readers import explained, reader


@model_call("Testing every head …")
def head_roles(name: str, loading: int, seed: int, edits: Edits) -> RoleScores:
    """Return the scores of all heads of a model, its heads switched as the edits say.

    Masks stay as trained: their cells are places in a text, which has nothing to do with the
    random tokens. `loading` tells a model from another of its name. Raises ValueError if it reads
    too few tokens.
    """
    model = reader(name)
    sites = Edits(gates=edits.gates).at_sites(model.shape, 2 * LONGEST + SPECIAL)
    try:
        return role_scores(model, seed, sites)
    except Exception as error:
        raise explained(error) from error
