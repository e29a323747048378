"""What a model's heads do by their weights only, computed for the pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from headlight.model.edits import HeadAddress
from headlight.model.own_reader import OwnReader
from headlight.model.tokens import END_ID, SPECIAL_TOKENS, START_ID
from headlight.model.transformer.trace import Kind, Site
from headlight.pages.shared.runs.arrays import as_array
from headlight.pages.shared.runs.door import model_call
from headlight.pages.shared.runs.readers import reader
from headlight.wings.atlas import circuits
from headlight.wings.atlas.circuits import Circuit, CircuitEntry, Random, Way

SPACE = "▁"
SHOWN = 10  # pairs of tokens in each list
TOLD = 5  # how many partners of a special token are named
# By kind: the special token that a text has among the queries, and the one among the keys.
SPECIAL = {
    "encoder": (END_ID, END_ID),
    "decoder": (START_ID, START_ID),
    "cross": (START_ID, END_ID),
}
MOST_WORDS = 500
Compositions = dict[tuple[Site, Site, Way], np.ndarray]  # (H, H) each
Named = list[tuple[str, str, float]]  # pairs of tokens, each with its number


@dataclass(frozen=True)
class HeadByWeights:
    """The strongest pairs of tokens in a head's query-key and value-output circuits.

    `looks` and `writes` each have the pairs with the largest numbers, then those with the smallest.
    `special` says in words which tokens the start and end tokens go with. `matching` and `copying`
    are the `positive_share` of the query-key and of the value-output circuit, from -1 to 1.
    """

    looks: tuple[Named, ...]
    writes: tuple[Named, ...]
    special: list[str]
    matching: float
    copying: float


def own_layers(name: str) -> OwnReader:
    """Return a model's reader by its key; the model must have this project's layers."""
    return cast(OwnReader, reader(name))


def names_of(model: OwnReader, ids: Sequence[int]) -> list[str]:
    """Return the texts of tokens, with an ellipsis before those that continue a word."""
    pieces = [model.tokenizer.backend.id_to_token(index) or "" for index in ids]
    if not any(piece.startswith(SPACE) for piece in pieces):
        return pieces
    whole = [piece.removeprefix(SPACE) for piece in pieces]
    return [
        name if piece.startswith(SPACE) or not name[:1].isalnum() else f"…{name}"
        for piece, name in zip(pieces, whole, strict=True)
    ]


def both(model: OwnReader, head: HeadAddress, ids: Sequence[int]) -> tuple[Circuit, Circuit]:
    """Return the query-key and the value-output circuit of a head."""
    at, number = (model.model, Site(*head[:2]), ids), head[2]
    return circuits.query_keys(*at)[number], circuits.value_outputs(*at)[number]


@model_call("Multiplying weights …")
def by_weights(name: str, loading: int, head: HeadAddress) -> HeadByWeights:
    """Return what a head does by its weights only; `loading` tells models of one name apart."""
    model = own_layers(name)
    ids = model.vocabulary
    names, (looks, writes) = names_of(model, ids), both(model, head, ids)
    looking, looked_at = SPECIAL[head[0]]
    with_special = [SPECIAL_TOKENS[looking], SPECIAL_TOKENS[looked_at], *names]
    to_all, from_all = both(model, head, [looking, looked_at, *ids])
    special = {
        f"{with_special[0]} looks most at": to_all.of_row(0, TOLD),
        f"{with_special[1]} is looked at most from": to_all.transposed.of_row(1, TOLD),
        f"{with_special[1]}, if looked at, makes likelier": from_all.of_row(1, TOLD),
    }
    return HeadByWeights(
        tuple(named(end, names) for end in looks.strongest(SHOWN)),
        tuple(named(end, names) for end in writes.strongest(SHOWN)),
        [
            f"{words}: {', '.join(with_special[pair.column] for pair in pairs)}"
            for words, pairs in special.items()
        ],
        looks.positive_share(),
        writes.positive_share(),
    )


def named(pairs: Sequence[CircuitEntry], names: Sequence[str]) -> Named:
    return [(names[pair.row], names[pair.column], pair.value) for pair in pairs]


@model_call("Multiplying weights …")
def of_token(name: str, loading: int, head: HeadAddress, token: int) -> dict[str, list[str]]:
    """Return one token's strongest partners in a head's circuits, by relation ("looks most at")."""
    model = own_layers(name)
    ids = [*model.vocabulary, token]
    names, (looks, writes) = names_of(model, ids), both(model, head, ids)
    erases = Circuit(-writes.rows, writes.columns)
    by_action = {
        "looks most at": looks,
        "is looked at most from": looks.transposed,
        "if looked at, makes likelier": writes,
        "if looked at, makes less likely": erases,
    }
    row = len(ids) - 1
    return {
        words: [names[pair.column] for pair in circuit.of_row(row, SHOWN)]
        for words, circuit in by_action.items()
    }


@model_call("Multiplying weights …")
def copying_shares(name: str, loading: int) -> dict[Kind, np.ndarray]:
    """Return `positive_share` of every head's value-output circuit: (layers, H) for each kind."""
    model = own_layers(name)

    def shares(site: Site) -> list[float]:
        heads = circuits.value_outputs(model.model, site, model.vocabulary)
        return [circuit.positive_share() for circuit in heads]

    return {
        kind: np.array([shares(Site(kind, layer)) for layer in range(layers)])
        for kind, (layers, _) in model.shape.kinds.items()
    }


