"""The translator in a page without a server: it computes what the model in Python does."""

import base64
import gzip
import json
import random

import numpy as np
import pytest
import torch
from playwright.sync_api import Error

from headlight.model.decoding.prefixes import TransformerPrefixes
from headlight.model.decoding.search import search
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import CellEdit, Edits
from headlight.model.edits.positions import PositionEdit
from headlight.model.tokenizer import Tokenizer
from headlight.model.transformer.trace import KINDS
from headlight.model.translator import PRETRAINED
from headlight.viz.modules import in_order, script
from headlight.wings.live.page import EXAMPLES, HERE, weights_file
from tests.odd_texts import ODD_TEXTS

START = """text => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const weights = $read_weights.readWeights(bytes);
  window.tokenizer = $tokenizer.tokenizerOf(weights.tokenizer);
  window.runs = $worker.runner($transformer.transformerOf(weights), tokenizer, (_, make) => make());
}"""
# A run's numbers as one text, which Playwright hands over much faster than lists.
RUN = """request => {
  const { source, run } = runs({ beamSize: 1, forced: [], typed: "", ...request });
  const lists = (trace) => Object.fromEntries(Object.entries(trace).map(([kind, layers]) =>
    [kind, layers.map((weights) => Array.from(weights))]));
  return JSON.stringify({ ...run, source, trace: lists(run.trace), steps: lists(run.steps) });
}"""
PLAIN = {"gates": {}, "cells": [], "off": [], "positions": []}
SPLIT = "texts => texts.map((text) => tokenizer.encode(text).map(Object.values))"
JOIN = "lists => lists.map((ids) => tokenizer.decode(ids))"


@pytest.fixture(scope="module")
def sentences():
    """Sentences of the examples that come with the shipped atlas."""
    with gzip.open(PRETRAINED / "en-fr" / "atlas" / "examples.json.gz") as file:
        return list(dict.fromkeys(example["line"][1] for example in json.load(file)))


@pytest.fixture(scope="module")
def room(browser):
    """A page with the code of the worker, and no model yet."""
    page = browser.new_page()
    page.add_script_tag(content=script(in_order([HERE / "worker.js"])))
    yield page
    page.close()


@pytest.fixture(scope="module")
def live(room, translator):
    """The page with the shipped model."""
    weights = weights_file(translator.model, translator.tokenizer)
    room.evaluate(START, base64.b64encode(weights).decode())
    return room


def as_spans(tokens):
    return [[token.id, token.text, token.start, token.end] for token in tokens]


def compare(live, translator, sentence, edits=None, strategy=Strategy()):
    """Hold a run in the browser against the same run in Python."""
    edits = edits or Edits()
    request = {"text": sentence, "edits": in_browser(edits), "beamSize": strategy.width}
    run = json.loads(live.evaluate(RUN, request))
    tensors = edits.at_sites(translator.shape, 100)
    written = translator.write(sentence, strategy, edits=tensors)
    trace = translator.trace(sentence, written.writing, edits=tensors)
    assert [token["id"] for token in run["tokens"]] == [
        token.id for token in written.writing.target_tokens
    ]
    assert run["text"] == written.writing.text
    chances = np.exp(written.writing.log_probabilities)
    assert run["chances"] == pytest.approx(chances, abs=1e-3)
    rows = len(run["tokens"])
    for site, record in trace.attention.items():
        weights = record.weights[0]  # (H, Q, K)
        if site.kind != "encoder":
            weights = weights[:, :rows, : rows if site.kind == "decoder" else None]
        seen = np.reshape(run["trace"][site.kind][site.layer], weights.shape)
        np.testing.assert_allclose(seen, weights, atol=1e-3)
    for step, decoded in enumerate(written.steps):
        for site, weights in decoded.weights.items():  # (H, K) of the newest query
            layer = np.reshape(run["steps"][site.kind][site.layer], (len(weights), rows, -1))
            np.testing.assert_allclose(layer[:, step, : weights.size(1)], weights, atol=1e-3)


def in_browser(edits):
    """Edits in the form of the page."""
    cells = [
        {"kind": each.kind, "layer": each.layer, "head": each.head, "query": each.query}
        | {"key": each.key, "open": each.opened}
        for each in edits.cells
    ]
    gates = {f"{kind}.{layer}.{head}": gate for (kind, layer, head), gate in edits.gates.items()}
    return {"gates": gates, "cells": cells, "off": list(edits.off), "positions": []}


def random_edits(shape, seed):
    """Gates at random, cells closed and opened, now and then without the look-ahead mask."""
    chance = random.Random(seed)
    sites = [(site.kind, site.layer) for site in shape.sites]
    gates = {(*chance.choice(sites), chance.randrange(8)): chance.choice((0, 0.5)) for _ in "abcd"}
    cells = [
        CellEdit(
            chance.choice(KINDS),
            chance.randrange(8),
            chance.randrange(8),
            chance.random() < 0.3,
            chance.choice((None, 0, 1)),
            chance.choice((None, 2, 5)),
        )
        for _ in range(chance.randrange(8))
    ]
    return Edits(off=("look-ahead",) if seed % 4 == 0 else (), cells=cells, gates=gates)


