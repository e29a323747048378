"""Roles of heads, found by tests on a sequence of random tokens that is read twice in a row.

Random tokens have no grammar and no meaning, so what a head does with them depends only on their
positions and on which tokens are equal. Scores are from 0 to 1.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.model.reader import Reader
from headlight.model.shape import SELF
from headlight.model.tokens import Token
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Kind, RunEdits, Site

SEQUENCES = 4  # the number of random sequences in a test; a head's scores on them are averaged
LONGEST = 25  # the most random tokens in a sequence, before it is repeated
SPECIAL = 8  # the number of positions reserved for special tokens
OVER_ROWS = (
    "the mean is over the rows that have such a token, while TransformerLens divides by all rows"
)


@dataclass(frozen=True)
class Role:
    """A role of heads, its test, and the kinds of attention that have it."""

    title: str
    definition: str  # a text that says what the score is
    source: str
    chance: str  # a text on the score that a head without the role reaches
    kinds: tuple[Kind, ...]
    elsewhere: str  # a text on why the other kinds of attention have no heads with this role


ROLES = {
    "previous": Role(
        "Previous token",
        f"the mean weight on the token just before the query; {OVER_ROWS}",
        "Voita et al. 2019 (positional heads); Elhage et al. 2021 (previous token heads)",
        "a head that looks at all tokens alike reaches 1 divided by their number",
        SELF,
        "Queries and keys of cross-attention are of two texts: no key is just before a query.",
    ),
    "duplicate": Role(
        "Duplicate token",
        "the mean weight on the same token in the other reading, which a decoder only sees in the "
        f"second one; {OVER_ROWS}",
        "Wang et al. 2023 (duplicate token heads)",
        "a head that looks at all tokens alike reaches 1 divided by their number",
        SELF,
        "In cross-attention, a head that translates word by word looks at the same token, so this "
        "is no separate role.",
    ),
    "induction": Role(
        "Induction",
        "the mean weight, in the second reading, on the token that followed the query's token in "
        f"the first reading, and so comes next; {OVER_ROWS}",
        "Elhage et al. 2021; Olsson et al. 2022 (prefix matching score)",
        "a head that looks at all tokens alike reaches 1 divided by their number",
        ("decoder",),
        "Induction predicts the next token. An encoder already reads that token, and "
        "cross-attention looks at another text.",
    ),
    "copying": Role(
        "Copying",
        "the share of random tokens that the head copies: if all its weight were on the token, its "
        "output (value, output projection, output layer, no norm in between) would raise the "
        "token's own logit more than the mean of all logits",
        "Elhage et al. 2021 (copying by output-value circuits); Olsson et al. 2022",
        "a head that neither copies nor avoids copying reaches 0.5",
        ("decoder", "cross"),
        "The outputs of an encoder's heads are read by other layers, and never become logits "
        "directly.",
    ),
}
NO_WORDS = (
    "This model has no output layer that turns its stream into logits of words, so copying cannot "
    "be tested."
)
NO_VALUES = "The outputs of this model's heads are not known, so copying cannot be tested."


@dataclass(frozen=True)
class RoleScores:
    """The scores of all heads in the tests of their roles.

    A role is missing if the model cannot be tested for it. Under a role, a kind of attention is
    missing if it has no heads with this role.
    """

    scores: Mapping[str, Mapping[Kind, Tensor]]  # (layers, H) from 0 to 1, by role and by kind
    read: Sequence[str]  # the tokens of the last sequence, whose two halves are equal


def why_not(reader: Reader, role: str) -> str:
    """Return why a model cannot be tested for a role, in one sentence; empty if it can."""
    if not set(ROLES[role].kinds) & set(reader.shape.kinds):
        return ROLES[role].elsewhere
    if role != "copying":
        return ""
    if reader.unembedding is None:
        return NO_WORDS
    known = not {"take apart", "add up heads"} & set(reader.missing)
    return "" if known else NO_VALUES


@torch.inference_mode()
def role_scores(reader: Reader, seed: int = 0, edits: RunEdits | None = None) -> RoleScores:
    """Return the score of every head in the test of each role, on random tokens of a seed.

    Raises ValueError if the model reads too few tokens for a test.
    """
    chance = random.Random(seed)
    ids = [random_ids(reader, chance) for _ in range(SEQUENCES)]
    tests = [role for role in ROLES if not why_not(reader, role)]
    by_role: dict[str, dict[Kind, list[Tensor]]] = {role: {} for role in tests}
    for once in ids:
        trace = reader.trace_ids([*once, *once], edits)
        for role in tests:
            for kind in ROLES[role].kinds:
                if layers := reader.shape.layers(kind):
                    sites = [Site(kind, layer) for layer in range(layers)]
                    scores = torch.stack([score(reader, trace, role, at, once) for at in sites])
                    by_role[role].setdefault(kind, []).append(scores)
    side = trace.target_tokens or trace.source_tokens
    first = first_place(side, once)
    return RoleScores(
        {
            role: {kind: torch.stack(each).mean(dim=0) for kind, each in kinds.items()}
            for role, kinds in by_role.items()
        },
        [token.text for token in side[first : first + 2 * len(once)]],
    )


def random_ids(reader: Reader, chance: random.Random) -> list[int]:
    """Return up to LONGEST different random ids, few enough to be read twice in a row."""
    vocabulary = reader.vocabulary
    count = min(LONGEST, (reader.shape.max_positions - SPECIAL) // 2, len(vocabulary))
    if count < 2:
        raise ValueError("This model reads too few tokens for a test, which needs twelve or so.")
    return chance.sample(vocabulary, count)


def first_place(tokens: Sequence[Token], ids: Sequence[int]) -> int:
    read = [token.id for token in tokens]
    return next(at for at in range(len(read)) if read[at : at + len(ids)] == list(ids))


def score(reader: Reader, trace: Trace, role: str, site: Site, ids: Sequence[int]) -> Tensor:
    """Return each head's score (H,) of one test in an attention block; `ids` were read twice."""
    count = len(ids)
    first = first_place(trace.key_tokens(site), ids)
    if role == "copying":
        values = trace.attention[site].value[0, :, first : first + count]  # (H, count, D)
        return copied(values, reader.heads_to_stream(site), reader.unembedding, ids)
    read = slice(first, first + 2 * count)
    weights = trace.attention[site].weights[0, :, read, read].float()  # (H, 2 count, 2 count)
    match role:
        case "previous":
            return previous_token(weights)
        case "duplicate":
            return duplicate_token(weights, both=site.kind == "encoder")
    return induction(weights)


