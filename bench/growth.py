"""python -m bench.growth: time and bytes against tokens, heads, layers and beams.

A model with random weights and the shape of the shipped one (which reads 256 tokens, this one 512)
reads and writes texts of a given length. One size grows at a time, while the others keep their
defaults: 32 tokens, 8 heads, 3 layers, no beams. All values of a size are measured in turns, and
the shortest of several times is taken; ratios are to the figure of the smallest value.

- `forward`: one pass over source and target that keeps every number of every head.
- `decoding`: writing as many tokens as are read, with every step kept.
- `grid`: building the picture of all heads of one kind of attention; `bytes` is the size of what is
  sent.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from bench.performance import RESULTS, meaning, page_options, plot, publish
from bench.report import Case
from headlight.model.decoding.prefixes import NEVER_WRITTEN
from headlight.model.decoding.search import decode
from headlight.model.decoding.strategies import Strategy
from headlight.model.memory_layout import lay_out, pack
from headlight.model.tokens import END_ID
from headlight.model.trace import Trace
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.trace import Run
from headlight.model.transformer.transformer import Transformer
from headlight.viz import head_grid

SUPPRESSED = (*NEVER_WRITTEN, END_ID)  # never written, so that every step writes a token
VOCABULARY, WIDTH_OF_HEAD, D_FF, POSITIONS = 8_000, 32, 1_024, 640
PLOT = "growth.svg"
ROUNDS, SECONDS = 5, 20  # the most rounds; from the third on, none begins after SECONDS


@dataclass(frozen=True)
class Size:
    """The sizes that grow; the defaults describe a sentence on the shipped model."""

    tokens: int = 32
    heads: int = 8
    layers: int = 3
    beams: int = 1


GROWTH = {
    "tokens": (16, 32, 64, 128, 256, 512),
    "heads": (2, 4, 8, 16),
    "layers": (1, 2, 3, 6, 12),
    "beams": (1, 2, 4, 8),
}
# What is measured for each size; the number of beams changes only decoding.
MEASURED = dict.fromkeys(GROWTH, ("forward", "decoding", "grid")) | {"beams": ("decoding",)}


def model_of(size: Size) -> Transformer:
    """Return a random model of this size, laid out in memory as `load` does."""
    width = WIDTH_OF_HEAD * size.heads
    config = TransformerConfig(
        VOCABULARY,
        VOCABULARY,
        width,
        size.heads,
        size.layers,
        size.layers,
        4 * width,
        max_positions=POSITIONS,
    )
    return pack(lay_out(Transformer(config).eval()))


class Work:
    """The work that is timed for one size."""

    def __init__(self, size: Size) -> None:
        self.size, self.model = size, model_of(size)
        self.ids = torch.randint(len(SUPPRESSED), VOCABULARY, (1, size.tokens))
        self.names = [f"token{index}" for index in range(size.tokens)]
        self.trace = self.forward()

    @torch.inference_mode()
    def forward(self) -> Trace:
        trace = Trace()
        self.model(self.ids, self.ids, Run(trace=trace))
        return trace

    def decoding(self) -> None:
        """Write as many tokens as were read."""
        beams = self.size.beams
        strategy = Strategy("beam", beam_size=beams) if beams > 1 else Strategy()
        decode(
            self.model,
            self.ids,
            strategy,
            max_new_tokens=self.size.tokens,
            never_written=SUPPRESSED,
            record=[],
        )

    def grid(self) -> int:
        """Build the picture of all heads, and return its number of bytes."""
        return len(head_grid(self.trace.weights("decoder").numpy(), self.names).data)


def measure(name: str, sizes: Sequence[int]) -> list[Case]:
    """Return the cases of one growing size; its values are timed in turns."""
    torch.manual_seed(0)
    works = {size: Work(replace(Size(), **{name: size})) for size in sizes}
    cases = []
    for quantity in MEASURED[name]:
        taken: dict[int, list[float]] = {size: [] for size in sizes}
        begin = time.monotonic()
        for turn in range(ROUNDS):
            if turn > 1 and time.monotonic() - begin > SECONDS:
                break
            for size, work in works.items():
                before = time.perf_counter()
                getattr(work, quantity)()
                taken[size].append(1000 * (time.perf_counter() - before))
        numbers = {size: min(times) for size, times in taken.items()}
        cases += grown(f"{name} {{}} {quantity}", numbers, "ms")
    if "grid" in MEASURED[name]:
        sent = {size: work.grid() / 1000 for size, work in works.items()}
        cases += grown(f"{name} {{}} bytes", sent, "kB")
    print(f"{name} measured", file=sys.stderr)
    return cases


def grown(case: str, numbers: Mapping[int, float], unit: str) -> list[Case]:
    """Compare each size with the smallest; `case` names the cases, with {} for the size."""
    first = numbers[min(numbers)]
    return [
        Case(case.format(size), number, first, unit, number / first)
        for size, number in numbers.items()
    ]


def panels_of(cases: Sequence[Case]) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Return the ratios to plot: a panel for each growing size, a line for each measurement."""
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for case in cases:
        name, size, quantity = case.case.split()
        panels.setdefault(name, {}).setdefault(quantity, []).append((int(size), case.ratio))
    return panels


def main() -> None:
    """Measure and report."""
    options = page_options().parse_args()
    torch.set_num_threads(1)
    cases = [case for name, sizes in GROWTH.items() for case in measure(name, sizes)]
    if options.write:
        drawing = plot(panels_of(cases), "times the smallest")
        (RESULTS / PLOT).write_text(drawing, "utf-8")
    publish(cases, options, "Growth", f"{meaning(__doc__)}\n![Growth as lines]({PLOT})")


if __name__ == "__main__":
    main()
