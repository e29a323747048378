"""Activation patching: how much of the difference between two texts each head carries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from headlight.model.edits.attention import Further
from headlight.model.insight.ablation import sites_by_layer
from headlight.model.insight.scoring import rows_at_once
from headlight.model.reader import Reader
from headlight.model.tokens import Token
from headlight.model.trace import Trace
from headlight.model.transformer.attention import UNCHANGED
from headlight.model.transformer.trace import AttentionRecord, Run, RunEdits, Site

LEAST = 0.05  # nats; a smaller difference between two runs has no meaningful shares

PatchAddress = tuple[Site, int, int | None]  # site, head, token (None: all tokens)


Part = Literal["heads", "weights", "value"]  # parts of a head: output, weights, values


class Patch(NamedTuple):
    """A part of another run's heads; it replaces the same part of this run's heads at a site.

    Both runs have equally many tokens. The tokens in `where` are queries, or keys if values are
    replaced.
    """

    part: Part
    given: Tensor  # (1, H, T, D), or of weights (1, H, Q, K)
    where: Tensor  # (B, H, T) bool: the heads and tokens; (B, H, 1) is for all tokens


@dataclass
class Patched(Further):
    """An edit that applies patches after another edit of the same attention."""

    patches: Sequence[Patch]

    @property
    def batch(self) -> int:
        return max(super().batch, *(len(patch.where) for patch in self.patches))

    def reweigh(self, weights: Tensor) -> Tensor:
        return self.patched("weights", super().reweigh(weights))

    def mix(self, weights: Tensor, value: Tensor) -> Tensor:
        return self.patched("heads", super().mix(weights, self.patched("value", value)))

    def patched(self, part: Part, own: Tensor) -> Tensor:
        """Return a part of heads (B, H, T, ...), with the other run's numbers where patched."""
        for patch in self.patches:
            if patch.part == part:
                own = torch.where(patch.where[..., None].to(own.device), patch.given, own)
        return own


class AnswerPair(NamedTuple):
    """The answers to the clean and the changed text: two tokens, compared in one row."""

    row: int
    clean: int
    changed: int

    def difference(self, logits: Tensor) -> Tensor:
        """Return the logit of the clean text's answer minus the other's: (B,), in nats."""
        return logits[:, self.row, self.clean] - logits[:, self.row, self.changed]


@dataclass
class PartsOfHeads(Trace):
    """A run that keeps some parts of every head, and the weights as bytes."""

    full: Sequence[Site] = ()
    parts: Sequence[Part] = ()
    kept: dict[Part, dict[Site, Tensor]] = field(default_factory=dict)

    def record(self, site: Site, record: AttentionRecord) -> None:
        """Keep the parts (1, H, T, ...) of all heads of an attention layer."""
        super().record(site, record)
        for part in self.parts:
            self.kept.setdefault(part, {})[site] = getattr(record, part)


@dataclass(frozen=True)
class TwoRuns:
    """The run that is patched, and the run that gives the parts of heads.

    Both have the same number of tokens and end at the answers' row. `before` and `aim` are the
    differences of the answers' logits in the first and in the second run, in nats.
    """

    reader: Reader
    edits: RunEdits
    answers: AnswerPair
    into: PartsOfHeads
    giving: PartsOfHeads
    before: float
    aim: float

    @property
    def gap(self) -> float:
        """The answers' logit difference in the giving run, minus that in the other, in nats."""
        return self.aim - self.before

    def patched(self, parts: Sequence[Part], addresses: Sequence[PatchAddress]) -> Tensor:
        """Return the share of the gap (B,) that patching `parts` at each address alone restores.

        Raises ValueError if the gap is too small.
        """
        return self.shares(patches_at(self, parts, addresses))

    def patched_everywhere(self, parts: Sequence[Part]) -> float:
        """Return the share of the gap that patches of all heads together restore."""
        heads = {site: torch.ones(1, self.heads(site), 1, dtype=torch.bool) for site in self.sites}
        return self.shares(patches_of(self.giving, parts, heads)).item()

    def patched_into_itself(self, parts: Sequence[Part]) -> float:
        """Return the change, in nats, when all heads of a run are patched with its own parts."""
        heads = {site: torch.ones(1, self.heads(site), 1, dtype=torch.bool) for site in self.sites}
        return self.difference(patches_of(self.into, parts, heads)).item() - self.before

    def shares(self, patches: dict[Site, tuple[Patch, ...]]) -> Tensor:
        """Return the share of the gap (B,) that patches restore."""
        if abs(self.gap) < LEAST:
            raise ValueError(NO_GAP)
        return (self.difference(patches) - self.before) / self.gap

    @torch.inference_mode()
    def difference(self, patches: dict[Site, tuple[Patch, ...]]) -> Tensor:
        """Return the difference of the answers' logits (B,), in nats, with patches applied."""
        edits = dict(self.edits)
        for site, those in patches.items():
            edits[site] = Patched(edits.get(site, UNCHANGED), those)
        return self.answers.difference(self.reader.rerun(self.into, Run(edits)))

    @property
    def sites(self) -> list[Site]:
        return self.reader.shape.sites

    def heads(self, site: Site) -> int:
        return self.reader.shape.heads(site.kind)

    def tokens(self, part: Part, site: Site) -> Sequence[Token]:
        """Return the tokens at which a part of a head can be patched on its own."""
        return self.into.key_tokens(site) if part == "value" else self.into.query_tokens(site)


