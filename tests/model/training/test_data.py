import gzip
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight.model.tokens import source_sequence, target_sequence
from headlight.model.training.data import (
    EncodedPair,
    bucketed_batches,
    collate,
    encode_pairs,
    group_references,
    read_pairs,
)

LENGTHS = st.lists(st.tuples(st.integers(1, 15), st.integers(1, 15)), min_size=1, max_size=40)


def numbered_pairs(lengths):
    """Pairs that carry their own number as first id of both sides."""
    return [
        EncodedPair([10 + number] + [5] * (source - 1), [10 + number] + [6] * (target - 1))
        for number, (source, target) in enumerate(lengths)
    ]


def rows(batches):
    """All rows of batches, without padding: source, decoder input, expected output."""
    return [
        tuple(tuple(i for i in row if i != 0) for row in row_parts)
        for batch in batches
        for row_parts in zip(
            batch.source_ids.tolist(),
            batch.target_ids.tolist(),
            batch.next_ids.tolist(),
            strict=True,
        )
    ]


def same(first, second):
    return len(first) == len(second) and all(
        torch.equal(a.source_ids, b.source_ids) and torch.equal(a.next_ids, b.next_ids)
        for a, b in zip(first, second, strict=True)
    )


def test_expected_outputs_are_the_inputs_shifted_left():
    batch = collate([EncodedPair([5, 6, 7], [8, 9]), EncodedPair([5], [10, 11, 12])])
    assert batch.source_ids.tolist() == [[5, 6, 7, 3], [5, 3, 0, 0]]
    assert batch.target_ids.tolist() == [[2, 8, 9, 0], [2, 10, 11, 12]]
    assert batch.next_ids.tolist() == [[8, 9, 3, 0], [10, 11, 12, 3]]


@given(lengths=LENGTHS, max_tokens=st.integers(1, 60), seed=st.none() | st.integers(0, 5))
def test_batches_hold_every_pair_once_and_whole(lengths, max_tokens, seed):
    pairs = numbered_pairs(lengths)
    expected = [
        ((*pair.source, 3), (2, *pair.target), (*pair.target, 3))
        for pair in numbered_pairs(lengths)
    ]
    assert Counter(rows(bucketed_batches(pairs, max_tokens, seed))) == Counter(expected)


@given(lengths=LENGTHS, max_tokens=st.integers(1, 60), seed=st.none() | st.integers(0, 5))
def test_batches_keep_to_the_limit_of_padded_tokens(lengths, max_tokens, seed):
    for batch in bucketed_batches(numbered_pairs(lengths), max_tokens, seed):
        alone = len(batch.source_ids) == 1
        assert alone or max(batch.source_ids.numel(), batch.target_ids.numel()) <= max_tokens
        assert batch.target_ids.shape == batch.next_ids.shape


def test_batches_are_as_full_as_the_limit_allows():
    pairs = numbered_pairs([(4, 4)] * 10)
    sizes = [len(batch.source_ids) for batch in bucketed_batches(pairs, max_tokens=20)]
    assert sizes == [4, 4, 2]


def test_a_batch_holds_pairs_of_like_length():
    pairs = numbered_pairs([(2, 2), (9, 9)] * 20)
    for batch in bucketed_batches(pairs, max_tokens=60, seed=1):
        lengths = {int((row != 0).sum()) for row in batch.source_ids}
        assert len(lengths) == 1


def test_the_same_seed_gives_the_same_batches_and_another_seed_others():
    pairs = numbered_pairs([(1 + i % 5, 1 + i % 7) for i in range(60)])
    first = list(bucketed_batches(pairs, 40, seed=3))
    assert same(first, list(bucketed_batches(pairs, 40, seed=3)))
    assert not same(first, list(bucketed_batches(pairs, 40, seed=4)))
    assert rows(first) != sorted(rows(first))


def test_without_a_seed_the_order_is_by_length():
    pairs = numbered_pairs([(5, 1), (1, 2), (3, 3)])
    sources = [row[0][0] - 10 for row in rows(bucketed_batches(pairs, 1))]
    assert sources == [1, 2, 0]
    assert same(list(bucketed_batches(pairs, 1)), list(bucketed_batches(pairs, 1)))


def test_pairs_read_from_plain_and_gzipped_files(tmp_path):
    text = "I love\tJ'aime\nÉté ?\tSummer?\tcredits\n\tonly a target\n"
    (tmp_path / "pairs.tsv").write_text(text, encoding="utf-8")
    (tmp_path / "pairs.tsv.gz").write_bytes(gzip.compress(text.encode()))
    expected = [("I love", "J'aime"), ("Été ?", "Summer?"), ("", "only a target")]
    assert read_pairs(tmp_path / "pairs.tsv") == expected
    assert read_pairs(tmp_path / "pairs.tsv.gz") == expected


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.tsv.gz"])
def test_a_line_without_two_columns_is_named_by_its_number(tmp_path, name):
    content = b"a\tb\nc\td\nno tab here\ne\tf\n"
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(ValueError, match=rf"^{name}, line 3: expected source<TAB>target\.$"):
        read_pairs(tmp_path / name)


def test_an_empty_file_has_no_pairs(tmp_path):
    (tmp_path / "pairs.tsv").touch()
    with pytest.raises(ValueError, match=r"pairs\.tsv has no sentence pairs"):
        read_pairs(tmp_path / "pairs.tsv")


def test_references_of_one_source_come_together_in_order():
    pairs = [("a", "1"), ("b", "2"), ("a", "3"), ("a", "1")]
    assert group_references(pairs) == {"a": ["1", "3", "1"], "b": ["2"]}


def test_pairs_too_long_for_the_model_are_left_out(tokenizer, pairs):
    lengths = [max(map(len, tokenizer.encode_ids(pair))) for pair in pairs]
    limit = sorted(lengths)[4]
    kept = encode_pairs(pairs, tokenizer, max_positions=limit)
    expected = [pair for pair, length in zip(pairs, lengths, strict=True) if length < limit]
    assert 0 < len(kept) < len(pairs)
    assert [tokenizer.decode(pair.target) for pair in kept] == [target for _, target in expected]
    assert max(len(source_sequence(pair.source)) for pair in kept) <= limit
    assert max(len(target_sequence(pair.target)) for pair in kept) <= limit


def test_a_repeated_pair_is_encoded_once_and_stays_repeated(tokenizer):
    pairs = [("a cat", "un chat"), ("a dog", "un chien"), ("a cat", "un chat")]
    first, second, third = encode_pairs(pairs, tokenizer, 64)
    assert first is third
    assert first.source != second.source