@dataclass(frozen=True)
class HeadDictionaries:
    """N words, and the first token that the model and each cross-attention head write for each.

    `written` has the model's tokens. `firsts` (layers, H, N) has each head's token if the head
    reads the encoder's vector of the word. `encoded` (layers, H, N) is True where this token equals
    the model's, ignoring capitals; `direct` is the same for a head that reads the word's embedding.
    """

    words: list[str]
    written: list[str]
    firsts: list[list[list[str]]]
    direct: np.ndarray
    encoded: np.ndarray


def common_words(model: OwnReader, texts: Sequence[str]) -> list[int]:
    """Return the ids of the MOST_WORDS commonest words of some texts that are one token each.

    Commoner words have lower ids: byte-pair encoding merges the most frequent pieces first.
    """
    known = model.tokenizer.backend.get_vocab()
    words = {word.strip(".,;:!?\"'").lower() for text in texts for word in text.split()}
    ids = sorted(known[SPACE + word] for word in words if SPACE + word in known and word.isalpha())
    return ids[:MOST_WORDS]


@model_call("Looking words up …")
def dictionaries(name: str, loading: int, texts: tuple[str, ...]) -> HeadDictionaries | None:
    """Return the dictionaries of all cross-attention heads for the words of some texts.

    Returns None if no word of the texts is one token.
    """
    model = own_layers(name)
    words = common_words(model, texts)
    if not words:
        return None
    by_head = circuits.dictionary(model.model, words, model.vocabulary)
    names = zip(model.vocabulary, names_of(model, model.vocabulary), strict=True)
    plain = {index: text.removeprefix("…") for index, text in names}
    direct, encoded, written = (
        [[[plain[index] for index in head] for head in layer] for layer in ids.tolist()]
        for ids in (by_head.direct, by_head.encoded, by_head.written[None, None])
    )

    def right(firsts: list[list[list[str]]]) -> np.ndarray:
        return np.char.lower(firsts) == np.char.lower(written)

    named_words = [plain[word] for word in words]
    return HeadDictionaries(named_words, written[0][0], encoded, right(direct), right(encoded))


@model_call("Multiplying weights …")
def all_compositions(name: str, loading: int) -> tuple[Compositions, Random]:
    """Return the composition (H, H) of attention layers that feed others, and of random heads."""
    model = own_layers(name).model
    pairs = {key: as_array(part) for key, part in circuits.compositions(model).items()}
    return pairs, circuits.random_composition(model.config.d_model, model.config.heads)
