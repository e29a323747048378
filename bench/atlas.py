"""python -m bench.atlas: counting what the shipped model's heads do over a corpus.

- `atlas`: sentences a second, against a plain loop of traced passes over some of the same
  sentences, one at a time and without statistics.
- `atlas memory`: the most memory that this process has held by the end of the corpus, against that
  by the end of its first few windows.

Unless a file of pairs is named, the sentences are random words of the model's own vocabulary, as
many as in everyday sentences.
"""

from __future__ import annotations

import random
import resource
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.performance import meaning, page_options, publish
from bench.report import Case
from headlight.model.corpus import windows
from headlight.model.memory import keep_few_kernels
from headlight.model.tokenizer import SPACE
from headlight.model.translator import Translator, load_translator
from headlight.wings.atlas.counting import Count, count_window, merge

WINDOW = 1_024  # lines
WINDOWS = 18
FEW = 3  # windows after which the memory is measured for the first time
ONE_BY_ONE = 64  # sentences of each window that the plain loop reads


def made_of(translator: Translator, path: Path) -> None:
    """Write a file of sentence pairs; each sentence has about 3 to 24 random words."""
    shuffler = random.Random(0)
    vocabulary = translator.tokenizer.backend.get_vocab()
    words = sorted(
        piece.removeprefix(SPACE)
        for piece in vocabulary
        if piece.startswith(SPACE) and piece.removeprefix(SPACE).isalpha()
    )

    def pair() -> str:
        count = min(24, max(3, round(shuffler.lognormvariate(1.82, 0.4))))
        counts = count, count + shuffler.randint(-1, 2)
        return "\t".join(" ".join(shuffler.choices(words, k=k)) + "." for k in counts)

    lines = (f"{pair()}\n" for _ in range(WINDOW * WINDOWS))
    path.write_text("".join(lines), "utf-8")


def cases(translator: Translator, path: Path) -> list[Case]:
    """Count a file window by window, in turns with the plain loop; return the cases."""
    ours, peer, most = [], [], []
    count = Count({})
    for window in windows(path, WINDOW):
        begin = time.perf_counter()
        count = merge(count, count_window(translator, window, {}))
        ours.append(len(window.lines) / (time.perf_counter() - begin))
        chosen = window.lines[:: max(1, len(window.lines) // ONE_BY_ONE)]
        begin = time.perf_counter()
        for line in chosen:
            translator.trace(line.text, line.second)
        peer.append(len(chosen) / (time.perf_counter() - begin))
        most.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    rates = median(ours[1:] or ours), median(peer[1:] or peer)  # the first window warms up
    early, late = most[:FEW][-1], most[-1]
    return [
        Case("atlas", *rates, "1/s", rates[0] / rates[1], f"{count.sentences} sentences"),
        Case("atlas memory", late, early, "MB", late / early),
    ]


def main() -> None:
    """Measure and report."""
    parser = page_options()
    parser.add_argument("--pairs", type=Path, metavar="FILE", help="count this file instead")
    options = parser.parse_args()
    keep_few_kernels()
    translator = load_translator("en-fr")
    with tempfile.TemporaryDirectory() as folder:
        path = options.pairs or Path(folder) / "pairs.tsv"
        if options.pairs is None:
            made_of(translator, path)
        results = cases(translator, path)
    publish(results, options, "Heads over a corpus", meaning(__doc__))


if __name__ == "__main__":
    main()
