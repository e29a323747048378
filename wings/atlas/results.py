"""Write the results of a count to its folder: figures, examples, and the effects of heads.

The effect of a head is how much the loss grows without it: measured by removing it alone, and
estimated by a gradient. Pruning curves show the loss as more and more heads are removed.
"""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from headlight.model.corpus import CorpusLine
from headlight.model.edits.attention import AttentionEdit
from headlight.model.evaluate import compare, translate_all
from headlight.model.insight.ablation import NOTHING_TO_MEASURE, head_removals
from headlight.model.insight.estimate import estimated_removals
from headlight.model.insight.scoring import log_probability, rows_at_once
from headlight.model.questions import Objective
from headlight.model.reader import Reader
from headlight.model.shape import Shape
from headlight.model.trace import Trace
from headlight.model.transformer.trace import KINDS, Run, Site
from headlight.model.translator import Translator
from headlight.wings.atlas.counting import Count, read
from headlight.wings.atlas.figures import as_data, defined, figures, kinds_of, listed
from headlight.wings.atlas.files import load_arrays, save_arrays, write
from headlight.wings.atlas.looking import examples
from headlight.wings.atlas.statistics import ALL, MICHEL, Statistic, Sums, add

SAVED_EVERY = 10  # seconds between two savings of the effects
EFFECTS = "effects.npz"
MASKED_EVERY = 7  # one written token in 7 is hidden: about 15 %, as in BERT's training
SCORED = 8  # BLEU is measured after this many steps of a pruning curve

DEFINITIONS = (
    Statistic("removal", "how much the loss grows when the head's output is set to 0", "nats a "
              "token", KINDS, f"{MICHEL}, 3.2, there with BLEU in place of the loss"),
    Statistic("importance", "the absolute gradient of each sentence's loss with respect to the "
              "head's gate, not normalized over a layer as in the source", "nats a token", KINDS,
              f"{MICHEL}, 4.1"),
    Statistic("loss", "of the text with heads removed in this order, on other sentences than "
              "those that gave the order", "nats a token", KINDS, f"{MICHEL}, 4.2"),
    Statistic("BLEU", "of greedy translations with heads removed in this order", "0 to 100",
              KINDS, f"{MICHEL}, 4.2"),
)  # fmt: skip

SCORE_WORDS = {
    "removal": "how much the score falls without the head, which is gated to 0",
    "importance": "the absolute gradient of each text's score for the head's gate, without the "
    "normalization over a layer that the source has",
    "loss": "the score with its sign turned, with heads removed in this order, on other sentences "
    "than those that it was found on",
}

SiteHead = tuple[Site, int]


def finish(reader: Reader, count: Count, folder: Path, sentences: int) -> None:
    """Write the figures, the examples and the effects on some sentences to the count's folder."""
    data = as_data(count)
    if sentences > 0:
        data |= effects(reader, count, folder, sentences)
    bar = tqdm(examples(reader, count), desc="examples", unit="sentence", leave=False)
    for name, part in (("atlas.json", data), ("examples.json", list(bar))):
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
        return {
            "effects": "The model predicts no token of these sentences: no effect was measured."
        }
    tokens = float(sums["tokens"])
    by_kind = {
        kind: {name: listed(sums[f"{kind}/{name}"] / tokens) for name in ("removal", "importance")}
        for kind in reader.shape.kinds
    }
    measure = next(objectives(reader, lines[:used]))
    curves, others = {}, lines[used : 2 * used] or lines[:used]
    for name in ("removal", "importance"):
        steps = curve(reader, others, in_order(reader.shape, sums, name))
        *_, curves[name] = tqdm(steps, desc=f"pruning by {name}", total=len(others) + 1)
    return {
        "effects": {
            "definitions": defined(definitions_for(measure)),
            "tokens": int(tokens),
            "each": measure.each,
            "kinds": by_kind,
            "curves": curves,
        }
    }


def objectives(reader: Reader, lines: Sequence[CorpusLine]) -> Iterator[Objective]:
    """Yield the objective of each line that has one: it measures the effects of heads."""
    for line in lines:
        try:
            yield measured(reader, line).objective
        except ValueError:
            continue


def definitions_for(objective: Objective) -> tuple[Statistic, ...]:
    """Return the definitions of effects, worded for what is measured, and with its unit."""
    if objective.is_score:
        unit, words = objective.unit, SCORE_WORDS
    else:
        unit, words = f"nats a {objective.each}", {}
    return tuple(
        definition
        if definition.name == "BLEU"
        else replace(definition, unit=unit, words=words.get(definition.name, definition.words))
        for definition in DEFINITIONS
    )


def table(count: Count) -> str:
    """Return the figures of all heads as tab-separated lines; layers and heads count from 1."""
    names = [statistic.name for statistic in ALL]
    lines = ["\t".join(("kind", "layer", "head", *names))]
    for kind in kinds_of(count):
        by_name = figures(count, kind)
        layers, heads = by_name["entropy"].mean.shape
        for layer in range(layers):
            for head in range(heads):
                numbers = [
                    f"{by_name[name].mean[layer, head]:.4f}" if name in by_name else ""
                    for name in names
                ]
                lines.append("\t".join((kind, str(layer + 1), str(head + 1), *numbers)))
    return "\n".join(lines) + "\n"


class Measured(NamedTuple):
    """The trace of a sentence, and which of its tokens' probabilities measure effects."""

    trace: Trace
    objective: Objective


