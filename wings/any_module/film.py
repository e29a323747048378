"""Make a film of a model's attention during its training, with a frame for each added step."""

from __future__ import annotations

import base64
import html
import io
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageColor, ImageDraw
from torch import Tensor, nn

from headlight.viz import CanvasPicture, attention_film, modules
from headlight.viz.colors import SEQUENTIAL
from headlight.wings.any_module.proof import Known
from headlight.wings.any_module.watch import SeenKind, watch

BUTTONS = Path(__file__).with_name("film_buttons.js")
TITLE = "Attention over the training"
SMALLEST = 96  # pixels of the longer side of a map in a GIF
GAP, TOP = 6, 24  # pixels between maps, and of the line of text above them
SPEED = 2  # steps a second in a GIF
EMPTY = "This film has no step yet: call film.add(step) in the training's loop."
SEVERAL = (
    "This model has attention of the kinds {kinds}: AttentionFilm(..., kind={first!r}) takes one."
)
UNEVEN = "The maps of this film's layers have different shapes, {shapes}, and a film needs one."
NO_RECORDER = (
    "A film is saved as .html or .gif, not as {ending}. A browser records WEBM: show the film in a "
    "notebook, or open its HTML file, and press WEBM above it."
)


class AttentionFilm:
    """A film of the attention of all heads at some training steps; notebooks display it.

        film = AttentionFilm(model, ids)
        for step in range(1000):
            ...
            if step % 100 == 0:
                film.add(step)

    The model is called as `model(*inputs, **options)`, and the first text of the batch is filmed.
    `kind` chooses "self", "masked" or "cross" if the model has several kinds of attention. Without
    `query_tokens` and `key_tokens`, the first text's ids label the maps, or numbers from 1.
    """

    def __init__(
        self,
        model: nn.Module,
        *inputs: Any,
        kind: SeenKind | None = None,
        query_tokens: Sequence[str] | None = None,
        key_tokens: Sequence[str] | None = None,
        **options: Any,
    ) -> None:
        self.module, self.inputs, self.options = model, inputs, options
        self.kind: SeenKind | None = kind
        self.query_tokens, self.key_tokens = query_tokens, key_tokens
        self.steps: list[int] = []
        self.weights: list[np.ndarray] = []  # for each step: (layers, H, Q, K), as float16
        self.known: Known = {}  # what the axes of the model's scores mean, once proven

    def add(self, step: int) -> None:
        """Call the model once, in evaluation mode, and record its attention for a training step.

        Afterwards the model's mode, gradients and random states are as before. Raises ValueError if
        `step` is not larger than the last one, if several kinds of attention leave `kind` open, if
        the layers' maps differ in shape, and as `watch` does.
        """
        if self.steps and step <= self.steps[-1]:
            raise ValueError(f"The steps of a film count up, but {step} follows {self.steps[-1]}.")
        with evaluating(self.module), watch(self.module, known=self.known) as seen:
            self.module(*self.inputs, **self.options)
        kinds: list[SeenKind] = list(seen.kinds.values())
        if self.kind is None and len({*kinds}) > 1:
            several = ", ".join(dict.fromkeys(kinds))
            raise ValueError(SEVERAL.format(kinds=several, first=kinds[0]))
        layers = [weights[0].float().cpu() for weights in seen.weights(self.kind or kinds[0])]
        shapes = {
            tuple(layer.shape) for layer in (*layers, *(self.weights[-1:] and self.weights[-1]))
        }
        if len(shapes) != 1:
            raise ValueError(UNEVEN.format(shapes=", ".join(map(str, sorted(shapes))) or "none"))
        self.weights.append(torch.stack(layers).half().numpy())
        self.steps.append(step)

    @property
    def picture(self) -> CanvasPicture:
        """The film as a picture; raises ValueError if no step was added."""
        if not self.steps:
            raise ValueError(EMPTY)
        weights = np.stack(self.weights)  # (steps, layers, H, Q, K)
        queries, keys = weights.shape[-2:]
        tokens = self.query_tokens or self.ids_of(queries)
        key_tokens = self.key_tokens or (tokens if queries == keys else self.ids_of(keys))
        return attention_film(weights, self.steps, tokens, key_tokens)

    def ids_of(self, count: int) -> list[str]:
        """Return `count` labels: the first text's ids if it has as many, or else 1, 2, 3, ..."""
        given = [
            part for part in (*self.inputs, *self.options.values()) if isinstance(part, Tensor)
        ]
        for part in given:
            if part.dim() == 2 and part.size(1) == count and not part.is_floating_point():
                return [*map(str, part[0].tolist())]
        return [*map(str, range(1, count + 1))]

    def to_html(self, title: str = "", caption: str = "") -> str:
        """Return an HTML page with the film and a button that records it as WEBM."""
        words = {"name": "attention-film", "what": title or TITLE, "caption": caption or TITLE}
        words_as_script = json.dumps(words).replace("<", "\\u003c")
        code = modules.script(modules.in_order([BUTTONS])).replace("</script", "<\\/script")
        return (
            f"{self.picture.to_html(title, caption)}<style>{modules.stylesheet([BUTTONS])}</style>"
            f'<script type="module">\n{code}\n'
            f"$film_buttons.add({words_as_script});\n</script>"
        )

    def save(self, path: str | Path, caption: str = "") -> None:
        """Save the film as HTML or as a GIF, depending on the ending of the file's name.

        Raises ValueError for another ending, and if no step was added.
        """
        path = Path(path)
        if path.suffix == ".html":
            path.write_text(self.to_html(TITLE, caption), encoding="utf-8")
        elif path.suffix == ".gif":
            path.write_bytes(self.to_gif())
        else:
            raise ValueError(NO_RECORDER.format(ending=path.suffix or "a file without an ending"))

    def to_gif(self) -> bytes:
        """Return a GIF with a frame for each step: the maps of all heads, a row for each layer."""
        from headlight.pages.shared.show.saving import PNG, to_gif

        if not self.steps:
            raise ValueError(EMPTY)
        frames: list[str] = []
        for step, weights in zip(self.steps, self.weights, strict=True):
            file = io.BytesIO()
            frame(weights.astype(np.float32), f"step {step:,}").save(file, "PNG")
            frames.append(PNG + base64.b64encode(file.getvalue()).decode("ascii"))
        return to_gif({"frames": frames, "milliseconds": 1000 // SPEED, "ends": 2})

    def _repr_html_(self) -> str:
        if not self.steps:
            return html.escape(EMPTY)
        return (
            f'<iframe srcdoc="{html.escape(self.to_html())}" width="100%" '
            f'height="{self.picture.height + 60}" style="border:0"></iframe>'
        )


def frame(weights: np.ndarray, words: str) -> Image.Image:
    """Draw weights (layers, H, Q, K) as maps below a line of text, with a row for each layer."""
    layers, heads, queries, keys = weights.shape
    cell = max(1, round(SMALLEST / max(queries, keys)))
    height, width = queries * cell + GAP, keys * cell + GAP
    table = np.array([ImageColor.getrgb(color) for color in SEQUENTIAL], np.float32)
    places = np.clip(weights, 0, 1) * (len(table) - 1)
    low = np.minimum(places.astype(int), len(table) - 2)
    share = (places - low)[..., None]
    colors = np.rint(table[low] * (1 - share) + table[low + 1] * share).astype(np.uint8)
    size = max(heads * width + GAP, 2 * SMALLEST), TOP + layers * height
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).text((GAP, GAP), words, fill="black")
    for layer in range(layers):
        for head in range(heads):
            small = Image.fromarray(colors[layer, head])
            drawn = small.resize((keys * cell, queries * cell), Image.Resampling.NEAREST)
            image.paste(drawn, (GAP + head * width, TOP + layer * height))
    return image


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """In this context, put a model into evaluation mode and compute no gradients.

    Afterwards the modes of its modules, and the random states of torch, numpy and Python, are as
    before.
    """
    modes = {module: module.training for module in model.modules()}
    of_python, of_numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(), torch.no_grad():
            model.eval()
            yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)
        for module, mode in modes.items():
            module.training = mode
