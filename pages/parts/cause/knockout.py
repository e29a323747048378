"""What a written word loses without each word it could look at, beside where the heads look."""

from __future__ import annotations

from pages.shared.runs.arrays import as_array
from pages.shared.runs.run import ModelRun
from pages.shared.show.labels import labels_of
from pages.shared.show.pictures import show
from pages.shared.show.saving import about_run
from viz import attention_heatmap

TITLE = "Knockout map"
CHOICES = ()
PICTURES = {"knockout": "what each word loses"}


def draw(run: ModelRun) -> None:
    """Draw the map and what it is compared with."""
    kind = "cross" if "cross" in run.reader.shape.kinds else next(iter(run.reader.shape.kinds))
    weights = as_array(run.trace.weights(kind).mean(dim=(0, 1)))  # (Q, K)
    picture = attention_heatmap(weights, *labels_of(run, kind))
    show(picture, "knockout", of=about_run(run), what="Mean weights")
