"""The results of a count, written next to it: figures, examples, and the effects of heads."""

import json
import time
from pathlib import Path

from tqdm import tqdm

from model.atlas.counting import Count
from model.atlas.effects import DEFINITIONS, curve, in_order, sums_of_lines
from model.atlas.figures import as_data, defined, figures, kinds_of, listed
from model.atlas.looking import examples
from model.atlas.saving import load_arrays, save_arrays, write
from model.atlas.statistics import ALL
from model.reader import Reader

SAVED_EVERY = 10  # seconds
EFFECTS = "effects.npz"


def finish(reader: Reader, count: Count, folder: Path, sentences: int) -> None:
    """Write the figures, the examples and the effects on some sentences next to the count."""
    data = as_data(count)
    if sentences > 0:
        data |= effects(reader, count, folder, sentences)
    found = list(tqdm(examples(reader, count), desc="examples", unit="sentence", leave=False))
    for name, part in (("atlas.json", data), ("examples.json", found)):
        write(folder / name, json.dumps(part, ensure_ascii=False).encode("utf-8"))
    write(folder / "heads.tsv", table(count).encode("utf-8"))


def effects(reader: Reader, count: Count, folder: Path, sentences: int) -> dict:
    """Return the effects of removing heads and the pruning curves, as plain data.

    Effects are measured on sentences of the sample, and curves on other sentences of it.
    """
    lines = count.sampled
    used = min(sentences, max(1, len(lines) // 2))
    path, about = folder / EFFECTS, [line.number for line in lines[:used]]
    sums, begun = load_arrays(path) if path.exists() else ({}, about)
    if begun != about:
        sums = {}
    saved, done = time.monotonic(), int(sums.get("done", 0))
    steps = sums_of_lines(reader, lines[:used], sums)
    for sums in tqdm(steps, desc="removing heads", initial=done, total=used, unit="sentence"):
        if time.monotonic() - saved > SAVED_EVERY:
            save_arrays(path, sums, about)
            saved = time.monotonic()
    save_arrays(path, sums, about)
    if not sums.get("tokens", 0):
        return {"effects": "There is nothing that this model says, so no head is missed."}
    tokens = float(sums["tokens"])
    by_kind = {
        kind: {name: listed(sums[f"{kind}/{name}"] / tokens) for name in ("removal", "importance")}
        for kind in reader.shape.kinds
    }
    curves, others = {}, lines[used : 2 * used] or lines[:used]
    for name in ("removal", "importance"):
        steps = curve(reader, others, in_order(reader.shape, sums, name))
        *_, curves[name] = tqdm(steps, desc=f"pruning by {name}", total=len(others) + 1)
    return {
        "effects": {
            "definitions": defined(DEFINITIONS),
            "tokens": int(tokens),
            "kinds": by_kind,
            "curves": curves,
        }
    }


def table(count: Count) -> str:
    """Return the figures of all heads as tab-separated lines; layers and heads count from 1."""
    names = [statistic.name for statistic in ALL]
    lines = ["\t".join(("kind", "layer", "head", *names))]
    for kind in kinds_of(count):
        found = figures(count, kind)
        layers, heads = found["entropy"].mean.shape
        for layer in range(layers):
            for head in range(heads):
                numbers = [
                    f"{found[name].mean[layer, head]:.4f}" if name in found else ""
                    for name in names
                ]
                lines.append("\t".join((kind, str(layer + 1), str(head + 1), *numbers)))
    return "\n".join(lines) + "\n"
