"""Draw points by two numbers each: effects and their estimates, or heads by two statistics."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from plotly.colors import sample_colorscale, sequential, unlabel_rgb

from headlight.viz.canvas import CanvasPicture, Part
from headlight.viz.curves.position_lines import COLORS
from headlight.viz.numbers import Numbers, number_text

PART = Part.next_to(__file__, "Points")
EQUAL = "the estimate is right"
OF_LAYERS = (0.35, 0.88)  # the part of the colour scale that is visible on both white and black


def effect_points(
    true: np.ndarray,
    estimated: np.ndarray,
    names: Sequence[str],
    *,
    groups: Sequence[str] | None = None,
    unit: str = "nats",
    **marks: Any,
) -> CanvasPicture:
    """Draw a point for each true effect (N,) and its estimate (N,), and the line of equal numbers.

    `names` appear on hovering; for `groups` and other marks see `points`.
    """
    notes = [
        f"{name}: estimated {number_text(guess, signed=True)}, "
        f"true {number_text(effect, signed=True)} {unit}"
        for name, effect, guess in zip(names, true, estimated, strict=True)
    ]
    furthest = int(np.abs(true - estimated).argmax()) if len(notes) else None
    rows = {"true": true, "estimated": estimated}
    return points(
        true,
        estimated,
        notes,
        groups=[""] * len(names) if groups is None else groups,
        summary=f"{len(notes)} effects, estimated against true."
        + ("" if furthest is None else f" Furthest apart: {notes[furthest]}"),
        axes=(f"true effect, in {unit}", f"estimated, in {unit}"),
        equal=EQUAL,
        **marks,
        numbers={name: Numbers(values, {"effect": names}) for name, values in rows.items()},
    )


def head_points(
    across: np.ndarray,
    up: np.ndarray,
    names: Sequence[str],
    *,
    axes: tuple[str, str],
    units: tuple[str, str] = ("", ""),
    **marks: Any,
) -> CanvasPicture:
    """Draw a point for each head by two statistics (N,); `axes` are their names.

    `units` are their units, "" for none; for `marks` see `points`.
    """
    notes = [
        f"{name}: {axes[0]} {number_text(first)} {units[0]}".rstrip()
        + f", {axes[1]} {number_text(second)} {units[1]}".rstrip()
        for name, first, second in zip(names, across, up, strict=True)
    ]
    figures = dict(zip(axes, (across, up), strict=True))
    return points(
        across,
        up,
        notes,
        summary=f"{len(notes)} heads by {axes[0]} and {axes[1]}.",
        axes=[f"{axis}, {unit}" if unit else axis for axis, unit in zip(axes, units, strict=True)],
        clickable=True,
        **marks,
        numbers={name: Numbers(values, {"head": names}) for name, values in figures.items()},
    )


def head_plane(
    positions: np.ndarray, names: Sequence[str], notes: Sequence[str], **marks: Any
) -> CanvasPicture:
    """Draw a point for each head at its position (N, 2) in a plane with equal scales on both axes.

    `notes` appear on hovering; for `marks` see `points`.
    """
    return points(
        positions[:, 0],
        positions[:, 1],
        notes,
        summary=f"{len(names)} heads by likeness.",
        clickable=True,
        **marks,
        numbers={"plane": Numbers(positions, {"head": names, "axis": ["across", "up"]})},
    )


def points(
    across: np.ndarray,
    up: np.ndarray,
    notes: Sequence[str],
    *,
    groups: Sequence[str],
    summary: str,
    numbers: Mapping[str, Numbers],
    colors: Sequence[str] = COLORS,
    axes: Sequence[str] | None = None,
    equal: str = "",
    named: Mapping[int, str] | None = None,
    selected: int | None = None,
    clickable: bool = False,
) -> CanvasPicture:
    """Draw points by two numbers (N,) each; without `axes` they are positions in a plane.

    `notes` appear on hovering, and `summary` describes the picture to screen readers. `groups`
    determine the points' colours, and `selected` is the index of a point with a ring. `named` holds
    labels of some points, by index: each label is placed where it covers the fewest points. A click
    on a `clickable` picture sends the index of the nearest point. `equal` says what it means if
    both numbers are equal: a line then shows where they are, and both axes include 0.
    """
    kinds = list(dict.fromkeys(groups))
    header = {
        "told": list(notes),
        "summary": summary,
        "groups": [kinds.index(group) for group in groups],
        "kinds": kinds,
        "colors": list(colors),
        "named": [{"place": place, "words": words} for place, words in (named or {}).items()],
        "axes": list(axes) if axes else None,
        "equal": equal,
        "selected": selected,
        "clickable": clickable,
    }
    array = np.stack([across, up]).astype("<f4")
    return CanvasPicture.pack(PART, header, array, height=420, numbers=numbers)


def layer_colors(count: int) -> list[str]:
    """Return a colour for each of `count` layers, in order."""
    shares = np.linspace(*OF_LAYERS, count) if count > 1 else [OF_LAYERS[0]]
    colors = sample_colorscale(sequential.Plasma, shares)
    return ["#{:02x}{:02x}{:02x}".format(*map(round, unlabel_rgb(color))) for color in colors]