def copied(values: Tensor, to_stream: Tensor, unembedding: Tensor, ids: Sequence[int]) -> Tensor:
    """Return the share of ids whose own logit a head raises more than the mean logit.

    Shapes: values (H, N, D) of N ids, to_stream (H, D, d_model), unembedding (V, d_model) -> (H,).
    Source: the output-value circuit of Elhage et al. (2021), "copying", without the norms.
    """
    own = unembedding[list(ids)].float()  # (N, d_model)
    # The product with a token's row minus the mean row is the token's logit minus the mean logit.
    own = own - unembedding.float().mean(dim=0)
    handed_on = values.float() @ to_stream.float()  # (H, N, d_model)
    return ((handed_on * own).sum(dim=-1) > 0).float().mean(dim=-1)


def previous_token(weights: Tensor) -> Tensor:
    """Return the mean weight on the previous token: (..., Q, Q) -> (...).

    Source: Elhage et al. (2021); Voita et al., "Analyzing Multi-Head Self-Attention" (2019),
    section 5.1, who count the tokens with the largest weight on the previous token instead.
    """
    return weights.diagonal(-1, -2, -1).mean(dim=-1)


def duplicate_token(weights: Tensor, both: bool = False) -> Tensor:
    """Return the mean weight on the same token in the other reading: (..., 2 N, 2 N) -> (...).

    The mean is over the queries of the second reading or, with `both`, of both readings.
    Source: Wang et al., "Interpretability in the Wild" (2023), section 3.
    """
    count = weights.size(-1) // 2
    back = weights.diagonal(-count, -2, -1)  # (..., N)
    ahead = weights.diagonal(count, -2, -1)
    return torch.cat([back, ahead], dim=-1).mean(dim=-1) if both else back.mean(dim=-1)


def induction(weights: Tensor) -> Tensor:
    """Return the mean weight, in the second reading, on what followed the same token in the first.

    Shapes: (..., 2 N, 2 N) -> (...).

    Source: Olsson et al., "In-context Learning and Induction Heads" (2022), prefix matching score;
    Elhage et al., "A Mathematical Framework for Transformer Circuits" (2021).
    """
    count = weights.size(-1) // 2
    return weights.diagonal(1 - count, -2, -1)[..., 1:].mean(dim=-1)
