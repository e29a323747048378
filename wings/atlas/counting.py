"""Count what the heads of a model do in windows of a corpus, in batches of similar length."""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np
import torch
from torch import Tensor

from headlight.model.corpus import CorpusLine, Window
from headlight.model.evaluate import decode_all
from headlight.model.insight.rows import Rows
from headlight.model.memory import give_back
from headlight.model.questions import Request
from headlight.model.reader import Reader
from headlight.model.tokens import START_ID, Token
from headlight.model.trace import Trace
from headlight.model.transformer.trace import AttentionRecord, Run, Site
from headlight.model.translator import Translator
from headlight.wings.atlas.examples import (
    FEWEST,
    MOST,
    Best,
    Sample,
    best_of,
    lines_of,
    merge_best,
    merge_samples,
    sampled,
)
from headlight.wings.atlas.statistics import BADGES, Sums, add, sums_of

NUMBERS_AT_ONCE = 2**22  # the most weights of a batch, in all heads: 16 MB, plus copies
CUT = "too long for the model, counted up to its limit"
REFUSED = "nothing that the model can read"
LARGE = "too long to be counted with so many heads"
LARGEST_DIFFERENCE = 1e-4  # padding may change a weight by this much; rounding changes it by 1e-6
COMPARED_ALL = 200  # in this many first lines, heads are compared with each other
COMPARED_EVERY = 10  # of the later lines, heads are compared in every tenth

Text = tuple[str, str | None]
Sentence = tuple[CorpusLine, Trace]


@dataclass
class Count:
    """The count of a corpus, or of a part of it, as plain data.

    `merge` joins two counts whose `about` is equal: the code, the model, the text and the window
    size.
    """

    about: dict[str, object]
    windows: list[int] = field(default_factory=list)
    lines: Counter[str] = field(default_factory=Counter)  # how many were counted, cut or left out
    sums: Sums = field(default_factory=dict)
    best: Best = field(default_factory=dict)
    texts: dict[int, Text] = field(default_factory=dict)  # texts of the examples, by line number
    sample: Sample = field(default_factory=list)

    @property
    def sentences(self) -> int:
        return self.lines["counted"]

    @property
    def sampled(self) -> list[CorpusLine]:
        return [CorpusLine(*entry[1:]) for entry in self.sample]


def merge(a: Count, b: Count) -> Count:
    """Return the sum of two counts; raises ValueError if they differ in `about` or overlap."""
    if a.about != b.about:
        differing = sorted(name for name in a.about if a.about[name] != b.about.get(name))
        raise ValueError(f"These counts differ in their {', '.join(differing)}.")
    if twice := {*a.windows} & {*b.windows}:
        raise ValueError(f"Window {min(twice) + 1} of the text is in both counts.")
    best = merge_best(a.best, b.best)
    texts, kept = a.texts | b.texts, lines_of(best)
    return Count(
        a.about,
        sorted(a.windows + b.windows),
        a.lines + b.lines,
        add(a.sums, b.sums),
        best,
        {number: texts[number] for number in sorted(kept)},
        merge_samples(a.sample, b.sample),
    )


@dataclass
class Weights(Trace):
    """A trace that keeps only a batch's weights, and which keys each query may see."""

    looks: dict[Site, Tensor] = field(default_factory=dict)  # (B, H, Q, K)
    seen: dict[Site, Tensor] = field(default_factory=dict)  # (B, 1, Q, K)

    def record(self, site: Site, record: AttentionRecord) -> None:
        self.looks[site] = record.weights
        self.seen[site] = ~record.masked_scores[:, :1].isneginf()


def count_window(
    reader: Reader, window: Window, about: dict[str, object], most: float = inf
) -> Count:
    """Return the count of one window; sentences with more than `most` weights are left out."""
    count = Count(about, [window.number], Counter(window.became))
    sentences = tokenized(reader, window.lines, count.lines)
    small = [sentence for sentence in sentences if numbers_of(reader, 1, sentence) <= most]
    if large := len(sentences) - len(small):
        count.lines[LARGE] += large
    for batch in batches(reader, small, padded=takes_padding(reader, small)):
        try:
            count_batch(reader, batch, count)
        except ValueError:  # the model's own code cannot run one of these sentences
            for sentence in batch:
                try:
                    count_batch(reader, [sentence], count)
                except ValueError:
                    count.lines[REFUSED] += 1
    texts = {line.number: (line.text, line.second) for line in window.lines}
    count.texts = {number: texts[number] for number in sorted(lines_of(count.best))}
    count.sample = sampled(window.lines)
    give_back()
    return count


