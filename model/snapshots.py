"""Records the attention of a model at several steps of its training.

python -m headlight.model.snapshots --snapshots DIR --output FILE --sentences TEXT ...
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

from headlight.model.checkpoint import load_checkpoint, save_tensors
from headlight.model.transformer.trace import KINDS, Kind
from headlight.model.translator import Translator


@dataclass(frozen=True)
class Snapshots:
    """The attention on some sentences at several steps of a training.

    At every step the decoder reads the translation by the last step's model, so that the maps of
    all steps have the same tokens.
    """

    steps: list[int]
    sentences: list[str]
    source_tokens: list[list[str]]  # the source tokens of each sentence
    target_tokens: list[list[str]]  # the target tokens of each sentence
    # the weights of each sentence, by kind of attention: (steps, layers, H, Q, K)
    weights: list[dict[Kind, Tensor]]

    def tokens(self, sentence: int, kind: Kind) -> tuple[list[str], list[str]]:
        """Return the query tokens and the key tokens of one kind of attention."""
        source, target = self.source_tokens[sentence], self.target_tokens[sentence]
        return (source if kind == "encoder" else target), (target if kind == "decoder" else source)

    def save(self, path: Path) -> None:
        """Write the snapshots to one file, with weights in float16."""
        tensors = {
            f"{number}.{kind}": weights.half()
            for number, kinds in enumerate(self.weights)
            for kind, weights in kinds.items()
        }
        words = {name: value for name, value in vars(self).items() if name != "weights"}
        save_tensors(path, tensors, {"history": json.dumps(words)})

    @classmethod
    def from_file(cls, path: Path) -> Snapshots:
        """Read the snapshots from a file that `save` wrote."""
        with safe_open(path, framework="pt") as file:
            words = json.loads(file.metadata()["history"])
            weights: list[dict[Kind, Tensor]] = [
                {kind: file.get_tensor(f"{number}.{kind}").float() for kind in KINDS}
                for number in range(len(words["sentences"]))
            ]
        return cls(**words, weights=weights)


def record_snapshots(
    translators: Sequence[Translator], steps: list[int], sentences: list[str]
) -> Snapshots:
    """Trace each sentence, which the last step's model translates, with the model of each step."""
    translations = [translators[-1].translate(sentence) for sentence in sentences]
    traces = [
        [translator.trace(sentence, translation) for translator in translators]
        for sentence, translation in zip(sentences, translations, strict=True)
    ]
    weights: list[dict[Kind, Tensor]] = [
        {kind: torch.stack([trace.weights(kind).cpu() for trace in row]) for kind in KINDS}
        for row in traces
    ]
    return Snapshots(
        steps,
        sentences,
        [[token.text for token in row[-1].source_tokens] for row in traces],
        [[token.text for token in row[-1].target_tokens] for row in traces],
        weights,
    )


def main() -> None:
    """Record the attention at each snapshot that a training kept, and write it to a file."""
    parser = argparse.ArgumentParser(
        prog="python -m headlight.model.snapshots", description=__doc__
    )
    parser.add_argument(
        "--snapshots", type=Path, required=True, help="the folder of step-* folders"
    )
    parser.add_argument("--output", type=Path, required=True, help="the file to write")
    parser.add_argument("--sentences", nargs="+", required=True, help="the sentences to trace")
    arguments = parser.parse_args()
    folders = sorted(arguments.snapshots.glob("step-*"))
    translators = [Translator(*load_checkpoint(folder)) for folder in folders]
    steps = [int(folder.name.removeprefix("step-")) for folder in folders]
    record_snapshots(translators, steps, arguments.sentences).save(arguments.output)


if __name__ == "__main__":
    main()
