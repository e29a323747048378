"""python -m bench.parity: the families of transformers, against the library's own eager code.

For every family that reads text (or for those named), a tiny random model is made and saved. Each
side loads it in a separate process. They are compared over 7 and over 200 tokens: the `weights` of
every head; the `logits` (of masked tokens if the model fills in words; the last states if it has no
logits); the logits with a `head off`, and with a `cell closed`, in the second layer of each kind of
attention; and the `steps` that are written with a cache, plain and with these edits, against one
pass of transformers over the whole text. `--json` adds the results to those of other families in
the file; `--write` writes docs/models.md from them.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib.metadata import version
from math import inf
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from bench import families
from bench.performance import meaning
from bench.report import options_of

if TYPE_CHECKING:
    from headlight.model.reader import Reader

MODELS = Path(__file__).resolve().parents[1] / "docs" / "models.md"
SECONDS = 120  # the most time for either side of a family
# Modules that the processes of both sides import at the start; none is of Headlight.
PRELOADED = ["bench.families", "transformers.models.llama.modeling_llama"]
MEASURES = "weights", "logits", "head off", "cell closed", "steps"
PAGE = """# Models of the transformers library

Headlight loads {count} families of transformers {library}. Each was compared, as a tiny random
model, with the library's own eager code by `python -m bench.parity --write`, which wrote this page.

{meaning}
The numbers are the largest absolute differences; rounding in float32 leaves about 1e-6. A cell is
empty if a family does not write, or if the library does not tell enough to make the change. The
last column refers to what a family lacks:
"""
REFUSED = """## Not loaded

Families that Headlight refuses, and families that transformers itself cannot build or run so tiny.

| family | by | why |
|---|---|---|"""


def main() -> None:
    """Compare, and report."""
    parser = options_of()
    parser.add_argument(
        "families", nargs="*", metavar="FAMILY", help="families to compare (default: all)"
    )
    parser.add_argument("--write", action="store_true", help="also write docs/models.md")
    options = parser.parse_args()
    path, results = options.json, {}
    if path and path.exists():
        results = json.loads(path.read_text("utf-8"))
    for family in options.families or sorted(families.FAMILIES):
        results[family] = compared(family)
        print(family, *(p for name, p in results[family].items() if name != "missing"), flush=True)
        if path:
            path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", "utf-8")
    if options.write:
        MODELS.write_text(page(dict(sorted(results.items()))) + "\n", "utf-8")


def compared(family: str) -> dict:
    """Return a family's differences and missing abilities, or why it cannot be compared."""
    with TemporaryDirectory() as folder:
        why = in_a_process(families.reference, family, Path(folder))
        if why:
            return {"by": "transformers", "why": why}
        result = in_a_process(differences, Path(folder))
        if isinstance(result, str):
            return {"by": "Headlight", "why": result.replace(folder, family)}
        return result