def measured(reader: Reader, line: CorpusLine) -> Measured:
    """Return a sentence with the tokens that the model should predict.

    They are the tokens of the text, or of an encoder-decoder's target. In a model that fills in
    words, they are every seventh token, which is hidden from it. Raises ValueError if there are
    none.
    """
    trace = read(reader, line)
    target = line.second if reader.shape.layers("cross") else None
    options = {}
    if "mask words" not in reader.missing:
        written = [place for place, token in enumerate(trace.source_tokens) if not token.is_special]
        options["masked"] = written[MASKED_EVERY // 2 :: MASKED_EVERY] or written[:1]
    if target is None and "read a pair" not in reader.missing:
        options["second"] = line.second
    trace = reader.trace(line.text, target, **options, sites=())
    objective = reader.objective(trace)
    if objective is None:
        raise ValueError(NOTHING_TO_MEASURE)
    return Measured(trace, objective)


def sums_of_line(reader: Reader, line: CorpusLine) -> Sums:
    """Return the summed effects of all heads on a sentence, in the objective's unit.

    The sum "tokens" is the number of measured tokens, labels, or texts.
    """
    trace, objective = measured(reader, line)
    removals = head_removals(reader, trace, objective=objective)
    slopes = estimated_removals(reader, trace, objective=objective)
    by_name = {"removal": dict(removals), "importance": {s: slopes[s].abs() for s in slopes}}
    sums = {"tokens": np.array(float(len(objective.ids)))}
    for name, effects in by_name.items():
        sign = -1 if name == "removal" else 1  # the loss is the negative log-probability
        for kind in reader.shape.kinds:
            sites = [site for site in reader.shape.sites if site.kind == kind]
            parts = [sign * effects[site].detach().double().cpu() for site in sites]
            sums[f"{kind}/{name}"] = torch.stack(parts).numpy()
    return sums


def sums_of_lines(reader: Reader, lines: Sequence[CorpusLine], sums: Sums) -> Iterator[Sums]:
    """Yield the sums of effects after each line; `sums` already holds those of earlier lines.

    A line with nothing to measure counts as done and adds no tokens.
    """
    for line in lines[int(sums.get("done", 0)) :]:
        try:
            sums = add(sums, sums_of_line(reader, line))
        except ValueError:
            sums = add(sums, {"refused": np.array(1.0)})
        sums = add(sums, {"done": np.array(1.0)})
        yield sums


def in_order(shape: Shape, sums: Sums, name: str) -> list[SiteHead]:
    """Return all heads, the one with the smallest effect first."""
    effects = {
        (site, head): sums[f"{site.kind}/{name}"][site.layer, head]
        for site in shape.sites
        for head in range(shape.heads(site.kind))
    }
    return sorted(effects, key=effects.__getitem__)


def pruned(
    shape: Shape, order: Sequence[SiteHead], counts: Sequence[int]
) -> dict[Site, AttentionEdit]:
    """Return `pruning`'s gates, which remove heads, as edits of attention layers."""
    gates = pruning(shape, order, counts)
    return {site: AttentionEdit(gate=gate) for site, gate in gates.items()}


def pruning(shape: Shape, order: Sequence[SiteHead], counts: Sequence[int]) -> dict[Site, Tensor]:
    """Return gates (B, H) that remove the first `counts[b]` heads in row b of a batch."""
    gates = {site: torch.ones(len(counts), shape.heads(site.kind)) for site in shape.sites}
    for row, count in enumerate(counts):
        for site, head in order[:count]:
            gates[site][row, head] = 0
    return gates


@torch.inference_mode()
def pruned_losses(reader: Reader, sentence: Measured, order: Sequence[SiteHead]) -> Tensor:
    """Return a sentence's loss with 0, 1, ... and all heads removed in order: (heads + 1,) nats."""
    levels = range(len(order) + 1)
    most = rows_at_once(sentence.trace, len(levels))
    parts = [levels[first : first + most] for first in range(0, len(levels), most)]
    chances = [
        log_probability(reader, *sentence, Run(pruned(reader.shape, order, part))) for part in parts
    ]
    return -torch.cat(chances).double().cpu()


def curve(reader: Reader, lines: Sequence[CorpusLine], order: Sequence[SiteHead]) -> Iterator[dict]:
    """Yield the pruning curve so far after each line, and at the end with BLEU if lines are pairs.

    A curve is plain data: the heads in order of removal, the number of tokens scored, and the loss
    with 0, 1, ... and all heads removed, in nats a token.
    """
    losses, tokens = torch.zeros(len(order) + 1, dtype=torch.float64), 0
    result = {"order": [[*site, head] for site, head in order]}
    for line in lines:
        try:
            sentence = measured(reader, line)
        except ValueError:
            continue
        losses += pruned_losses(reader, sentence, order)
        tokens += len(sentence.objective.ids)
        yield result | {"tokens": tokens, "loss": (losses / max(tokens, 1)).tolist()}
    pairs = [line for line in lines if line.second is not None]
    if isinstance(reader, Translator) and pairs:
        result |= {"tokens": tokens, "loss": (losses / max(tokens, 1)).tolist()}
        yield result | {"BLEU": bleu_of_levels(reader, pairs, order)}


def bleu_of_levels(
    reader: Translator, pairs: Sequence[CorpusLine], order: Sequence[SiteHead]
) -> list[tuple[int, float]]:
    """Return BLEU for several numbers of removed heads, as (heads removed, BLEU)."""
    sources, references = [line.text for line in pairs], [[line.second or ""] for line in pairs]
    scores = []
    for count in np.linspace(0, len(order), SCORED + 1).round().astype(int).tolist():
        gates = pruning(reader.shape, order, [count])
        edits = {site: AttentionEdit(gate=gate[0]) for site, gate in gates.items()}
        written = translate_all(reader.model, reader.tokenizer, sources, edits=edits)
        scores.append((count, compare(written, references).bleu))
    return scores