def count_batch(reader: Reader, batch: Sequence[Sentence], count: Count) -> None:
    """Add a batch of sentences to `count`; raises ValueError and adds none if the model fails."""
    numbers = np.array([line.number for line, _ in batch])
    short = np.array([longest(trace) <= MOST for _, trace in batch])
    compared = torch.tensor([n < COMPARED_ALL or n % COMPARED_EVERY == 0 for n in numbers])
    for rows in rows_of(reader, [trace for _, trace in batch]):
        sums, scores = sums_of(rows, compared.to(rows.weights.device))
        usable = short & (rows.choice.sum(dim=-1).amax(dim=(0, 2)) >= FEWEST).cpu().numpy()
        count.sums = add(count.sums, sums)
        for name in BADGES.keys() & scores.keys():
            best = best_of(f"{rows.kind}/{name}", *scores[name], numbers, usable)
            count.best = merge_best(count.best, best)
    count.lines["counted"] += len(batch)


def takes_padding(reader: Reader, sentences: Sequence[Sentence]) -> bool:
    """Return whether padding leaves the weights of the shortest sentence unchanged.

    Models that run code from elsewhere may attend to padding, or refuse it.
    """
    if not sentences:
        return True
    traces = sorted((trace for _, trace in sentences), key=lengths)
    try:
        for single, padded in zip(
            rows_of(reader, traces[:1]), rows_of(reader, [traces[0], traces[-1]]), strict=True
        ):
            queries, keys = single.weights.shape[-2:]
            difference = padded.weights[:, :1, :, :queries, :keys] - single.weights
            if not difference.abs().max() <= LARGEST_DIFFERENCE:
                return False
    except ValueError:
        return False
    return True


def tokenized(reader: Reader, lines: Sequence[CorpusLine], became: Counter[str]) -> list[Sentence]:
    """Return the lines as tokens, and count in `became` lines that are cut or cannot be read."""
    sentences = []
    for line, target in zip(lines, targets(reader, lines), strict=True):
        try:
            trace = read(reader, line, target)
            if longest(trace) >= reader.shape.max_positions and is_cut(reader, line):
                became[CUT] += 1
            sentences.append((line, trace))
        except ValueError:
            became[REFUSED] += 1
    return sentences


def read(reader: Reader, line: CorpusLine, target: Sequence[Token] | None = None) -> Trace:
    """Return a line's tokens as the model reads them; raises ValueError as `Reader.tokenized` does.

    The second text of a pair is the target in an encoder-decoder; an encoder reads both texts if it
    can. A model with only a decoder reads the first.
    """
    if isinstance(reader, Translator) and target is not None:
        return Trace(reader.read(line.text), target)
    if reader.shape.layers("cross"):
        return reader.tokenized(Request(line.text, line.second))
    pair = line.second if "read a pair" not in reader.missing else None
    return reader.tokenized(Request(line.text, second=pair))


def targets(reader: Reader, lines: Sequence[CorpusLine]) -> list[list[Token] | None]:
    """Return the translations that a model of this project writes for lines without a target.

    Lines with a target, and all lines of other models, get None. The translations are written
    together, in a tenth of the time.
    """
    written_tokens: list[list[Token] | None] = [None] * len(lines)
    if not isinstance(reader, Translator):
        return written_tokens
    places = [index for index, line in enumerate(lines) if line.second is None]
    start = reader.tokenizer.special_token(START_ID)
    decoded = decode_all(reader.model, reader.tokenizer, [lines[index].text for index in places])
    for index, written in zip(places, decoded, strict=True):
        written_tokens[index] = [start, *reader.tokenizer.decode_tokens(written.ids)[1]]
    return written_tokens


