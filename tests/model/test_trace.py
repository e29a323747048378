import dataclasses

import pytest

from model.tokens import Token
from model.trace import AttentionEdit, KeyValueCache, Run, Site, Trace

SOURCE = [Token(4, "my", 0, 2), Token(5, "cat", 3, 6), Token(3, "<end>", 6, 6)]
TARGET = [Token(2, "<start>", 0, 0), Token(6, "mon", 0, 3)]


@pytest.mark.parametrize(
    ("kind", "queries", "keys"),
    [("encoder", SOURCE, SOURCE), ("decoder", TARGET, TARGET), ("cross", TARGET, SOURCE)],
)
def test_each_kind_of_site_labels_its_own_axes(kind, queries, keys):
    trace = Trace(SOURCE, TARGET)
    assert trace.query_tokens(Site(kind, 1)) is queries
    assert trace.key_tokens(Site(kind, 1)) is keys


def test_sites_are_keys_by_value():
    assert {Site("cross", 2): "here"}[Site("cross", 2)] == "here"
    assert Site("cross", 2) != Site("decoder", 2)


def test_two_calls_share_no_record_and_no_cache():
    assert Trace().attention is not Trace().attention
    assert KeyValueCache().entries is not KeyValueCache().entries
    assert Run().edits is not Run().edits


def test_edits_and_runs_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        AttentionEdit().scale = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        Run().trace = Trace()
