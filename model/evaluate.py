"""Score a checkpoint: python -m model.evaluate --pairs FILE."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import sacrebleu
from tqdm import tqdm

from model.decoding.search import decode
from model.sequences import pad, source_sequence
from model.tokenizer import Tokenizer
from model.training.data import group_references, read_pairs
from model.transformer import Transformer


@dataclass(frozen=True)
class Scores:
    """Corpus BLEU and chrF (0 to 100, sacrebleu's defaults), and the translations scored."""

    bleu: float
    chrf: float
    translations: list[str]


def translate_all(
    model: Transformer,
    tokenizer: Tokenizer,
    sentences: Sequence[str],
    batch_size: int = 128,
    progress: bool = False,
) -> list[str]:
    """Return greedy translations of many sentences, sentences of like length decoded together."""
    device = model.device
    limit = model.config.max_positions - 1
    encoded = [ids[:limit] for ids in tokenizer.encode_ids(sentences)]
    order = sorted(range(len(encoded)), key=lambda index: len(encoded[index]))
    translations = [""] * len(encoded)
    for first in tqdm(range(0, len(order), batch_size), desc="translating", disable=not progress):
        rows = order[first : first + batch_size]
        source_ids = pad([source_sequence(encoded[row]) for row in rows]).to(device)
        longest = min(limit, 2 * source_ids.size(1) + 10)
        for row, decoded in zip(
            rows, decode(model, source_ids, max_new_tokens=longest), strict=True
        ):
            translations[row] = tokenizer.decode(decoded.ids)
    return translations


def score(
    model: Transformer,
    tokenizer: Tokenizer,
    pairs: Sequence[tuple[str, str]],
    progress: bool = False,
) -> Scores:
    """Score greedy translations against all references of each source sentence."""
    references = group_references(pairs)
    model.eval()
    translations = translate_all(model, tokenizer, list(references), progress=progress)
    most = max(len(targets) for targets in references.values())
    # sacrebleu wants one list a reference number, None if a sentence has fewer.
    streams = [
        [targets[number] if number < len(targets) else None for targets in references.values()]
        for number in range(most)
    ]
    return Scores(
        bleu=sacrebleu.corpus_bleu(translations, streams).score,
        chrf=sacrebleu.corpus_chrf(translations, streams).score,
        translations=translations,
    )


def main() -> None:
    """Print BLEU and chrF of a shipped model or of a checkpoint folder."""
    from model.translator import load

    parser = argparse.ArgumentParser(prog="python -m model.evaluate", description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True, help="a file of source<TAB>target")
    parser.add_argument("--model", default="en-fr", help="a shipped name or a checkpoint folder")
    parser.add_argument("--output", type=Path, help="also write the translations to this file")
    arguments = parser.parse_args()
    translator = load(arguments.model)
    scores = score(
        translator.model, translator.tokenizer, read_pairs(arguments.pairs), progress=True
    )
    print(f"BLEU {scores.bleu:.2f}  chrF {scores.chrf:.2f}  ({len(scores.translations)} sentences)")
    if arguments.output:
        arguments.output.write_text("\n".join(scores.translations) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
