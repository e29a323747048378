"""The choice of positions for the tokens of encoder and decoder, and the changes it stands for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headlight.model.edits.positions import PositionEdit
from headlight.model.transformer.trace import Side
from headlight.pages.parts.positions.effects import shuffled
from headlight.pages.parts.positions.words import SENTENCE_WORDS
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.state.choice import Choice, number, one_of

MODES = {"trained": "as trained", "off": "off", "shuffled": "shuffled", "shifted": "shifted"}
MOST_SHUFFLES = 10_000
HELP = SENTENCE_WORDS["modes"]
SIDES: dict[Side, Choice] = {
    "encoder": one_of(
        "positions_encoder", MODES, "off", label="Positions of the encoder", help=HELP
    ),
    "decoder": one_of("positions_decoder", MODES, label="Positions of the decoder", help=HELP),
}
# For a model that has only an encoder or only a decoder.
ONLY = one_of("positions_only", MODES, "off", label="Positions", help=HELP)
SHIFT = number("positions_shift", 1, (1, 512), label="Shift by k")
SEED = number("positions_seed", 0, (0, MOST_SHUFFLES - 1))


def lengths(run: ModelRun) -> dict[Side, int]:
    """Return the number of tokens of each side that the model has."""
    trace = run.trace()
    counts = len(trace.source_tokens), len(trace.target_tokens)
    return {side: count for side, count in zip(SIDES, counts, strict=True) if count}


def modes_of(tokens: Mapping[Side, int]) -> dict[Side, Choice]:
    """Return the choice of positions of each side."""
    return SIDES if len(tokens) > 1 else dict.fromkeys(tokens, ONLY)


def position_edits(
    tokens: Mapping[Side, int], values: Mapping[str, Any]
) -> dict[Side, PositionEdit]:
    """Return the change of each side's positions, given the values of the choices by their keys.

    If positions are shuffled, the start token and the end token keep theirs.
    """
    return {
        side: position_edit(side, values[choice.key], tokens[side], values)
        for side, choice in modes_of(tokens).items()
    }


def position_edit(side: Side, mode: str, tokens: int, values: Mapping[str, Any]) -> PositionEdit:
    order = ()
    if mode == "shuffled":
        first = 1 if side == "decoder" else 0
        mixed = shuffled(tokens - 1, values[SEED.key])
        order = (*range(first), *(first + index for index in mixed))
    return PositionEdit(mode == "off", order, values[SHIFT.key] if mode == "shifted" else 0)


def moved(run: ModelRun, edits: Mapping[Side, PositionEdit]) -> ModelRun:
    """Return the run with changed positions."""
    return replace(run, moved=tuple(edits.get(side, PositionEdit()) for side in SIDES))