def in_a_process(side: Callable, *given: object) -> Any:
    """Return the result of a function that runs in another process, or its error as a sentence."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    try:
        with ProcessPoolExecutor(1, context) as pool:
            return pool.submit(answer, side, *given).result()
    except BrokenProcessPool:
        return f"It broke down, or took longer than {SECONDS} seconds."


def answer(side: Callable, *given: object) -> dict | str | None:
    """Return the result of a function, or its error as a sentence."""
    signal.alarm(SECONDS)  # ends the process after SECONDS
    try:
        return side(*given)
    except Exception as error:  # transformers, torch and Headlight raise many kinds of errors
        words = " ".join(str(error).split())[:400]
        return words if isinstance(error, ValueError) else f"{type(error).__name__}: {words}"


@torch.inference_mode()
def differences(folder: Path) -> dict:
    """Return the largest differences from the reference in a folder, and what the reader lacks."""
    from headlight.model.library.loading import load_model

    torch.set_num_threads(1)
    reader, largest = load_model(folder), {}
    for theirs in torch.load(folder / "theirs.pt", weights_only=False).values():
        for name, ours, expected in both(reader, theirs):
            largest[name] = max(largest.get(name, 0.0), apart(ours, expected))
    return {"differences": largest, "missing": dict(reader.missing)}


def both(reader: Reader, theirs: dict) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Yield the name of each comparison, the reader's numbers, and those of the reference."""
    from headlight.model.edits.attention import AttentionEdit
    from headlight.model.transformer.trace import Site

    pair, count, ids = theirs["pair"], theirs["written"], theirs["ids"]
    alone = "encoder" if reader.shape.layers("encoder") else "decoder"
    text = "".join(families.TOKENS[token] for token in ids)
    start = 0 if pair else len(ids) - count  # the row of the first written token
    gates, cells = {}, {}
    for kind, cell in theirs["cells"].items():
        site = Site(kind or alone, families.LAYER)
        gate = torch.ones(reader.shape.heads(site.kind))
        gate[families.HEAD] = 0
        block = torch.zeros(len(ids) + 1, len(ids) + 1, dtype=torch.bool)
        block[cell] = True
        gates[site], cells[site] = AttentionEdit(gate=gate), AttentionEdit(block=block)
    for name, edits in {"logits": None, "head off": gates, "cell closed": cells}.items():
        if name not in theirs:
            continue
        trace = reader.trace(text, text if pair else None, edits=edits)
        logits, states = theirs[name]
        said = trace.logits
        yield (name, trace.outputs[alone], states) if said is None else (name, said, logits)
        if not edits:
            for (kind, layer), weights in theirs["weights"].items():
                yield "weights", trace.attention[Site(kind or alone, layer)].weights, weights
        if "write" in reader.missing:
            continue
        prompt, forced = text if pair else text[:start], ids[start : start + count]
        written = reader.write(prompt, forced=forced, longest=count, edits=edits)
        expected = logits[0].log_softmax(dim=-1)
        for row, step in enumerate(written, start if pair else start - 1):
            yield "steps", step.log_probabilities, expected[row]
            for site, weights in step.weights.items() if not edits else ():
                whole = theirs["weights"][site.kind if pair else "", site.layer][0, :, row]
                yield "steps", weights, whole[:, : weights.size(-1)]


def apart(ours: Tensor, theirs: Tensor) -> float:
    """Return the largest absolute difference of two tensors, infinite if their shapes differ."""
    if ours.shape != theirs.shape:
        return inf
    return (ours - theirs).abs().nan_to_num(inf).max().item()


def row(family: str, result: dict, numbers: Mapping[tuple[str, str], int]) -> str:
    """Return a family's result as a table row; `numbers` are those of the missing abilities."""
    if "why" in result:
        return f"| {family} | {result['by']} | {result['why']} |"
    differences = [result["differences"].get(name) for name in MEASURES]
    cells = ["" if largest is None else f"{largest:.2g}" for largest in differences]
    lacks = ", ".join(str(numbers[why]) for why in sorted(result["missing"].items()))
    return f"| {' | '.join([family, *cells, lacks])} |"


def page(results: Mapping[str, dict]) -> str:
    """Return the text of docs/models.md."""
    read = {family: result for family, result in results.items() if "differences" in result}
    whys = {why for result in read.values() for why in result["missing"].items()}
    numbers = {why: number for number, why in enumerate(sorted(whys), start=1)}
    titles = f"| family | {' | '.join(MEASURES)} | lacks |\n|---|{'--:|' * len(MEASURES)}---|"
    return "\n".join([
        PAGE.format(count=len(read), library=version("transformers"), meaning=meaning(__doc__)),
        *(f"{number}. {ability}: {why}" for (ability, why), number in numbers.items()),
        f"\n{titles}",
        *(row(family, result, numbers) for family, result in read.items()),
        f"\n{REFUSED}",
        *(row(family, result, {}) for family, result in results.items() if family not in read),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