def test_a_run_is_that_of_the_model(live, translator, sentences):
    for sentence in (*EXAMPLES, *sentences[:8]):
        compare(live, translator, sentence)


@pytest.mark.matrix
def test_many_runs_are_those_of_the_model(live, translator, sentences):
    for sentence in sentences[8:68]:
        compare(live, translator, sentence)


@pytest.mark.parametrize(
    "seeds", [range(4), pytest.param(range(4, 24), marks=pytest.mark.matrix)], ids=str
)
def test_edits_do_what_they_do_in_the_model(live, translator, sentences, seeds):
    for seed in seeds:
        compare(live, translator, sentences[seed], random_edits(translator.shape, seed))


@pytest.mark.parametrize(
    "indices", [range(3), pytest.param(range(3, 15), marks=pytest.mark.matrix)], ids=str
)
def test_a_beam_is_that_of_the_model(live, translator, sentences, indices):
    for index in indices:
        compare(live, translator, sentences[index], strategy=Strategy("beam"))


def test_positions_can_be_off(live, translator):
    for side in ("encoder", "decoder"):
        edits = {**PLAIN, "positions": [side]}
        run = json.loads(live.evaluate(RUN, {"text": EXAMPLES[1], "edits": edits}))
        written = translator.translate(EXAMPLES[1], edits={side: PositionEdit(off=True)})
        assert run["text"] == written.text


def test_texts_have_the_same_tokens_and_spans(live, translator, sentences):
    odd = [text for text in ODD_TEXTS.values() if len(text) < 10_000]
    odd += [
        "l’été d'Angela qu'il l'",
        "e\u0301te\u0301 ａ ﬁ ſ'a",
        "\u1112\u1161\u11ab 한국",
        "a▁b ▁",
    ]
    texts = [*sentences, *odd]
    split = live.evaluate(SPLIT, texts)
    for text, tokens in zip(texts, split, strict=True):
        assert tokens == as_spans(translator.tokenizer.encode(text)), text


def test_ids_have_the_same_text_and_spans(live, translator):
    chance = random.Random(1)
    kinds = (16_000, 16_000, 260)
    lists = [[chance.randrange(chance.choice(kinds)) for _ in range(9)] for _ in range(300)]
    for ids, joined in zip(lists, live.evaluate(JOIN, lists), strict=True):
        text, tokens = translator.tokenizer.decode_tokens(ids)
        assert joined["text"] == text
        assert [list(token.values()) for token in joined["tokens"]] == as_spans(tokens)


@pytest.mark.parametrize("text", ["", " \t", "word " * 300], ids=["empty", "blank", "too long"])
def test_a_text_that_cannot_be_read_is_refused_in_a_sentence(live, text):
    with pytest.raises(Error, match=r"(Type an English sentence|Shorten it)\."):
        live.evaluate(RUN, {"text": text, "edits": PLAIN})


def test_a_damaged_file_of_weights_is_refused_in_a_sentence(room, make_model):
    whole = weights_file(make_model(), Tokenizer.train_characters(["abc"]))
    for damaged in (b"", whole[:5], whole[:1_000], whole[:-2]):
        with pytest.raises(Error, match="cut short"):
            room.evaluate(START, base64.b64encode(damaged).decode())
    for other in (b"{}" * 40, b"\x02" + bytes(7) + b"{}"):
        with pytest.raises(Error, match="not a file of weights"):
            room.evaluate(START, base64.b64encode(other).decode())


@pytest.mark.parametrize(
    "options",
    [
        {"norm": "post"},
        {"activation": "gelu"},
        {"positions": "learned"},
        {"positions": "none"},
        {"tie_embeddings": False, "target_vocab_size": 30},
        {"look_ahead_mask": False},
        {"encoder_layers": 0},
    ],
    ids=str,
)
def test_models_of_other_shapes_write_the_same(room, make_model, options):
    model = make_model(**options)
    for parameter in model.parameters():
        parameter.data = parameter.half().float()
    tokenizer = Tokenizer.train_characters(["abcdefghijklmnop"])
    weights = base64.b64encode(weights_file(model, tokenizer)).decode()
    source = [] if not model.config.encoder_layers else [5, 9, 4, 17, 3]
    begun = [2, 5, 7] if not source else [2]
    ids = room.evaluate(
        """([text, source, begun, edits]) => {
          const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
          const model = $transformer.transformerOf($read_weights.readWeights(bytes));
          const options = { edits, begun, longest: 12 };
          const decoding = $search.write(model, model.encode(source), options);
          return decoding.path.map(({ id, logProbability }) => [id, logProbability]);
        }""",
        [weights, source, begun, PLAIN],
    )
    prefixes = TransformerPrefixes(
        model, torch.tensor([source or [3]]), begun=torch.tensor([begun])
    )
    (decoded,) = search(prefixes, max_new_tokens=12)
    assert [index for index, _ in ids] == decoded.written
    assert [chance for _, chance in ids] == pytest.approx(decoded.log_probabilities, abs=1e-4)
