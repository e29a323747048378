"""Count how many training pairs are long enough to have a token at each position.

python -m recipe.position_counts --pairs FILE --model DIR
"""

import argparse
import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from headlight.model.checkpoint import CONFIG, POSITION_COUNTS, TOKENIZER, load_config, replacing
from headlight.model.tokenizer import Tokenizer
from headlight.model.tokens import source_sequence, target_sequence
from headlight.model.training.data import EncodedPair, encode_pairs, read_pairs
from headlight.model.transformer.trace import Side


def count_positions(pairs: Sequence[EncodedPair], max_positions: int) -> dict[Side, list[int]]:
    """Return, for each side, how many pairs have a token at each position: (max_positions,)."""
    return {
        "encoder": _at_least((len(source_sequence(pair.source)) for pair in pairs), max_positions),
        "decoder": _at_least((len(target_sequence(pair.target)) for pair in pairs), max_positions),
    }


def _at_least(lengths: Iterable[int], positions: int) -> list[int]:
    """Return how many of the lengths exceed each position, counted from 0."""
    counts = [0] * positions
    for length in lengths:
        counts[length - 1] += 1
    for position in reversed(range(positions - 1)):
        counts[position] += counts[position + 1]
    return counts


def save_position_counts(path: Path, counts: dict[Side, list[int]]) -> None:
    """Write the counts as a CSV file with the columns position, encoder and decoder."""
    with replacing(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["position", *counts])
        writer.writerows(
            [position, *row] for position, row in enumerate(zip(*counts.values(), strict=True))
        )


def main() -> None:
    """Write the counts of a model's training pairs to its checkpoint folder."""
    parser = argparse.ArgumentParser(prog="python -m recipe.position_counts", description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True, help="the model's training pairs")
    parser.add_argument("--model", type=Path, required=True, help="the checkpoint folder")
    arguments = parser.parse_args()
    config = load_config(arguments.model / CONFIG)
    tokenizer = Tokenizer.from_file(arguments.model / TOKENIZER)
    pairs = encode_pairs(read_pairs(arguments.pairs), tokenizer, config.max_positions)
    save_position_counts(
        arguments.model / POSITION_COUNTS, count_positions(pairs, config.max_positions)
    )


if __name__ == "__main__":
    main()
