"""The sentences kept during a count: each head's clearest and least clear ones, and a sample."""

from hashlib import blake2b

import numpy as np
from torch import Tensor

from headlight.model.corpus import CorpusLine

KEPT = 3  # sentences for each head, pattern and side
FEWEST = 4  # an example has at least this many rows with two or more visible keys
MOST = 48  # an example has at most this many tokens on either side, to fit on a screen
SAMPLE = 2_000  # the most lines of the sample
NOBODY = -1  # the line number of an entry that is still empty
SIGNS = {"clearest": 1, "least": -1}  # scores are multiplied by these; the highest are kept
DIGITS = 6  # decimals of compared scores; further ones differ between batches

Best = dict[str, np.ndarray]  # keys: "encoder/broad/clearest/scores" and ".../lines"; (L, H, KEPT)
Sample = list[tuple[int, int, str, str | None]]  # rank, line number, text, second text


def best_of(name: str, total: Tensor, count: Tensor, lines: np.ndarray, usable: np.ndarray) -> Best:
    """Return the sentences on which each head has its highest and its lowest mean scores.

    `total` and `count` (L, B, H) are the sum and the number of a sentence's scores. `lines` (B,)
    are the line numbers of the sentences, and `usable` (B,) says which can be shown.
    """
    mean = (total / count.clamp(min=1)).cpu().numpy().round(DIGITS)
    usable = (count.cpu().numpy() > 0) & usable[:, None]
    numbers = np.broadcast_to(lines[:, None], mean.shape).swapaxes(1, 2)
    examples: Best = {}
    for side, sign in SIGNS.items():
        scores = np.where(usable, sign * mean, -np.inf).swapaxes(1, 2)  # (L, H, B)
        kept = best(scores, np.where(np.isfinite(scores), numbers, NOBODY))
        examples |= {f"{name}/{side}/scores": kept[0], f"{name}/{side}/lines": kept[1]}
    return examples


def best(scores: np.ndarray, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the KEPT highest of scores (..., N), with their lines; on a tie, the earlier."""
    if (few := KEPT - scores.shape[-1]) > 0:
        missing = [(0, 0)] * (scores.ndim - 1) + [(0, few)]
        scores = np.pad(scores, missing, constant_values=-np.inf)
        lines = np.pad(lines, missing, constant_values=NOBODY)
    order = np.lexsort((lines, -scores), axis=-1)[..., :KEPT]
    return np.take_along_axis(scores, order, -1), np.take_along_axis(lines, order, -1)


def merge_best(a: Best, b: Best) -> Best:
    """Return the highest scores of two sets of examples, with their lines."""
    merged = {}
    for key in sorted({*a, *b}):
        name, _, part = key.rpartition("/")
        if part == "lines":
            continue
        both = [entries for entries in (a, b) if key in entries]
        scores, lines = (
            np.concatenate([entries[f"{name}/{part}"] for entries in both], axis=-1)
            for part in ("scores", "lines")
        )
        merged[f"{name}/scores"], merged[f"{name}/lines"] = best(scores, lines)
    return merged


def rank(number: int) -> int:
    """Return a line's rank in a pseudo-random order."""
    return int.from_bytes(blake2b(b"%d" % number, digest_size=6).digest(), "big")


def sampled(lines: list[CorpusLine]) -> Sample:
    """Return the sample of some lines: those that come first in the order of `rank`."""
    return merge_samples([(rank(at), at, text, second) for at, text, second in lines], [])


def merge_samples(a: Sample, b: Sample) -> Sample:
    return sorted((*a, *b), key=lambda entry: entry[:2])[:SAMPLE]


def lines_of(best: Best) -> set[int]:
    """Return the numbers of all lines that are kept as examples."""
    numbers = {int(n) for name in best if name.endswith("lines") for n in np.unique(best[name])}
    return numbers - {NOBODY}
