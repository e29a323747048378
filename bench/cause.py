"""python -m bench.cause: the time to close edges and to patch heads, against plain traced runs."""

from __future__ import annotations

import torch

from bench.ablation import SOURCE, TARGET, TOKENS
from bench.report import Case, compare_times, json_option, report
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run
from headlight.model.translator import Translator, load_translator
from headlight.wings.cause.knockout import edges_of, knock_out
from headlight.wings.cause.patching import AnswerPair, patch_heads, two_runs


def knockout(translator: Translator) -> Case:
    """Compare the time of a knockout map with that of one traced run for each word."""
    source, target = (
        text[: translator.tokenizer.encode(text)[TOKENS - 2].end] for text in (SOURCE, TARGET)
    )
    trace = translator.trace(source, target)
    assert len(trace.source_tokens) == len(trace.target_tokens) == TOKENS
    edges = edges_of(trace, translator)

    def closed_one_by_one() -> list:
        weights, changes = knock_out(translator, trace, edges)
        return [weights.tolist(), *(change.tolist() for change in changes)]

    @torch.inference_mode()
    def traced_runs() -> list:
        runs = (translator.rerun(trace, Run(trace=Trace())) for _ in edges.words)
        return [logits[0, 0, 0].item() for logits in runs]

    return compare_times(f"knockout {len(edges.words)} words", closed_one_by_one, traced_runs)


def patching(translator: Translator) -> Case:
    """Compare the time to patch the output of each head with that of one traced run a head."""
    source, target = (
        text[: translator.tokenizer.encode(text)[TOKENS - 2].end] for text in (SOURCE, TARGET)
    )
    clean = translator.trace(source, target)
    changed = translator.trace(source.replace("bread", "house"), target)
    assert len(clean.source_tokens) == len(changed.source_tokens) == len(clean.target_tokens)
    row = TOKENS - 1
    apart = clean.logits[0, row] - changed.logits[0, row]
    answers = AnswerPair(row, int(apart.argmax()), int(apart.argmin()))
    heads = sum(layers * heads for layers, heads in translator.shape.kinds.values())

    def patched() -> list:
        runs = two_runs(translator, changed, clean, answers, ("heads",))
        return [shares.tolist() for _, shares in patch_heads(runs, "heads")]

    @torch.inference_mode()
    def traced_runs() -> list:
        runs = (translator.rerun(clean, Run(trace=Trace())) for _ in range(heads))
        return [logits[0, 0, 0].item() for logits in runs]

    return compare_times(f"patching {heads} heads", patched, traced_runs)


def main() -> None:
    path = json_option()
    translator = load_translator("en-fr")
    report([knockout(translator), patching(translator)], path)


if __name__ == "__main__":
    main()
