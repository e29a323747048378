"""Random keys: a query sees itself and some other keys, drawn at random by a seed.

Source: "Big Bird: Transformers for Longer Sequences" (Zaheer et al. 2020), section 2.
"""

from torch import Tensor

from headlight.model.edits.masks import Cells, Mask

# factors in a hash of query, key and seed (Teschner 2003)
PRIMES = 73_856_093, 19_349_663, 83_492_791


def visible(cells: Cells, one_in: int, seed: int) -> Tensor:
    """Return the cells drawn by a hash of query, key and seed, and the cells on the diagonal."""
    query, key, other = PRIMES
    drawn = (cells.query * query) ^ (cells.key * key) ^ (seed * other)
    return (drawn // 7 % one_in == 0) | (cells.query == cells.key)


MASK = Mask(
    name="random",
    title="Random keys",
    visible=visible,
    kinds=("encoder", "decoder"),
    lowest=(1, 0),
    offered=[(2, 1), (4, 1), (4, 2)],
    words="sees one in {} keys, by seed {}",
    help="A token sees one key in this many, drawn at random; the second number is the seed.",
    source="Zaheer et al. 2020",
)
