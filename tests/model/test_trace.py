import re

import pytest
import torch

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.attribution import attribute
from headlight.model.insight.lens import lens
from headlight.model.tokens import Token
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Site
from headlight.model.translator import load

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


def test_a_reader_and_what_it_returns_are_one_line_in_a_shell():
    translator = load("en-fr-learned")
    decoding = translator.write("I love my cat.")
    for shown in (translator, translator.trace("I love my cat."), decoding, decoding.tree):
        assert "\n" not in repr(shown)
        assert len(repr(shown)) < 100
        assert " at 0x" not in repr(shown)


def test_a_record_is_its_shapes_in_one_line_in_a_shell(translator):
    translation = translator.translate("I love my cat.")
    assert repr(translation).startswith('Translation("J\'aime mon chat.", ')
    trace = translator.trace("I love my cat.", translation)
    record = trace.attention[Site("cross", 1)]
    assert f"weights {tuple(record.weights.shape)}" in repr(record)
    parts = trace.embedding["encoder"], next(iter(trace.residual.values()))
    step = translator.write("I love my cat.")[0]
    tables = lens(translator, trace), attribute(translator, trace, 0, 7, 8)
    for shown in (translation, record, *parts, step, AttentionEdit(block=torch.ones(9, 9))):
        assert "\n" not in repr(shown)
        assert len(repr(shown)) < 200
    for shown in tables:
        assert "\n" not in repr(shown)
        assert len(repr(shown)) < 250


def test_weights_of_another_kind_are_refused_with_the_kinds_that_there_are(translator):
    trace = translator.trace("I love my cat.", "J'aime")
    with pytest.raises(ValueError, match="'crosss', but of cross, decoder, encoder"):
        trace.weights("crosss")


@pytest.mark.parametrize("site", [Site("self", 0), Site("cross", 99)])
def test_tokens_of_another_site_are_refused_with_those_that_there_are(translator, site):
    trace = translator.trace("I love my cat.", "J'aime", sites=[Site("cross", 1)])
    for tokens in (trace.query_tokens, trace.key_tokens):
        with pytest.raises(
            ValueError, match=r"no Site\(.*; it has the sites cross 0 to 1, decoder 0"
        ):
            tokens(site)


@pytest.mark.parametrize("key", [Site("cross", 9), "cross"])
def test_an_unknown_site_is_answered_with_those_that_there_are(translator, key):
    trace = translator.trace("I love my cat.", "J'aime", sites=[Site("cross", 1)])
    said = "recorded at Site('cross', 1), and not at "
    with pytest.raises(KeyError, match=re.escape(f"{said}{key!r}")):
        trace.attention[key]
    assert key not in trace.attention
    assert trace.attention.get(key) is None
    with pytest.raises(ValueError, match=r"This model has no .* encoder 0 to 1, decoder 0 to 1"):
        translator.trace("I love my cat.", "J'aime", sites=[key])