NO_GAP = (
    "The two answers are equally far apart after both texts, so heads can bring nothing: choose "
    "another written token, other answers or another text."
)


@torch.inference_mode()
def two_runs(
    reader: Reader,
    into: Trace,
    giving: Trace,
    answers: AnswerPair,
    parts: Sequence[Part],
    edits: RunEdits | None = None,
) -> TwoRuns:
    """Run over the tokens of two traces, up to the answers' row, and keep parts of their heads.

    The edits apply to both runs. The decoder of an encoder-decoder reads the same tokens in both.
    Raises ValueError if the two traces differ in length, or do not differ at all.
    """
    check_tokens(into, giving)
    edits, runs, differences = edits or {}, [], []
    for trace in (into, giving):
        run = PartsOfHeads(trace.source_tokens, trace.target_tokens[: answers.row + 1], parts=parts)
        run.logits = reader.rerun(run, Run(edits, run))
        runs.append(run)
        differences.append(answers.difference(run.logits).item())
    return TwoRuns(reader, edits, answers, *runs, *differences)


def check_tokens(clean: Trace, changed: Trace) -> None:
    """Raise ValueError unless two texts have equally many tokens and differ in some."""
    sides = [
        (trace.source_tokens or trace.target_tokens, trace.target_tokens)
        for trace in (clean, changed)
    ]
    (first, first_target), (second, second_target) = sides
    if len(first) != len(second) or len(first_target) != len(second_target):
        raise ValueError(
            f"The text is {len(first)} tokens and the changed one {len(second)}: exchange a word "
            "for one of as many tokens, so that each token has its counterpart."
        )
    if [token.id for token in first] == [token.id for token in second]:
        raise ValueError("Both texts have the same tokens: change a word.")


def patch_heads(runs: TwoRuns, part: Part) -> Iterator[tuple[Site, Tensor]]:
    """Yield, layer by layer, the share of the gap that a part of each head (H,) brings alone.

    A share is (patched - before) / (aim - before): 1 if the head brings the whole difference
    between the texts, 0 if it brings none. The part is the head's output, its `weights`, or its
    `value`; everything after it is computed again. The heads of a layer are patched in one batch.

    Source: Wang et al. 2022, "Interpretability in the Wild", section 3, and Heimersheim and Nanda
    2024, "How to use and interpret activation patching".
    """
    for sites in sites_by_layer(runs.reader.shape):
        addresses = [(site, head, None) for site in sites for head in range(runs.heads(site))]
        shares = in_batches(runs, part, addresses)
        yield from zip(sites, shares.split([runs.heads(site) for site in sites]), strict=True)


def patch_tokens(runs: TwoRuns, part: Part, site: Site, head: int) -> Tensor:
    """Return the share of the gap that a part of a head brings at each single token (T,)."""
    count = len(runs.tokens(part, site))
    return in_batches(runs, part, [(site, head, token) for token in range(count)])


def in_batches(runs: TwoRuns, part: Part, addresses: Sequence[PatchAddress]) -> Tensor:
    """Return the share of the gap that a part brings at each of several addresses (N,)."""
    most = rows_at_once(runs.into, len(addresses))
    batches = [addresses[first : first + most] for first in range(0, len(addresses), most)]
    return torch.cat([runs.patched([part], batch) for batch in batches])


def patches_at(
    runs: TwoRuns, parts: Sequence[Part], addresses: Sequence[PatchAddress]
) -> dict[Site, tuple[Patch, ...]]:
    """Return patches for a batch in which each row has `parts` patched at one address."""
    whole = all(token is None for *_, token in addresses)
    where = {}
    for row, (site, head, token) in enumerate(addresses):
        size = 1 if whole else len(runs.tokens(parts[0], site))
        cells = where.setdefault(
            site, torch.zeros(len(addresses), runs.heads(site), size, dtype=torch.bool)
        )
        cells[row, head, slice(None) if token is None else token] = True
    return patches_of(runs.giving, parts, where)


def patches_of(
    run: PartsOfHeads, parts: Sequence[Part], where: dict[Site, Tensor]
) -> dict[Site, tuple[Patch, ...]]:
    """Return patches of a run's parts, in some heads and tokens (B, H, T) of some layers."""
    return {
        site: tuple(Patch(part, run.kept[part][site], cells) for part in parts)
        for site, cells in where.items()
    }
