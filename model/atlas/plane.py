"""Heads as points of a plane that are as far apart as the heads, similar ones close together."""

from typing import NamedTuple

import numpy as np


class Plane(NamedTuple):
    """Points in a plane, and the share of the squared distances between them that it keeps."""

    points: np.ndarray  # (N, 2)
    kept: float


def plane_of(distances: np.ndarray) -> Plane:
    """Return the points (N, 2) whose distances are the nearest to these (N, N), by classical MDS.

    Distances of points in a plane come back exactly; the square roots of Jensen-Shannon divergences
    are distances of points in a space of more dimensions (Endres and Schindelin 2003); the plane
    shows its two widest. The share kept is 1 for points of a plane, also if all points coincide.
    Source: Torgerson 1952, "Multidimensional Scaling: I. Theory and Method".
    """
    squares = distances**2
    centred = squares - squares.mean(axis=0)
    centred = (centred.mean(axis=1, keepdims=True) - centred) / 2  # the points' products (N, N)
    sizes, directions = np.linalg.eigh((centred + centred.T) / 2)
    sizes = np.maximum(sizes[::-1], 0)
    widest = np.pad(directions[:, ::-1], ((0, 0), (0, 2)))[:, :2]  # of one point there is one
    points = widest * np.sqrt(np.pad(sizes, (0, 2))[:2])
    largest = np.take_along_axis(points, np.abs(points).argmax(axis=0)[None], axis=0)
    points = points * np.where(largest < 0, -1, 1)  # else a sign of its own on each machine
    total = sizes.sum()
    return Plane(points, float(sizes[:2].sum() / total) if total > 0 else 1.0)


def nearest(distances: np.ndarray, place: int, count: int) -> list[int]:
    """Return the `count` indices with the smallest distances to `place`, without itself."""
    order = np.argsort(distances[place], kind="stable")
    return [int(other) for other in order if other != place][:count]
