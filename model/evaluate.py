"""Score a checkpoint: python -m headlight.model.evaluate --pairs FILE."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from headlight.model.decoding.search import Decoded, decode
from headlight.model.tokenizer import Tokenizer
from headlight.model.tokens import pad, source_sequence
from headlight.model.training.data import group_references, read_rows
from headlight.model.transformer.trace import RunEdits
from headlight.model.transformer.transformer import Transformer

if TYPE_CHECKING:
    from headlight.model.translator import Translator


@dataclass(frozen=True)
class Scores:
    """Corpus BLEU and chrF (0 to 100, sacrebleu's defaults), with the scored translations."""

    bleu: float
    chrf: float
    translations: list[str]
    signatures: tuple[str, str] = ("", "")  # sacrebleu's descriptions of its BLEU and its chrF


def decode_all(
    model: Transformer,
    tokenizer: Tokenizer,
    sentences: Sequence[str],
    batch_size: int = 128,
    progress: bool = False,
    edits: RunEdits | None = None,
) -> list[Decoded]:
    """Decode many sentences greedily, in batches of similar length; return them in input order."""
    device = model.device
    limit = model.config.max_positions - 1
    encoded = [ids[:limit] for ids in tokenizer.encode_ids(sentences)]
    order = sorted(range(len(encoded)), key=lambda index: len(encoded[index]))
    results: dict[int, Decoded] = {}
    for first in tqdm(range(0, len(order), batch_size), desc="translating", disable=not progress):
        rows = order[first : first + batch_size]
        source_ids = pad([source_sequence(encoded[row]) for row in rows]).to(device)
        longest = min(limit, 2 * source_ids.size(1) + 10)
        for row, decoded in zip(
            rows, decode(model, source_ids, max_new_tokens=longest, edits=edits), strict=True
        ):
            results[row] = decoded
    return [results[row] for row in range(len(encoded))]


def translate_all(
    model: Transformer, tokenizer: Tokenizer, sentences: Sequence[str], **options: Any
) -> list[str]:
    """Return greedy translations of many sentences; for `options` see `decode_all`."""
    decoded = decode_all(model, tokenizer, sentences, **options)
    return [tokenizer.decode(each.ids) for each in decoded]


def translate_by_beam(translator: Translator, sentences: Sequence[str], width: int) -> list[str]:
    """Translate many sentences by beam search, one after the other."""
    limit = translator.max_tokens
    return [
        translator.translate(
            sentence,
            strategy="beam",
            beam_size=width,
            max_new_tokens=min(limit, 2 * len(translator.read(sentence)) + 10),
        ).text
        for sentence in tqdm(sentences, desc="translating")
    ]


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
    return compare(translations, list(references.values()))


def compare(translations: list[str], references: Sequence[Sequence[str]]) -> Scores:
    """Score translations against their references."""
    import sacrebleu  # imported here, because the import takes long

    most = max(map(len, references))
    # sacrebleu takes lists of first, second, ... references, with None where a sentence has fewer.
    streams: list[list[Any]] = [
        [targets[number] if number < len(targets) else None for targets in references]
        for number in range(most)
    ]
    metrics = sacrebleu.BLEU(), sacrebleu.CHRF()
    bleu, chrf = (metric.corpus_score(translations, streams).score for metric in metrics)
    of_bleu, of_chrf = (str(metric.get_signature()) for metric in metrics)
    return Scores(bleu, chrf, translations, (of_bleu, of_chrf))


def is_copied(value: str, text: str) -> bool:
    """Return whether a value is in a text as separate words; spaces within it may be missing."""
    parts = r"\s*".join(map(re.escape, value.split()))
    return re.search(rf"(?<![\w.,:]){parts}(?!\w|[.,:]\d)", text) is not None


def main() -> None:
    """Print BLEU and chrF of a shipped model or of a checkpoint folder."""
    from headlight.model.translator import load_translator

    parser = argparse.ArgumentParser(prog="python -m headlight.model.evaluate", description=__doc__)
    parser.add_argument(
        "--pairs",
        type=Path,
        required=True,
        help="a file with lines of source<TAB>target, and <TAB> before each value to be copied",
    )
    parser.add_argument("--model", default="en-fr", help="a shipped model's name or a folder")
    parser.add_argument("--beam", type=int, default=1, metavar="WIDTH", help="1 decodes greedily")
    parser.add_argument("--output", type=Path, help="also write the translations to this file")
    arguments = parser.parse_args()
    translator = load_translator(arguments.model)
    rows = read_rows(arguments.pairs)
    references = group_references([(source, target) for source, target, *_ in rows])
    sentences = list(references)
    if arguments.beam > 1:
        translations = translate_by_beam(translator, sentences, arguments.beam)
    else:
        parts = translator.model, translator.tokenizer
        translations = translate_all(*parts, sentences, progress=True)
    print(f"{arguments.model}, {len(sentences)} sentences, beam {arguments.beam}")
    measured = [("all references", list(references.values()))]
    if any(len(targets) > 1 for targets in references.values()):
        measured.append(("first reference", [targets[:1] for targets in references.values()]))
    for name, targets in measured:
        scores = compare(translations, targets)
        print(f"{name}: BLEU {scores.bleu:.1f}  chrF {scores.chrf:.1f}")
        print(f"  BLEU {scores.signatures[0]}\n  chrF {scores.signatures[1]}")
    values = {source: copied for source, _, *copied in rows if copied}
    if values:
        right = sum(
            all(is_copied(value, text) for value in values.get(sentence, ()))
            for sentence, text in zip(sentences, translations, strict=True)
        )
        print(f"{right} of {len(sentences)} with all names, numbers and times copied right")
    if arguments.output:
        arguments.output.write_text("\n".join(translations) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
