"""The text that a decoding wrote, and the steps in which it was written."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional as F

from headlight.model.decoding.cache import CacheSize
from headlight.model.decoding.search import Expansion
from headlight.model.decoding.strategies import Strategy
from headlight.model.tokens import Token
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Kind, Site

# Takes a text, all tokens read so far, and an id; returns the longer text and its new token.
Append = Callable[[str, Sequence[Token], int], tuple[str, Token]]
# Takes ids; returns their text, and the token of each id.
Decode = Callable[[Sequence[int]], tuple[str, Sequence[Token]]]
BY_ANOTHER = (
    "Another model wrote this, and its tokens are not those of this model: pass the text, "
    "write(...).writing.text."
)


@dataclass(frozen=True, repr=False)
class Writing:
    """A text that a model wrote, and its tokens, including the end token if it was reached.

    A translation also has its source and the source's tokens. A continuation of a prompt has
    neither; its `text` follows the prompt. Spans count characters of `source` and `text`.
    """

    source: str
    text: str
    source_tokens: Sequence[Token]
    target_tokens: Sequence[Token]
    score: float  # log-probability of the target tokens, in nats
    finished: bool  # True if the end token came before the limit
    log_probabilities: list[float]  # the log-probability of each target token, in nats
    # True if the last token completed a stop string of the model's configuration
    stopped: bool = False

    def read_by(self, decode: Decode) -> Sequence[Token]:
        """Return the tokens, without the end token, that a model's `decode` makes of their ids.

        Raises ValueError if another model wrote them: its ids stand for other tokens.
        """
        written = self.target_tokens[: len(self.target_tokens) - self.finished]
        with suppress(Exception):  # tokenizers raise various errors for an id that they lack
            _, read = decode([token.id for token in written])
            if [token.text for token in read] == [token.text for token in written]:
                return read
        raise ValueError(BY_ANOTHER)

    def __repr__(self) -> str:
        wrote = f"{self.text!r}, {len(self.target_tokens)} tokens, score {self.score:.3f}"
        return f"{type(self).__name__}({wrote})"


@dataclass(frozen=True, repr=False)
class Translation(Writing):
    """A source sentence and its translation by a model of this project."""


@dataclass(frozen=True)
class Candidate:
    """A token that could be written next."""

    token: Token
    probability: float
    drawn: float | None  # the probability of drawing this token; None if the strategy draws nothing
    rank: int  # the rank of the token by its probability; 1 is the likeliest


@dataclass(frozen=True, repr=False)
class DecodingStep:
    """One step of a decoding: what the decoder had read, what it attended to and what it wrote."""

    read: list[Token]  # the tokens read: the start token or the prompt first, and the query last
    text: str  # the text written before this step
    token: Token  # the token written at this step
    log_probabilities: Tensor  # (V,) the log-probabilities of the next token
    weights: dict[Site, Tensor]  # (H, K) the weights of the newest query
    visible: dict[Site, Tensor]  # (H, K) bool: True for the keys that the newest query could see
    cached: dict[Site, CacheSize]  # the cache after this step; empty if each step recomputes all
    strategy: Strategy
    append: Append

    def __repr__(self) -> str:
        return f"DecodingStep({self.token.text!r} after {self.text!r})"

    @property
    def log_probability(self) -> float:
        """The log-probability of the token that was written, in nats."""
        return self.log_probabilities[self.token.id].item()

    def top(self, count: int) -> list[Candidate]:
        """Return the most likely next tokens, best first."""
        best = self.log_probabilities.topk(min(count, len(self.log_probabilities)))
        return [self.candidate(index) for index in best.indices.tolist()]

    def candidates(self, count: int) -> list[Candidate]:
        """Return the most likely next tokens, plus the written one if it is not among them."""
        best = self.top(count)
        if self.token.id not in [candidate.token.id for candidate in best]:
            best.append(self.candidate(self.token.id))
        return best

    def candidate(self, index: int) -> Candidate:
        """Return the candidate with this id, with its token as it would follow the text so far."""
        drawn = None if self.drawn_from is None else self.drawn_from[index].item()
        _, token = self.append(self.text, self.read, index)
        likelier = int((self.log_probabilities > self.log_probabilities[index]).sum())
        return Candidate(token, self.log_probabilities[index].exp().item(), drawn, likelier + 1)

    @cached_property
    def drawn_from(self) -> Tensor | None:
        """The probabilities (V,) that the token was drawn with; None if the strategy draws none."""
        drawn_from = self.strategy.drawn_from(self.log_probabilities[None])
        return None if drawn_from is None else drawn_from[0]


@dataclass(frozen=True)
class Node:
    """A text that was considered at a step, and then kept or dropped."""

    parent: int | None  # the index of the node in the previous step that this node extends
    row: int  # the index of the prefix that this node extends
    token: Token
    text: str
    log_probability: float  # the log-probability of the whole text, in nats
    score: float  # the score by which texts are ranked, with the length penalty
    kept: bool
    ended: bool  # True if the token ends the text


class Tree(list[list[Node]]):
    """The nodes of a decoding, in one list for each step."""

    def __repr__(self) -> str:
        return f"Tree({len(self)} steps, {sum(map(len, self))} nodes)"


class Decoding:
    """A text and its decoding; iteration yields the steps that led to the text.

    `begun` has the tokens that were read before anything was written: a start token, or a prompt.
    `expansions` has all steps, `ends` the ids that end a text. `trace` is the run that wrote the
    text, if it was recorded. It equals the trace of a run over all tokens of the text, without the
    residual stream; `Reader.streamed` adds the stream.
    """

    def __init__(
        self,
        writing: Writing,
        strategy: Strategy,
        expansions: Iterable[Expansion],
        *,
        begun: Sequence[Token],
        ends: Set[int],
        append: Append,
        trace: Trace | None = None,
    ) -> None:
        self.writing = writing
        self.strategy = strategy
        self.expansions = expansions
        self.begun = list(begun)
        self.ends = ends
        self.append = append
        self.trace = trace

    def __repr__(self) -> str:
        return f"Decoding({self.writing.text!r} in {len(self.tree)} steps)"

    def __iter__(self) -> Iterator[DecodingStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: int) -> DecodingStep:
        return self.steps[index]

    @cached_property
    def steps(self) -> list[DecodingStep]:
        return self.steps_to(self.path) if self.path else []

    @cached_property
    def path(self) -> list[int]:
        """The path to the text: for each step, the index in the tree of the text's node."""
        written = [token.id for token in self.writing.target_tokens]
        ends = self.tree[len(written) - 1] if written else []
        paths = [
            self.path_to(len(written) - 1, index) for index, node in enumerate(ends) if node.kept
        ]
        return next((path for path in paths if self.ids_of(path) == written), [])

    def ids_of(self, path: Sequence[int]) -> list[int]:
        return [nodes[index].token.id for nodes, index in zip(self.tree, path, strict=False)]

    def last_of(self, path: Sequence[int]) -> Node:
        return self.tree[len(path) - 1][path[-1]]

    def path_to(self, step: int, index: int) -> list[int]:
        """Return the path to a node: the index of one node at each step, and last of this node."""
        path = [index]
        for nodes in reversed(self.tree[: step + 1]):
            if (parent := nodes[path[-1]].parent) is not None:
                path.append(parent)
        return path[::-1]

    def steps_to(self, path: Sequence[int]) -> list[DecodingStep]:
        """Return the steps along a path; `path` has the index of a node at each step."""
        read, text, steps = list(self.begun), "", []
        for expansion, nodes, index in zip(self.expansions, self.tree, path, strict=False):
            node = nodes[index]
            steps.append(
                DecodingStep(
                    read=list(read),
                    text=text,
                    token=node.token,
                    log_probabilities=expansion.log_probabilities[node.row],
                    weights={
                        site: rows[node.row, :, -1] for site, rows in expansion.weights.items()
                    },
                    visible={
                        site: rows[node.row, :, -1].isfinite()
                        for site, rows in expansion.masked_scores.items()
                    },
                    cached=expansion.cached,
                    strategy=self.strategy,
                    append=self.append,
                )
            )
            read.append(node.token)
            text = node.text
        return steps

    @cached_property
    def tree(self) -> Tree:
        """The texts that were considered at each step, best first."""
        tree = Tree()
        prefixes: Sequence[int | None] = [None]  # the index of each row's node in the previous step
        read: list[list[Token]] = [self.begun]  # the tokens that each row has read
        for length, expansion in enumerate(self.expansions, start=1):
            nodes = []
            candidates = zip(
                expansion.rows.tolist(),
                expansion.ids.tolist(),
                expansion.totals.tolist(),
                strict=True,
            )
            for position, (row, index, total) in enumerate(candidates):
                parent = prefixes[row]
                before = "" if parent is None else tree[-1][parent].text
                text, token = self.append(before, read[row], index)
                score, kept = self.strategy.score(total, length), position in expansion.kept
                ended = index in self.ends or position in expansion.ended
                nodes.append(Node(parent, row, token, text, total, score, kept, ended))
            tree.append(nodes)
            prefixes = [
                position for position, node in enumerate(nodes) if node.kept and not node.ended
            ]
            read = [[*read[nodes[position].row], nodes[position].token] for position in prefixes]
        return tree


def stack_rows(steps: Sequence[Mapping[Site, Tensor]], kind: Kind) -> Tensor:
    """Return the weights or visible keys of all steps as one tensor (layers, H, T, K).

    Keys after the position of a step are 0, or False.
    """
    sites = sorted(site for site in steps[0] if site.kind == kind)
    keys = steps[-1][sites[0]].size(-1)
    rows = [
        [F.pad(step[site], (0, keys - step[site].size(-1))) for step in steps] for site in sites
    ]
    return torch.stack([torch.stack(layer, dim=1) for layer in rows])