def is_cut(reader: Reader, line: CorpusLine) -> bool:
    """Return whether the model leaves out the end of a line, or of either text of a pair."""
    if reader.shape.layers("cross"):
        return reader.is_cut(line.text) or bool(line.second and reader.is_cut(line.second))
    return reader.is_cut(line.text, line.second if "read a pair" not in reader.missing else None)


def longest(trace: Trace) -> int:
    """Return the number of tokens of source or target, whichever is longer."""
    return max(len(trace.source_tokens), len(trace.target_tokens))


def batches(
    reader: Reader, sentences: Sequence[Sentence], *, padded: bool = True
) -> Iterator[list[Sentence]]:
    """Yield batches of sentences of similar length, or of equal length if not `padded`.

    A batch is as large as NUMBERS_AT_ONCE allows.
    """
    batch: list[Sentence] = []
    for sentence in sorted(sentences, key=lambda sentence: lengths(sentence[1])):
        unlike = batch and lengths(batch[-1][1]) != lengths(sentence[1])
        full = batch and numbers_of(reader, len(batch) + 1, sentence) > NUMBERS_AT_ONCE
        if full or (unlike and not padded):
            yield batch
            batch = []
        batch.append(sentence)
    if batch:
        yield batch


def lengths(trace: Trace) -> tuple[int, int, int]:
    """Return the keys to sort by: the lengths of the longer side, the source and the target."""
    return longest(trace), len(trace.source_tokens), len(trace.target_tokens)


def numbers_of(reader: Reader, sentences: int, last: Sentence) -> int:
    """Return the number of attention weights of this many sentences, each as long as `last`."""
    size = longest(last[1])
    heads = sum(layers * heads for layers, heads in reader.shape.kinds.values())
    return sentences * heads * size * size


@torch.inference_mode()
def rows_of(reader: Reader, traces: Sequence[Trace]) -> Iterator[Rows]:
    """Yield the weights (L, B, H, Q, K) of each kind of attention for a batch, as `Rows`."""
    kept = Weights()
    reader.read_together(traces, Run(trace=kept))
    flags = {
        side: flags_of([getattr(trace, side) for trace in traces])
        for side in ("source_tokens", "target_tokens")
    }
    for kind in reader.shape.kinds:
        sites = sorted(site for site in kept.looks if site.kind == kind)
        weights = torch.stack([kept.looks.pop(site) for site in sites])
        visible = torch.stack([kept.seen.pop(site) for site in sites])
        device = weights.device
        queries = flags["source_tokens" if kind == "encoder" else "target_tokens"]
        keys = flags["target_tokens" if kind == "decoder" else "source_tokens"]
        keys = {name: flag.to(device) for name, flag in keys.items()}
        there = keys.pop("there")
        yield Rows(kind, weights.float(), visible, queries["there"].to(device), there, keys)


def flags_of(lines: Sequence[Sequence[Token]]) -> Mapping[str, Tensor]:
    """Return which tokens are in each group ("end", "special", ...): (B, 1, T); False in padding.

    The end is the last token, if it is a special one.
    """
    size = max(map(len, lines))
    flags = {
        name: np.zeros((len(lines), 1, size), dtype=bool)
        for name in ("there", "first", "end", "special", "punctuation")
    }
    for row, tokens in enumerate(lines):
        if not tokens:
            continue
        flags["there"][row, 0, : len(tokens)] = True
        flags["first"][row, 0, 0] = True
        flags["special"][row, 0, : len(tokens)] = [token.is_special for token in tokens]
        flags["punctuation"][row, 0, : len(tokens)] = [
            not token.is_special and is_punctuation(token.text) for token in tokens
        ]
        flags["end"][row, 0, len(tokens) - 1] = tokens[-1].is_special and len(tokens) > 1
    return {name: torch.from_numpy(flag) for name, flag in flags.items()}


def is_punctuation(text: str) -> bool:
    """Return whether a token consists only of punctuation, such as a comma or quotes."""
    signs = text.strip()
    return bool(signs) and all(unicodedata.category(sign).startswith("P") for sign in signs)
